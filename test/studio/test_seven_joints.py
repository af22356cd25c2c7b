"""Compare, excite, payload and export in a browser: a Panda, tables of foreign columns."""

import json
import re

import numpy as np
import pytest

import robot_id as rid
from robot_id import dynamics
from robot_id.robot import Payload, payload_parameters
from robot_id.trajectory.store import load_trajectory

pytestmark = pytest.mark.real_processes

LOAD = Payload(2.0, (0.03, -0.02, 0.08))
METHODS = ('idim_ols', 'idim_wls')
NOISE = 0.02  # N.m


def table(path, robot, seed, load=None):
    """Write a recording as a German controller might: ms, degrees, names of its own."""
    from plants.table_layouts import motion

    rng = np.random.default_rng(seed)
    time = np.arange(2000) / 250.0
    q, dq, ddq = motion(robot, rng, time)
    tau = dynamics.body_torques(robot, robot.kinematics.inertia, q, dq, ddq)
    tau += 2.0 * dq + 1.5 * np.tanh(dq / 0.005) + NOISE * rng.normal(size=q.shape)
    if load is not None:
        tau += dynamics.regressor(robot, q, dq, ddq) @ payload_parameters(robot, load)
    joints = range(1, robot.n + 1)
    names = ['Zeit_ms', *(f'Winkel_A{j}[deg]' for j in joints), *(f'Moment_A{j}' for j in joints)]
    rows = np.column_stack([1e3 * time, np.rad2deg(q), tau])
    np.savetxt(path, rows, delimiter=';', header=';'.join(names), comments='')


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return a folder with a URDF, recordings without and with a load, a mapping and two fits."""
    from plants.mujoco_arms import chain_urdf, robots_folder

    from robot_id.api.view import write_guess

    if robots_folder() is None:
        pytest.skip('example-robot-data is not installed')
    folder = tmp_path_factory.mktemp('studio') / 'panda'
    (folder / 'studio').mkdir(parents=True)
    urdf = chain_urdf('panda', folder / 'arm.urdf')
    robot = rid.load_robot(urdf)
    table(folder / 'log.csv', robot, 4)
    table(folder / 'loaded.csv', robot, 5, LOAD)
    mapping = write_guess(rid.guess(urdf, folder / 'log.csv'), folder)[1]
    data = rid.load(folder / 'log.csv', robot=robot, mapping=mapping)
    for k, method in enumerate(METHODS, start=1):
        rid.identify(robot, data, method=method).save(folder / 'studio' / f'identify-{k}.json')
    return folder


@pytest.fixture(scope='module')
def running(arm, browser):
    """Return a studio on that folder."""
    pytest.importorskip('nicegui', reason='the studio needs nicegui')
    from running.studio_page import Studio

    made = Studio(arm)
    yield made
    made.end()
    assert 'Traceback' not in made.errors()


@pytest.fixture(scope='module')
def page(running, browser):
    """Return its page with the robot and both recordings chosen."""
    from running.studio_page import Page

    page = Page(browser, running.url)
    page.choose('URDF or robot file', 'arm.urdf')
    page.sees('7 joints')
    for name in ('log.csv', 'loaded.csv'):
        page.choose('recording', name)
        page.choose('mapping', 'log.mapping.yaml')
        page.press('Add')
        page.sees(f'{name} by log.mapping.yaml')
    yield page
    page.page.close()
    assert not page.problems


def test_two_fits_side_by_side(page, arm):
    """Each parameter with both estimates and their distance."""
    fits = ['studio/identify-1.json', 'studio/identify-2.json']
    page.tab('Compare')
    page.press('Compare')
    page.sees(re.compile('at least two results'))
    page.choose_several('fits', fits)
    page.press('Compare')
    page.sees('training errors: identify-1')
    saved = [rid.load_fit(arm / fit, robot=arm / 'arm.urdf') for fit in fits]
    name = saved[0].parameters.names[0]
    row = page.row(name)
    for fit in saved:
        row.filter(has_text=f'{fit.parameters[name]:.4g}').first.wait_for()
    page.picture('compare')


def test_a_motion_of_seven_joints(page, arm):
    """It is drawn, written, and within the limits of the URDF."""
    page.tab('Excite')
    page.fill('seconds', '3')
    page.fill('search, s', '1')
    page.press('Search')
    page.sees('written: excite-')
    for canvas in ('.nicegui-echart canvas', '.nicegui-scene canvas'):
        page.page.locator(canvas).locator('visible=true').first.wait_for()
    page.picture('excite_panda')
    robot = rid.load_robot(arm / 'arm.urdf')
    *_, written = sorted((arm / 'studio').glob('excite-*.yaml'))
    motion = load_trajectory(written, robot.joint_names)
    q = motion.sample(np.linspace(0.0, motion.duration, 500))[0]
    assert np.ptp(q, axis=0).min() > 0.0
    assert (q > robot.limits.lower).all()
    assert (q < robot.limits.upper).all()


def test_a_load_of_seven_joints(page, arm):
    """The mass of what the hand holds is found from two tables of foreign columns."""
    page.tab('Payload')
    page.choose('with the load', 'loaded.csv')
    page.choose('without it', 'log.csv')
    page.press('Identify the load')
    page.sees(re.compile('strategy (subtract|known|joint)'))
    page.picture('payload_panda')
    *_, written = sorted((arm / 'studio').glob('payload-*.json'))
    mass = json.loads(written.read_text())['mass']
    assert mass['value'] == pytest.approx(LOAD.mass, abs=3.0 * mass['std'])
    assert mass['std'] < 0.1 * LOAD.mass


def test_a_urdf_and_a_report_of_seven_joints(page, arm):
    """The file that is written moves as the fit says, to what its joints can say."""
    page.tab('Export')
    page.press('Export')
    page.sees('choose a fit first')
    page.choose('fit', 'identify-2.json')
    page.press('Export')
    page.sees('read back by pinocchio')
    page.sees('written: studio/identify-2-urdf.urdf')
    page.picture('export_panda')
    written = rid.load_robot(arm / 'studio' / 'identify-2-urdf.urdf')
    assert written.joint_names == rid.load_robot(arm / 'arm.urdf').joint_names
    page.press('Report')
    page.sees('written: studio/identify-2.html')
    assert 'panda_joint7' in (arm / 'studio' / 'identify-2.html').read_text()
