"""The page in a real browser: the whole way on EMPS, foreign columns, and what can go wrong."""

import http.client
import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import robot_id as rid
from robot_id.data import save

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

pytestmark = pytest.mark.real_processes


@pytest.fixture(scope='module')
def emps():
    """Return a short recording of the simulated EMPS."""
    return rid.simulate('emps', seconds=6.0, seed=3)


def request(studio, path='/', **headers):
    """Return status and body of a request."""
    host = studio.address.removeprefix('http://').strip('/')
    connection = http.client.HTTPConnection(host, timeout=30)
    connection.request('GET', path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.getheader('set-cookie', ''), answer.read().decode()


def test_only_the_token_and_this_origin_open_the_page(studio):
    """Without token, with a wrong one, from another origin or by another name: refused."""
    running = studio()
    assert request(running)[0] == 403
    assert request(running, '/?token=wrong')[0] == 403
    status, cookie, _ = request(running, f'/?token={running.token}')
    assert status == 303
    assert 'HttpOnly' in cookie
    assert 'SameSite=Strict' in cookie
    mine = cookie.partition(';')[0]
    assert request(running, Cookie=mine)[0] == 200
    assert request(running, Cookie=mine, Origin='http://elsewhere.example')[0] == 403
    assert request(running, Cookie=mine, Host='elsewhere.example')[0] == 403
    socket = '/_nicegui_ws/socket.io/?EIO=4&transport=polling'
    assert request(running, socket)[0] == 403
    assert request(running, socket, Cookie=mine, Origin='http://elsewhere.example')[0] == 403
    assert running.end() in (0, 130, -signal.SIGINT)


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
    chart.hover(position={'x': 500, 'y': 140})
    page.page.wait_for_timeout(500)
    chart.hover(position={'x': 400, 'y': 140})
    page.page.get_by_text('0.00 s', exact=True).wait_for(state='detached')
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
    second.tab('Fit')
    second.page.wait_for_timeout(1000)
    second.press('Fit')
    first.tab('Fit')
    first.page.locator('.q-badge', has_text='running').wait_for()
    kill_workers(running.process.pid)
    for page in (first, second):
        page.page.locator('.q-badge', has_text='failed').wait_for()
        page.sees('the process of this work ended')
    first.page.context.set_offline(True)
    first.page.wait_for_timeout(500)
    first.page.context.set_offline(False)
    first.press('Fit')
    second.page.locator('.q-badge', has_text='usable').wait_for()


def kill_workers(parent):
    """Kill the processes of a studio that work, by their command line."""
    for entry in Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / 'stat').read_text().rpartition(')')[2].split()
            words = (entry / 'cmdline').read_bytes().split(b'\0')
        except OSError:
            continue
        if int(stat[1]) == parent and any(b'spawn_main' in word for word in words):
            os.kill(int(entry.name), signal.SIGKILL)
