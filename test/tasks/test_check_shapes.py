"""The check on recordings of any shape: many files, rest, single joints; and on odd channels."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_id import data, dynamics
from robot_id.data.dataset import Dataset, Run
from robot_id.robot import Robot, load_robot
from robot_id.tasks import record
from robot_id.tasks.checks import check
from robot_id.tasks.checks.blocks import LARGEST, choose
from robot_id.tasks.checks.models import Explanation
from robot_id.tasks.checks.signals import prepare
from robot_id.tasks.checks.trial import helps

ROBOT = 'tx40'

Array = NDArray[np.float64]
RATE = 200.0


def _run(robot: Robot, seed: int, seconds: float, moving: tuple[int, ...] | None = None) -> Run:
    """Return torques with a little noise of a motion from rest to rest; other joints stand."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * RATE)) / RATE
    w = 2 * np.pi * np.array([0.11, 0.23, 0.41, 0.6])
    a, b = rng.normal(0, 0.45, (2, robot.n, 4)) / np.array([1.0, 1.5, 2.0, 3.0])
    if moving is not None:
        still = [j for j in range(robot.n) if j not in moving]
        a[still] = b[still] = 0.0
    # The motion begins and ends at rest: its own time runs from 0 to the end with speed v.
    T = seconds
    at, v = t - T / (2 * np.pi) * np.sin(2 * np.pi * t / T), 1.0 - np.cos(2 * np.pi * t / T)
    v, dv = v[:, None], (2 * np.pi / T * np.sin(2 * np.pi * t / T))[:, None]
    c, s = np.cos(np.outer(at, w)), np.sin(np.outer(at, w))
    q, slope = c @ a.T + s @ b.T, (c * w) @ b.T - (s * w) @ a.T
    bend = -(c * w**2) @ a.T - (s * w**2) @ b.T
    dq, ddq = slope * v, bend * v**2 + slope * dv
    tau = dynamics.inverse_dynamics(robot, robot.truth(), q, dq, ddq)
    tau += 0.005 * rng.normal(size=tau.shape) * np.maximum(tau.std(axis=0), 0.1)
    return Run(t, np.round(q / 2e-5) * 2e-5, tau)


def _rested(run: Run, before: float, after: float) -> Run:
    """Return a run with rest at both ends, in which friction holds the joints."""
    counts = [int(before * run.rate), int(after * run.rate)]
    q, tau = (
        np.concatenate([np.repeat(v[:1], counts[0], axis=0), v, np.repeat(v[-1:], counts[1], 0)])
        for v in (run.position, run.torque)
    )
    return Run(np.arange(len(q)) / run.rate, q, tau)


@pytest.fixture(scope='module')
def whole(robot: Robot) -> Dataset:
    return Dataset(robot.joint_names, (_run(robot, 1, 20.0),))


@pytest.fixture(scope='module')
def alone(robot: Robot) -> Dataset:
    """One short recording of all joints, and one of each joint alone between two rests."""
    runs = [_run(robot, 2, 8.0)]
    for j in range(robot.n):
        runs.append(_rested(_run(robot, 10 + j, 4.0, (j,)), 2.0, 1.0 + j))
    return Dataset(robot.joint_names, tuple(runs))


def _flipped(dataset: Dataset, j: int) -> Dataset:
    signs = np.where(np.arange(len(dataset.joint_names)) == j, -1.0, 1.0)
    return replace(
        dataset, runs=tuple(replace(run, torque=run.torque * signs) for run in dataset.runs)
    )


def test_joints_that_move_alone_do_not_rest(robot: Robot, alone: Dataset) -> None:
    assert check(robot, alone).codes == ()


def test_the_order_of_the_files_changes_nothing(robot: Robot, alone: Dataset) -> None:
    wrong = _flipped(alone, 1)
    found = check(robot, wrong)
    assert found.codes == ('torque_sign',)
    order = np.random.default_rng(3).permutation(len(wrong.runs))
    mixed = replace(wrong, runs=tuple(wrong.runs[k] for k in order))
    assert check(robot, mixed).as_list() == found.as_list()


