"""The verb `excite` as a user meets it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from robot_id.cli import excite
from robot_id.cli.main import cli
from robot_id.exceptions import RobotIdError
from robot_id.robot import load_robot
from robot_id.trajectory import load_trajectory
from robot_id.trajectory.reference_csv import read_reference_csv


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that runs the verb in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('COLUMNS', '120')

    def call(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ['excite', *arguments])

    return call


def test_a_motion_in_all_its_forms(run, tmp_path: Path) -> None:
    done = run(
        '--robot', 'scara', '--kind', 'quintic', '--seconds', '8', '--budget', '3',
        '--out', 'traj.csv', '--json', 'e.json', '--plot', 'e.png', '--posture', '0,0',
        '--rate', '200', '--torque-noise', '0.1,0.01',
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for word in ('cond(W)', 'cond(Phi)', 'ZZ1R', 'percent', 'smallest clearance'):
        assert word in done.stdout
    figures = json.loads((tmp_path / 'e.json').read_text())
    assert figures['determinant'] <= figures['before']['determinant']
    assert figures['torque_std'] == [0.1, 0.01]
    assert (tmp_path / 'e.png').stat().st_size > 10000
    names = load_robot('scara').joint_names
    reference, _ = read_reference_csv(tmp_path / 'traj.csv', names)
    motion = load_trajectory(tmp_path / 'traj.yaml', names)
    # From the posture into the motion and back: the ways are a part of what is written.
    np.testing.assert_allclose(reference.position[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(motion.sample(motion.duration)[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(reference.position, motion.sample(reference.time)[0], atol=1e-9)
    assert motion.duration >= 8.0
    assert (tmp_path / 'traj_bag' / 'metadata.yaml').is_file()
    again = run('--robot', 'scara', '--out', 'traj.csv')
    assert isinstance(again.exception, RobotIdError)
    assert 'exists already' in str(again.exception)


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (('--budget', '0'), 'a budget of 0 s leaves no time'),
        (('--seconds', '-1'), 'longer than 0 s'),
        (('--limit', 'elbow.velocity=0'), "joint 'elbow' cannot move"),
        (('--limit', 'elbow.velocity'), 'joint.quantity=value'),
        (('--limit', 'elbow.velocity=inf'), "joint 'elbow' has no velocity limit"),
        (('--limit', 'elbo.velocity=1'), "did you mean 'elbow'"),
        (('--joint-weights', '1,x'), 'not a list of numbers'),
        (('--out', 'traj.txt'), 'must end in .csv'),
        (('--out', 'none/traj.csv'), 'no directory'),
        (('--use', '1.5'), 'fraction of the limits'),
        (('--posture', '0', '--out', 'traj.csv', '--budget', '0.5'), 'expected 2 numbers'),
        (('--rate', '0'), 'rate_hz must be a positive number'),
    ],
)
def test_mistakes_are_one_clear_line(run, arguments, words: str) -> None:
    done = run('--robot', 'scara', *arguments)
    assert isinstance(done.exception, RobotIdError)
    assert words in str(done.exception)
    assert '\n' not in str(done.exception)


def test_ctrl_c_keeps_the_best_motion(run, tmp_path: Path, monkeypatch) -> None:
    @contextmanager
    def impatient() -> Iterator[object]:
        begun = time.monotonic()

        def progress(fraction: float, text: str = '') -> None:
            if 'best' in text and time.monotonic() - begun > 0.5:
                raise KeyboardInterrupt

        yield progress

    monkeypatch.setattr(excite, 'progress_bar', impatient)
    done = run('--robot', 'scara', '--kind', 'quintic', '--budget', '300', '--out', 'traj.csv')
    assert done.exit_code == 0, done.output
    assert 'stopped early' in done.stdout
    assert (tmp_path / 'traj.csv').is_file()
