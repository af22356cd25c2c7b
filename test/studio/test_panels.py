"""The panels 'Payload', 'Look' with findings in their place, and 'Excite' in a real browser."""

import json
from dataclasses import replace

import numpy as np
import pytest

import robot_id as rid
from robot_id.data import save

pytestmark = pytest.mark.real_processes

LOAD = (1.5, 0.05, 0.02, 0.0)


def clipped(data):
    """Return a recording whose drive of the first joint gives seven tenths of its peak."""
    run = data.runs[0]
    torque = run.torque.copy()
    limit = 0.7 * np.abs(torque[:, 0]).max()
    torque[:, 0] = np.clip(torque[:, 0], -limit, limit)
    return replace(data, runs=(replace(run, torque=torque),))


def test_a_load_a_finding_and_a_motion_on_the_page(studio, open_page, folder):
    """A load is found, a finding shown at its place in time, a motion drawn."""
    save(rid.simulate('scara', seed=1, seconds=30.0, every=5), folder / 'empty.csv')
    carrying = rid.simulate('scara', seed=2, seconds=30.0, every=5, payload=LOAD)
    save(carrying, folder / 'loaded.csv')
    save(clipped(rid.simulate('scara', seed=3, seconds=6.0)), folder / 'clipped.csv')
    running = studio()
    page = open_page(running.url)
    page.choose('URDF or robot file', 'scara')
    page.sees('2 joints')
    for name in ('empty.csv', 'loaded.csv', 'clipped.csv'):
        page.choose('recording', name)
        page.press('Add')
        page.page.locator('.q-tab-panel:visible').get_by_text(name, exact=True).first.wait_for()
    page.tab('Payload')
    page.press('Identify the load')
    page.sees('choose a recording with the load')
    page.choose('with the load', 'loaded.csv')
    page.choose('without it', 'empty.csv')
    page.press('Identify the load')
    page.sees('strategy joint')
    page.picture('payload')
    load = json.loads((folder / 'studio' / 'payload-1.json').read_text())
    assert load['mass']['value'] == pytest.approx(LOAD[0], abs=3.0 * load['mass']['std'])
    page.tab('Look')
    page.choose('recording', 'clipped.csv')
    page.sees(', 6 s')
    page.press('Check')
    page.sees("saturation of joint 'shoulder'")
    page.picture('finding')
    page.press('Show')
    page.page.get_by_text('0 to 6 of 6 s').wait_for(state='detached')
    page.tab('Excite')
    for label, seconds in (('seconds', '3'), ('search, s', '1')):
        page.fill(label, seconds)
    page.press('Search')
    page.sees('closest links')
    for canvas in ('.nicegui-echart canvas', '.nicegui-scene canvas'):
        page.page.locator(canvas).locator('visible=true').first.wait_for()
    page.page.locator('tr:visible', has_text='ZZ1R').first.wait_for()
    page.picture('excite')
    assert (folder / 'studio' / 'excite-3.csv').is_file()
    assert not page.problems
    assert 'Traceback' not in running.errors()