@settings(max_examples=20)
@given(order=st.permutations(range(7)))
def test_the_order_of_the_files_changes_no_sample(alone: Dataset, order: list[int]) -> None:
    slides = np.zeros(len(alone.joint_names), bool)
    mixed = replace(alone, runs=tuple(alone.runs[k] for k in order))
    one, other = prepare(alone, slides), prepare(mixed, slides)
    assert one.pieces == other.pieces
    np.testing.assert_array_equal(one.tau, other.tau)
    np.testing.assert_array_equal(one.ddq, other.ddq)


@settings(max_examples=3)
@given(
    cuts=st.lists(st.integers(600, 3400), min_size=1, max_size=3, unique=True),
    rest=st.floats(0.0, 10.0),
    wrong=st.booleans(),
)
def test_cuts_and_rest_change_no_finding(
    robot: Robot, whole: Dataset, cuts: list[int], rest: float, wrong: bool
) -> None:
    run = whole.runs[0]
    edges = [0, *sorted(cuts), len(run)]
    parts = [run.rows(a, b) for a, b in pairwise(edges) if b - a > 200]
    shaped = replace(whole, runs=tuple(_rested(part, rest, 0.5 * rest) for part in parts))
    found = check(robot, _flipped(shaped, 2) if wrong else shaped)
    assert found.codes == (('torque_sign',) if wrong else ())
    assert all(each.joint == robot.joint_names[2] for each in found)


def test_blocks_come_from_every_file_and_every_joint() -> None:
    rng = np.random.default_rng(0)
    speeds = [rng.normal(size=(n, 3)) * [1.0, 1.0, 0.0] for n in (5000, 300, 700)]
    speeds[0][4200:4300, 2] = 0.5
    blocks = choose(speeds, 72)
    assert {k for k, _, _ in blocks} == {0, 1, 2}
    assert any(k == 0 and first < 4300 and last > 4200 for k, first, last in blocks)
    assert sum(last - first for _, first, last in blocks) <= LARGEST


def _explanation(held_out: list[float], prior: list[float] | None = None) -> Explanation:
    n = len(held_out)
    free, unknown = np.array(held_out), np.full(n, np.nan)
    given_inertias = None if prior is None else np.array(prior)
    return Explanation(free, free, given_inertias, unknown, unknown, free, np.ones(n, bool))


def test_a_change_must_help_the_joints_it_names_and_all() -> None:
    """Sums of logarithms fall in each of these although the error grows or hardly falls."""
    before = _explanation([0.2, 0.2, 0.25])
    assert not helps(before, _explanation([0.05, 0.05, 0.45]), (0, 1))
    assert not helps(before, _explanation([0.19, 0.18, 0.22]), ())
    assert not helps(before, _explanation([0.3, 0.05, 0.05]), (0,))
    assert helps(before, _explanation([0.05, 0.2, 0.25]), (0,))
    with_inertias = _explanation([0.05, 0.05, 0.05], [0.05, 0.05, 0.7])
    assert helps(with_inertias, _explanation([0.05, 0.05, 0.05], [0.05, 0.05, 0.06]), (2,))
    assert not helps(with_inertias, _explanation([0.05, 0.05, 0.08], [0.05, 0.05, 0.06]), (2,))


def test_an_unsigned_current_is_named_as_such(robot: Robot, whole: Dataset) -> None:
    run = whole.runs[0]
    step = 0.1 * run.torque.std(axis=0)
    current = np.round(np.abs(run.torque) / step) * step
    assert check(robot, replace(whole, runs=(replace(run, torque=current),))).codes == (
        'unsigned_torque',
    )


@pytest.mark.parametrize('j', [0, 2])
def test_one_unsigned_current_is_named_as_such(robot: Robot, whole: Dataset, j: int) -> None:
    run = whole.runs[0]
    current = run.torque.copy()
    current[:, j] = np.abs(current[:, j])
    found = check(robot, replace(whole, runs=(replace(run, torque=current),)))
    assert found.codes == ('unsigned_torque',)
    assert next(iter(found)).joint == robot.joint_names[j]


def test_a_quantised_torque_at_rest_is_not_saturated(robot: Robot, whole: Dataset) -> None:
    run = _rested(whole.runs[0], 5.0, 3.0)
    step = 0.15 * run.torque.std(axis=0)
    coarse = replace(run, torque=np.round(run.torque / step) * step)
    assert check(robot, replace(whole, runs=(coarse,))).codes == ()


