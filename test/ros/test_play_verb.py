"""`robot-id play` on a position-controlled arm of MuJoCo, as processes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('mujoco')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

import numpy as np
from ros_helpers.position_cell import HOME, plant_cell, write_arm
from std_srvs.srv import Trigger

from robot_id import data

SPACE = 'verb'
MAIN = 'from robot_id.cli.main import main; main()'
# A busy machine may leave out joint states for longer than a robot's.
QUICK = ['--', '-p', 'approach_share:=1.0', '-p', 'state_timeout_s:=5.0']


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    return write_arm(tmp_path_factory.mktemp('arm'))


@pytest.fixture
def cell(arm):
    with plant_cell(arm, SPACE) as found:
        yield found


@contextlib.contextmanager
def command(arm, folder, *words):
    """Run the verb, without a terminal; nothing of it is left after the context."""
    line = [sys.executable, '-c', MAIN, 'play', '--robot', str(arm.robot), '--motion',
            str(arm.motion), '--out', str(folder), '--namespace', SPACE, *words]  # fmt: skip
    process = subprocess.Popen(
        line,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env={**os.environ, 'PYTHONUNBUFFERED': '1', 'RCUTILS_COLORIZED_OUTPUT': '0'},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            # A process of another group may hold the pipe.
            with contextlib.suppress(subprocess.TimeoutExpired):
                print(process.communicate(timeout=10)[0])


def test_it_ends_with_report_and_verdict_from_the_speeds_that_were_played(arm, cell, tmp_path):
    words = ['--sim', '--speeds', '0.5,1,0.8', '--identify', *QUICK]
    with command(arm, tmp_path, *words) as process:
        played = lambda: cell.figures()['trajectories'] == 2  # noqa: E731
        cell.client.spin_until(played, 180.0, 'two speeds')
        cell.change(rejects=True)
        said = process.communicate(timeout=240)[0]
    assert process.returncode in (0, 3), said
    assert 'the robot was not played at 80 %' in said
    assert 'verdict: ' in said
    assert (tmp_path / 'result.json').exists()
    assert '<html' in (tmp_path / 'report.html').read_text()
    bags = sorted(path.parent for path in tmp_path.glob('*/metadata.yaml'))
    assert f'recordings in {tmp_path}: {bags[0].name}, {bags[1].name}\n' in said
    # What the controller was asked for is in the recording: methods of the closed loop need it.
    run = data.load(bags[0]).runs[0]
    assert np.ptp(run.reference_position, axis=0).max() > 0.1
    assert cell.stand()['position'] == pytest.approx(HOME, abs=5e-3)


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_who_ends_the_command_alone_ends_the_motion(arm, cell, tmp_path, number):
    """As `kill` and launch files do; a terminal tells the nodes too."""
    with command(arm, tmp_path, '--sim', '--speeds', '0.5,1', '--identify', *QUICK) as process:
        cell.move(0.15)
        process.send_signal(number)
        said = process.communicate(timeout=60)[0]
    assert process.returncode == 130, said
    assert 'stopping: the node ends' in said
    figures = cell.stand()
    # The motion and its stop: the next speed was not played, and nothing was identified.
    assert (figures['trajectories'], figures['rejected']) == (2, 0)
    assert not (tmp_path / 'result.json').exists()
    left = {name for name, _ in cell.client.node.get_node_names_and_namespaces()}
    assert not left & {'motion_player', 'data_logger'}


def test_without_a_terminal_a_real_robot_waits_for_the_confirmation(arm, cell, tmp_path):
    words = ['--speeds', '0.5,1', '--confirmed-speed', '0.5', *QUICK, '-p', 'record:=false']
    with command(arm, tmp_path, *words) as process:
        # The first speed needs no word of a person.
        cell.client.spin_until(lambda: cell.figures()['trajectories'] == 1, 120.0, 'first speed')
        confirm = cell.client.node.create_client(Trigger, 'motion_player/confirm')

        sent = []

        def confirmed():
            sent.append(cell.figures()['trajectories'])
            future = confirm.call_async(Trigger.Request())
            with contextlib.suppress(AssertionError):
                cell.client.spin_until(future.done, 1.0)
            return future.done() and future.result().success

        cell.client.spin_until(confirmed, 120.0, 'the second speed waits')
        assert set(sent) == {1}
        said = process.communicate(timeout=120)[0]
    assert process.returncode == 0, said
    assert cell.figures()['trajectories'] == 2


def test_a_motion_that_is_there_already_is_not_replaced(arm, tmp_path):
    (tmp_path / 'motion.yaml').write_text('')
    line = [sys.executable, '-c', MAIN, 'play', '--robot', str(arm.robot), '--out', str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f'{tmp_path}/motion.yaml: exists already; play it (--motion ' in done.stderr
