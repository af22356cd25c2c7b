"""`robot-id check`: exit codes, the JSON file, and --fix."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import data, dynamics
from robot_id.cli.check import command
from robot_id.data.dataset import Dataset, Run
from robot_id.exceptions import DataError
from robot_id.robot import load_robot


@pytest.fixture(scope='module')
def recording() -> Dataset:
    """Exact torques of the SCARA along a random trajectory."""
    robot = load_robot('scara')
    t = np.arange(3000) / 200.0
    w = 2 * np.pi * np.array([0.21, 0.47, 0.83])
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 0.4, (2, robot.n, 3))
    c, s = np.cos(np.outer(t, w)), np.sin(np.outer(t, w))
    q, dq = c @ a.T + s @ b.T, (c * w) @ b.T - (s * w) @ a.T
    ddq = -(c * w**2) @ a.T - (s * w**2) @ b.T
    tau = dynamics.inverse_dynamics(robot, robot.truth(), q, dq, ddq)
    tau += rng.normal(0, 0.005, tau.shape) * tau.std(axis=0)
    return Dataset(robot.joint_names, (Run(t, q, tau),))


def _check(dataset: Dataset, folder: Path, *more: str) -> tuple[int, list[dict[str, object]], str]:
    data.save(dataset, folder / 'data.npz')
    file = folder / 'findings.json'
    words = ['--robot', 'scara', '--data', str(folder / 'data.npz'), '--json', str(file), *more]
    result = CliRunner().invoke(command, words)
    content = json.loads(file.read_text())
    assert content['schema'] == 1
    return result.exit_code, content['findings'], result.output


def test_a_clean_recording_exits_0(recording: Dataset, tmp_path: Path) -> None:
    assert _check(recording, tmp_path)[:2] == (0, [])


def test_a_mistake_exits_1_and_fix_mends_it(recording: Dataset, tmp_path: Path) -> None:
    run = recording.runs[0]
    wrong = replace(recording, runs=(replace(run, torque=-run.torque),))
    code, findings, output = _check(wrong, tmp_path, '--fix', str(tmp_path / 'fixed'))
    assert code == 1
    assert [finding['code'] for finding in findings] == ['torque_sign']
    assert set(findings[0]) == {'code', 'joint', 'certainty', 'message', 'fix', 'intervals'}
    fixed = data.load(tmp_path / 'fixed' / 'data.npz')
    np.testing.assert_allclose(fixed.runs[0].torque, run.torque)
    assert 'corrected:' in output


def test_fix_says_where_only_a_person_can_correct(recording: Dataset, tmp_path: Path) -> None:
    (run,) = recording.runs
    still = run.position * [1.0, 0.0]
    wrong = replace(recording, runs=(Run(run.time, still, run.torque),))
    code, findings, output = _check(wrong, tmp_path, '--fix', str(tmp_path / 'fixed'))
    assert code == 1
    assert 'rest' in [finding['code'] for finding in findings]
    assert '--fix: nothing is written' in output
    assert not (tmp_path / 'fixed').exists()


@pytest.mark.parametrize('place', ['a_file/fixed', 'a_file'])
def test_a_folder_that_cannot_be_made_is_refused_first(
    recording: Dataset, tmp_path: Path, place: str
) -> None:
    (tmp_path / 'a_file').write_text('')
    data.save(recording, tmp_path / 'data.npz')
    words = ['--robot', 'scara', '--data', str(tmp_path / 'data.npz')]
    result = CliRunner().invoke(command, [*words, '--fix', str(tmp_path / place)])
    assert isinstance(result.exception, DataError)
    assert f'{tmp_path / place}: cannot write' in str(result.exception)