@pytest.mark.parametrize('count', [2, 3])
def test_held_samples_are_found(robot: Robot, whole: Dataset, count: int) -> None:
    run = whole.runs[0]
    rows = np.arange(len(run)) // count * count
    held = replace(run, position=run.position[rows], torque=run.torque[rows])
    found = check(robot, replace(whole, runs=(held,)))
    assert 'held_samples' in found.codes
    assert f'{count} times' in next(iter(found)).message


@pytest.mark.parametrize(('j', 'factor'), [(1, 2.0), (2, 0.5)])
def test_a_position_of_another_gear_ratio(
    robot: Robot, whole: Dataset, j: int, factor: float
) -> None:
    run = whole.runs[0]
    factors = np.where(np.arange(robot.n) == j, factor, 1.0)
    (found,) = check(robot, replace(whole, runs=(replace(run, position=run.position * factors),)))
    assert (found.code, found.joint) == ('gear_ratio', robot.joint_names[j])
    assert found.remedy is not None
    assert found.remedy.position_scale is not None
    assert found.remedy.position_scale[j] == pytest.approx(1.0 / factor, rel=0.05)


def test_degrees_of_a_planar_arm_are_no_gear_ratio() -> None:
    """Without gravity any factor near 57 explains the torques as well as 180 / pi."""
    planar = load_robot('scara')
    data = record(planar, seed=1)
    run = replace(data.runs[0], position=np.rad2deg(data.runs[0].position))
    assert check(planar, replace(data, runs=(run,))).codes == ('position_unit',)


def test_motor_positions_in_degrees_are_not_told_to_be_in_degrees(
    robot: Robot, whole: Dataset
) -> None:
    run = replace(whole.runs[0], position=101.0 * whole.runs[0].position)
    (found,) = check(robot, replace(whole, runs=(run,), units={'position': 'deg'}))
    assert found.code == 'gear_ratio'
    assert found.remedy is not None
    assert found.remedy.position_scale is not None
    assert found.remedy.position_scale[0] == pytest.approx(1 / 101.0, rel=0.05)


def test_radians_that_the_mapping_calls_degrees(robot: Robot, whole: Dataset) -> None:
    """A motion that is too small only because of its unit is no poor motion."""
    run = whole.runs[0]
    small = replace(run, position=np.deg2rad(run.position))
    found = check(robot, replace(whole, runs=(small,), units={'position': 'deg'}))
    assert found.codes == ('position_unit',)


@pytest.mark.parametrize(('factor', 'unit'), [(100.0, 'N.cm'), (200.0, None)])
def test_a_unit_is_named_where_its_size_fits(
    robot: Robot, whole: Dataset, factor: float, unit: str | None
) -> None:
    run = whole.runs[0]
    (found,) = check(robot, replace(whole, runs=(replace(run, torque=factor * run.torque),)))
    assert found.code == 'torque_unit'
    assert ('N.cm' in found.fix) == (unit is not None)


def test_milliamperes_given_as_amperes(robot: Robot, whole: Dataset, tmp_path: Path) -> None:
    run, n = whole.runs[0], robot.n
    values = np.column_stack([run.time, run.position, 1e3 * run.torque / 2.5])
    np.savetxt(tmp_path / 'r.csv', values, delimiter=',')
    mapping = data.mapping.Mapping.model_validate(
        {
            'time': {'column': 1},
            'position': {'columns': list(range(2, n + 2))},
            'torque': {'columns': list(range(n + 2, 2 * n + 2)), 'unit': 'A', 'scale': 2.5},
        }
    )
    dataset = data.load(tmp_path / 'r.csv', mapping, robot)
    assert dataset.units == {'torque': 'A'}
    (found,) = check(robot, dataset)
    assert found.code == 'torque_unit'
    assert 'torque.unit: mA' in found.fix


def test_velocities_of_any_file_deny_a_rate(robot: Robot) -> None:
    """One joint a file, and the first, of all joints, has no velocities."""
    runs = [replace(_run(robot, 3, 12.0), velocity=None)]
    for j in range(robot.n):
        run = _run(robot, 10 + j, 8.0, (j,))
        runs.append(replace(run, velocity=np.gradient(run.position, run.step, axis=0)))
    slow = tuple(replace(run, time=4.0 * run.time) for run in runs)
    (finding,) = check(robot, Dataset(robot.joint_names, slow))
    assert finding.code == 'time_unit'
    assert f'rate_hz: {RATE:.4g} ' in finding.fix
