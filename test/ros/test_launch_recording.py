"""The launch files for recordings under the real launch_ros; skipped where there is none."""

from __future__ import annotations

import pytest

pytest.importorskip('launch_ros', reason='launch_ros comes with a ROS installation, not from PyPI')
pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]


def run(file, *arguments):
    """Run a launch file to its end and return what was printed."""
    from ros_helpers.launching import launched

    with launched(file, *arguments) as launch:
        launch.wait()
    return launch.output


def test_identify_simulates_records_and_identifies(tmp_path):
    from robot_id.data import load
    from robot_id.methods.result import Result
    from robot_id.robot import load_robot

    text = run(
        'identify', 'robot:=emps', 'namespace:=one', f'data_directory:={tmp_path}',
        'record_s:=5.0', 'online:=true',
    )  # fmt: skip
    (json,) = tmp_path.glob('*.results/emps_idim_wls.json')
    robot, result = load_robot('emps'), Result.load(json)
    truth = dict(zip(robot.base.names, robot.truth()))
    assert result['M1'] == pytest.approx(truth['M1'], rel=0.1), text
    (bag,) = (path for path in tmp_path.iterdir() if path.suffix != '.results')
    assert load(bag, robot=robot).runs[0].duration == pytest.approx(5.0, abs=0.1)
    assert 'emps by idim_wls' in text
    assert 'process has died' not in text
    assert 'Traceback' not in text


def test_a_failed_identification_is_the_exit_code_of_the_launch(tmp_path):
    from ros_helpers.launching import launched

    arguments = [f'data_directory:={tmp_path}', 'record_s:=1.0', 'method:=idim_wsl']
    with launched('identify', 'robot:=emps', 'namespace:=fails', *arguments) as launch:
        assert launch.wait() == 1
    assert "no method 'idim_wsl'" in launch.output
    # The others end as they do after Ctrl-C.
    assert launch.output.count('process has finished cleanly') == 4, launch.output


def test_replay_plays_and_ends(tmp_path):
    from running.simulated_bag import simulated_bag

    simulated_bag(tmp_path / 'run', seconds=3.0)
    text = run(
        'replay', f'bag:={tmp_path / "run"}', 'robot:=emps', 'namespace:=two', 'online:=true'
    )
    assert 'played: joint_states=3001' in text
    assert 'estimating' in text
    assert 'Traceback' not in text


def test_replay_without_a_bag_says_so():
    assert 'parameter bag is not set' in run('replay')
