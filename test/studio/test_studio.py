"""The page in a real browser: the whole way on EMPS, foreign columns, and what can go wrong."""

import itertools
import json
import os
import signal
import socket
import sys
from pathlib import Path

import numpy as np
import pytest

import robot_id as rid
from robot_id.data import save
from robot_id.exceptions import OptionError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

pytestmark = pytest.mark.real_processes


@pytest.fixture(scope='module')
def emps():
    """Return a short recording of the simulated EMPS."""
    return rid.simulate('emps', seconds=6.0, seed=3)


def test_only_the_token_and_this_origin_open_the_page(studio):
    """Without token, with a wrong one, from another origin or by another name: refused."""
    running = studio()
    assert running.request()[0] == 403
    assert running.request('/?token=wrong')[0] == 403
    status, cookie, _ = running.request(f'/?token={running.token}')
    assert status == 303
    assert 'HttpOnly' in cookie
    assert 'SameSite=Strict' in cookie
    mine = cookie.partition(';')[0]
    assert running.request(Cookie=mine)[0] == 200
    assert running.request(Cookie=mine, Origin='http://elsewhere.example')[0] == 403
    assert running.request(Cookie=mine, Host='elsewhere.example')[0] == 403
    socket = '/_nicegui_ws/socket.io/?EIO=4&transport=polling'
    assert running.request(socket)[0] == 403
    assert running.request(socket, Cookie=mine, Origin='http://elsewhere.example')[0] == 403
    assert running.end() in (0, 130, -signal.SIGINT)
    assert 'Traceback' not in running.errors()


def test_a_port_that_is_taken_is_refused():
    """No address is printed that another program answers."""
    pytest.importorskip('nicegui', reason='the studio needs nicegui')
    from robot_id.studio.app import free_port

    other = socket.create_server(('127.0.0.1', 0))
    with other, pytest.raises(OptionError, match='in use'):
        free_port(other.getsockname()[1])


def test_the_whole_way_on_emps(studio, open_page, emps, folder):
    """Robot, recording, look, check, fit, details, compare, export, report."""
    save(emps, folder / 'run.csv')
    running = studio()
    page = open_page(running.url)
    page.choose('URDF or robot file', 'emps')
    page.sees('1 joints')
    page.choose('recording', 'run.csv')
    page.press('Add')
    page.tab('Look')
    page.sees('samples')
    page.page.locator('.nicegui-echart canvas').first.wait_for()
    page.page.locator('.nicegui-scene canvas').first.wait_for()
    chart = page.page.locator('.nicegui-echart canvas').first
    places = itertools.cycle((400, 500))
    page.until_gone('0.00 s', lambda: chart.hover(position={'x': next(places), 'y': 140}))
    page.page.mouse.wheel(0, -600)
    page.sees('of 6 s')
    page.press('Check')
    page.sees('findings')
    page.picture('look')
    page.tab('Fit')
    for _ in range(2):
        page.press('Fit')
    verdicts = page.page.locator('.q-badge', has_text='usable')
    verdicts.nth(1).wait_for()
    page.page.locator('.q-table tbody tr').first.click()
    page.sees('condition number')
    page.picture('fit')
    fits = sorted((folder / 'studio').glob('identify-*.json'))
    assert [json.loads(path.read_text())['robot'] for path in fits] == ['emps', 'emps']
    page.tab('Compare')
    page.choose_several('fits', [fit.name for fit in fits])
    page.press('Compare')
    page.sees('training errors')
    page.tab('Export')
    page.choose('fit', fits[0].name)
    page.press('Report')
    page.sees('written:')
    page.press('Export')
    page.sees('.urdf')
    assert fits[0].with_suffix('.html').is_file()
    assert not page.problems
    assert 'Traceback' not in running.errors()


def test_foreign_columns_of_a_seven_joint_arm(studio, open_page, folder):
    """A table that the reader refuses is shown column by column, corrected, written and used."""
    from plants.mujoco_arms import chain_urdf, robots_folder
    from plants.table_layouts import motion, torques

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    urdf = chain_urdf('panda', folder / 'arm.urdf')
    robot = rid.load_robot(urdf)
    rng = np.random.default_rng(4)
    time = np.arange(2000) / 250.0
    q, dq, ddq = motion(robot, rng, time)
    tau = torques(robot, rng, q, dq, ddq)
    names = ['Zeit_ms', *(f'Winkel_A{j}[deg]' for j in range(1, 8)),
             *(f'Moment_A{j}' for j in range(1, 8))]  # fmt: skip
    rows = np.column_stack([1e3 * time, np.rad2deg(q), tau])
    np.savetxt(folder / 'log.csv', rows, delimiter=';', header=';'.join(names), comments='')
    running = studio()
    page = open_page(running.url, 800)
    page.choose('URDF or robot file', urdf.name)
    page.sees('7 joints')
    page.choose('recording', 'log.csv')
    page.press('Add')
    page.sees('Columns of log.csv')
    page.picture('columns_800')
    page.press('Write robot file and mapping, and use them')
    page.sees('log.csv by log.mapping.yaml')
    page.tab('Look')
    page.sees('2000 samples')
    page.picture('look_800')
    written = rid.load(folder / 'log.csv', robot=robot, mapping=str(folder / 'log.mapping.yaml'))
    np.testing.assert_allclose(written.runs[0].position, q, atol=1e-6)
    page.tab('Fit')
    page.press('Fit')
    page.page.locator('.q-badge', has_text='usable').wait_for()
    page.page.locator('.q-table tbody tr').first.click()
    page.sees('condition number')
    page.picture('fit_800')
    page.tab('Export')
    page.choose('fit', 'identify-1.json')
    page.press('Export')
    page.sees('read back by pinocchio')
    page.picture('export_800')
    assert not page.problems


def test_a_wrong_file_a_killed_worker_and_two_tabs(studio, open_page, emps, folder):
    """Mistakes are one line on the page; what one tab does, the other shows."""
    save(emps, folder / 'run.csv')
    (folder / 'broken.csv').write_text('time,position\n1,abc\n2,def\n')
    running = studio()
    first, second = open_page(running.url), open_page(running.url)
    first.choose('URDF or robot file', 'emps')
    first.sees('1 joints')
    first.choose('recording', 'broken.csv')
    first.press('Add')
    first.page.locator('.q-notification', has_text='broken.csv').first.wait_for()
    first.choose('recording', 'run.csv')
    first.press('Add')
    chosen = second.page.locator('.q-tab-panel:visible').get_by_text('run.csv', exact=True)
    chosen.first.wait_for()
    second.tab('Fit')
    second.press('Fit')
    worker = running.held_worker()
    first.tab('Fit')
    first.page.locator('.q-badge', has_text='running').wait_for()
    os.kill(worker, signal.SIGKILL)
    for page in (first, second):
        page.page.locator('.q-badge', has_text='failed').wait_for()
        page.sees('the process of this work ended')
    first.press('Fit')
    running.held_worker()
    second.press('Cancel')
    for page in (first, second):
        page.page.locator('.q-badge', has_text='cancelled').wait_for()
    assert not running.children('spawn_main')
    first.lose_connection()
    second.press('Fit')
    worker = running.held_worker()
    second.page.locator('.q-badge', has_text='running').wait_for()
    first.find_connection()
    os.kill(worker, signal.SIGCONT)
    # A connection that was lost for long is a page that is loaded again.
    first.tab('Fit')
    first.page.locator('.q-badge', has_text='usable').wait_for()
    first.press('Fit')
    second.page.locator('.q-badge', has_text='usable').nth(1).wait_for()
    assert 'Traceback' not in running.errors()
