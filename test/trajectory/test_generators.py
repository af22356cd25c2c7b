"""Generators: exact derivatives, exact extremes, rest at the ends, cycles, files."""

from __future__ import annotations

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory import (
    Concatenation,
    Fourier,
    PiecewisePolynomial,
    Quintic,
    SampledMotion,
    Selection,
    Trapezoid,
    cycle,
    emps_cycle,
    load_trajectory,
    save_trajectory,
    standard_trajectory,
)

KINDS = ('trapezoid', 'quintic', 'fourier', 'playback', 'concatenation', 'selection', 'piecewise')


def some(kind: str, seed: int = 0, n: int = 3):
    """Return a random motion of a kind."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-2.0, 2.0, (5, n))
    if kind == 'trapezoid':
        return Trapezoid(points, rng.uniform(0.5, 2.0, n), rng.uniform(1.0, 9.0, n), dwell=0.2)
    if kind == 'quintic':
        return Quintic(
            points, rng.uniform(0.5, 2.0, 4), rng.normal(size=(5, n)), rng.normal(size=(5, n))
        )
    if kind == 'fourier':
        return Fourier.at_rest(7.0, points[0], *rng.normal(size=(2, n, 5)))
    if kind == 'playback':
        time = np.cumsum(rng.uniform(0.05, 0.2, 40)) + 3.0
        return SampledMotion(time, np.sin(np.outer(time, [1.0, 2.0, 3.0][:n])))
    if kind == 'concatenation':
        first = Quintic(points, 1.0)
        return Concatenation([first, Trapezoid(points[::-1], 1.0, 2.0)], periodic=True)
    if kind == 'selection':
        return Selection(some('fourier', seed), [2, 0])
    return PiecewisePolynomial([0.0, 1.0], rng.normal(size=(1, 4, n)))


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('seed', range(4))
def test_derivatives_match_finite_differences(kind: str, seed: int) -> None:
    trajectory = some(kind, seed)
    h = 1e-5
    breaks = getattr(trajectory, 'breaks', np.array([0.0, trajectory.duration]))
    if kind == 'concatenation':
        parts = trajectory.parts
        breaks = np.concatenate((parts[0].breaks, parts[0].duration + parts[1].breaks))
    t = np.random.default_rng(seed).uniform(0.0, trajectory.duration, 300)
    t = t[np.min(np.abs(t[:, None] - breaks), axis=1) > 3 * h]
    assert len(t) > 250
    q, dq, ddq = trajectory.sample(t)
    before, after = trajectory.sample(t - h), trajectory.sample(t + h)
    scale = 1.0 + np.abs(ddq).max()
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), dq, atol=1e-7 * scale)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), ddq, atol=1e-6 * scale)
    assert np.all(np.isfinite(q))


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('seed', range(4))
def test_extremes_bound_a_dense_grid_and_are_tight(kind: str, seed: int) -> None:
    trajectory = some(kind, seed)
    q, dq, ddq = trajectory.sample(np.linspace(0.0, trajectory.duration, 100001))
    peak = trajectory.extremes()
    for bound, seen in (
        (peak.upper, q.max(axis=0)),
        (-peak.lower, -q.min(axis=0)),
        (peak.velocity, np.abs(dq).max(axis=0)),
        (peak.acceleration, np.abs(ddq).max(axis=0)),
    ):
        size = np.maximum(np.abs(seen), 1e-3)
        assert np.all(bound >= seen - 1e-12 * size)
        assert np.all(bound <= seen + 5e-3 * size)


@pytest.mark.parametrize('kind', KINDS)
def test_files_keep_every_digit(kind: str, tmp_path) -> None:
    trajectory = some(kind)
    t = np.linspace(0.0, trajectory.duration, 57)
    for name in ('motion.yaml', 'motion.json'):
        save_trajectory(trajectory, tmp_path / name)
        again = load_trajectory(tmp_path / name)
        assert (again.duration, again.periodic, again.n) == (
            trajectory.duration,
            trajectory.periodic,
            trajectory.n,
        )
        for a, b in zip(again.sample(t), trajectory.sample(t)):
            np.testing.assert_array_equal(a, b)


@given(
    seed=st.integers(0, 10**6),
    harmonics=st.integers(2, 10),
    duration=st.floats(0.5, 60.0),
)
@settings(max_examples=60, deadline=None)
def test_fourier_at_rest_starts_and_ends_in_its_posture(seed, harmonics, duration) -> None:
    rng = np.random.default_rng(seed)
    start = rng.uniform(-3.0, 3.0, 4)
    trajectory = Fourier.at_rest(duration, start, *rng.normal(size=(2, 4, harmonics)))
    assert trajectory.ends_at_rest()
    for t in (0.0, duration):
        q, dq, ddq = trajectory.sample(t)
        peak = trajectory.extremes()
        np.testing.assert_allclose(q, start, atol=1e-12)
        np.testing.assert_allclose(dq / peak.velocity, 0.0, atol=1e-12)
        np.testing.assert_allclose(ddq / peak.acceleration, 0.0, atol=1e-12)


@given(seed=st.integers(0, 10**6), dwell=st.floats(0.0, 1.0), slower=st.floats(1.0, 3.0))
@settings(max_examples=60, deadline=None)
def test_trapezoid_meets_way_points_and_bounds(seed, dwell, slower) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(-2.0, 2.0, (4, 2))
    velocity, acceleration = rng.uniform(0.1, 3.0, 2), rng.uniform(0.1, 9.0, 2)
    fastest = Trapezoid(points, velocity, acceleration)
    lengths = [Trapezoid(points[k : k + 2], velocity, acceleration).duration for k in range(3)]
    assert fastest.duration == pytest.approx(sum(lengths))
    durations = slower * np.array(lengths)
    trajectory = Trapezoid(points, velocity, acceleration, durations, dwell)
    assert trajectory.duration == pytest.approx(durations.sum() + 3 * dwell)
    peak = trajectory.extremes()
    assert np.all(peak.velocity <= velocity * (1 + 1e-9))
    assert np.all(peak.acceleration <= acceleration * (1 + 1e-9))
    ends = np.concatenate(([0.0], np.cumsum(durations + dwell)))
    q, dq, _ = trajectory.sample(np.minimum(ends, trajectory.duration))
    np.testing.assert_allclose(q, points, atol=1e-9)
    np.testing.assert_allclose(dq, 0.0, atol=1e-7)
    assert trajectory.ends_at_rest(acceleration=False, tolerance=1e-7)


def test_fastest_trapezoid_uses_the_slowest_joint_fully() -> None:
    trajectory = Trapezoid([[0.0, 0.0], [1.0, 0.1]], [2.0, 2.0], [4.0, 4.0])
    # Triangular: 1 = a (T/2)^2.
    assert trajectory.duration == pytest.approx(1.0)
    np.testing.assert_allclose(trajectory.extremes().acceleration, [4.0, 0.4])
    with_cruise = Trapezoid([[0.0], [1.0]], 0.5, 4.0)
    assert with_cruise.duration == pytest.approx(1.0 / 0.5 + 0.5 / 4.0)


def test_quintic_rest_to_rest_peaks() -> None:
    trajectory = Quintic([[0.0], [2.0]], 4.0)
    peak = trajectory.extremes()
    np.testing.assert_allclose(peak.velocity, 15.0 / 8.0 * 2.0 / 4.0)
    np.testing.assert_allclose(peak.acceleration, 10.0 / np.sqrt(3.0) * 2.0 / 16.0)
    assert trajectory.ends_at_rest()
    np.testing.assert_allclose(trajectory.sample(2.0)[0], 1.0)


def test_emps_cycle_closes_after_its_6_2_seconds() -> None:
    trajectory = emps_cycle()
    assert trajectory.duration == pytest.approx(6.2)
    assert trajectory.periodic
    reference = trajectory.sampled(1000.0, cycles=3)
    assert len(reference) == 18601
    np.testing.assert_allclose(
        reference.position[:6200], reference.position[6200:12400], atol=1e-9
    )
    np.testing.assert_allclose(reference.position[[0, 6200, -1]], 0.0, atol=1e-12)
    # Trapezoids: the acceleration is one value up, one down, or zero.
    size = np.unique(np.round(np.abs(reference.acceleration), 6))
    np.testing.assert_allclose(size, [0.0, 2.5])
    assert standard_trajectory('emps_cycle').duration == trajectory.duration


def test_one_shot_holds_its_end_and_periodic_goes_on() -> None:
    shot = Quintic([[0.0], [1.0]], 2.0)
    q, dq, ddq = shot.sample([-1.0, 5.0])
    np.testing.assert_array_equal(q[:, 0], [0.0, 1.0])
    np.testing.assert_array_equal(np.concatenate((dq, ddq)), 0.0)
    wave = some('fourier')
    for a, b in zip(wave.sample([1.0, 8.0]), wave.sample([15.0, 22.0])):
        np.testing.assert_allclose(a, b, atol=1e-9)
    three = cycle(wave, 3)
    assert three.duration == pytest.approx(21.0)
    for a, b in zip(three.sample([16.0]), wave.sample([2.0])):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_sampled_reference_is_uniform_and_complete() -> None:
    reference = Quintic([[0.0], [1.0]], 2.0).sampled(250.0)
    assert len(reference) == 501
    assert reference.rate == pytest.approx(250.0)
    assert reference.duration == pytest.approx(2.0)
    np.testing.assert_allclose(reference.position[-1], 1.0)


def test_a_sampled_motion_is_exact_on_what_its_order_can_hold() -> None:
    time = np.array([0.0, 0.4, 0.5, 1.0, 1.3, 2.0, 2.2]) + 5.0
    t = np.linspace(0.0, 2.2, 101)
    # A quintic is in the span of both the spline and the Hermite pieces.
    c = [0.3, -1.0, 0.5, 2.0, -0.7, 0.1]
    p = np.polynomial.Polynomial(c, domain=[5.0, 6.0], window=[0.0, 1.0])
    expected = [p.deriv(m)(t + 5.0)[:, None] if m else p(t + 5.0)[:, None] for m in range(3)]
    for extra in ([], [p.deriv(1)(time)], [p.deriv(1)(time), p.deriv(2)(time)]):
        motion = SampledMotion(time, p(time), *extra)
        np.testing.assert_allclose(motion.sample(time - 5.0)[0][:, 0], p(time), atol=1e-12)
        if len(extra) != 1:
            for a, b in zip(motion.sample(t), expected):
                np.testing.assert_allclose(a, b, atol=1e-9)


def test_files_match_joints_by_name(tmp_path) -> None:
    trajectory = some('fourier')
    path = tmp_path / 'motion.yaml'
    save_trajectory(trajectory, path, ['a', 'b', 'c'])
    turned = load_trajectory(path, ['c', 'a', 'b'])
    np.testing.assert_array_equal(turned.sample(1.0)[1], trajectory.sample(1.0)[1][[2, 0, 1]])
    with refused(TrajectoryError, joint='d'):
        load_trajectory(path, ['a', 'b', 'd'])
    with refused(TrajectoryError, code='no_file'):
        load_trajectory(tmp_path / 'none.yaml')
    with refused(TrajectoryError, code='wrong_suffix'):
        save_trajectory(trajectory, tmp_path / 'motion.txt')
    (tmp_path / 'broken.yaml').write_text('kind: [')
    with refused(TrajectoryError, code='not_yaml'):
        load_trajectory(tmp_path / 'broken.yaml')


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('samples', [7, 10, 11, 59, 240])
def test_even_samples_are_those_of_their_times(kind: str, samples: int) -> None:
    motion = some(kind)
    wanted = motion.sample(np.arange(samples) * (motion.duration / samples))
    for found, part in zip(motion.sampled_evenly(samples), wanted):
        np.testing.assert_allclose(found, part, atol=1e-12 * max(np.abs(part).max(), 1.0))
