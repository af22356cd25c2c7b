"""The robot's clock rebuilt from position and velocity, and encoders unwrapped."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.clipping import clipped
from robot_id.data.cleaning.clock import rebuild
from robot_id.data.cleaning.unwrapping import unwrap
from robot_id.data.dataset import Run

Array = NDArray[np.float64]


def _motion(time: Array, joints: int, rng: np.random.Generator) -> tuple[Array, Array]:
    w = 2 * np.pi * np.array([0.2, 0.5, 0.9])
    a, phase = rng.uniform(0.1, 0.5, (2, joints, 3))
    angle = np.multiply.outer(time, w)[:, None] + 9 * phase
    return (a * np.sin(angle)).sum(axis=2), (a * w * np.cos(angle)).sum(axis=2)


def test_late_stamps_give_way_to_the_ticks_of_the_motion() -> None:
    rng = np.random.default_rng(0)
    time = np.arange(6000) * 1e-3
    time = time[rng.random(time.size) > 0.02]
    q, dq = _motion(time, 7, rng)
    late = np.maximum.accumulate(time + rng.exponential(6e-4, time.size))
    clock = rebuild(late, q + rng.normal(0, 1e-6, q.shape), dq + rng.normal(0, 1e-3, q.shape))
    assert clock is not None
    assert clock.rate == 1000.0
    np.testing.assert_allclose(clock.time - clock.time[0], time - time[0], atol=1e-9)


def test_a_state_that_is_held_twice_is_left_out() -> None:
    rng = np.random.default_rng(5)
    ticks = np.arange(8000)
    # The logger reads the newest state at its own moments: some ticks twice, some never.
    read = np.maximum.accumulate(ticks * 1e-3 + rng.exponential(3e-4, ticks.size))
    seen = np.floor(read / 1e-3 + 1e-9)
    q, dq = _motion(seen * 1e-3, 7, rng)
    clock = rebuild(read, q, dq)
    assert clock is not None
    assert clock.rate == 1000.0
    own = seen[clock.fresh] * 1e-3
    assert (np.diff(own) > 0).all()
    np.testing.assert_allclose(clock.time - clock.time[0], own - own[0], atol=1e-9)


def test_stamps_that_the_motion_follows_are_kept() -> None:
    rng = np.random.default_rng(1)
    time = np.cumsum(rng.choice([0.010, 0.012], 3000))
    q, dq = _motion(time, 6, rng)
    assert rebuild(time, q, dq) is None
    assert rebuild(time, q, None) is None


def test_unwrapping_gives_back_the_motion() -> None:
    t = np.arange(2000) / 250.0
    q = np.column_stack([3.0 * np.sin(t), 4.0 * t - 9.0, 0.3 * np.cos(t)])
    wrapped = (q + np.pi) % (2 * np.pi) - np.pi
    back, counts = unwrap(wrapped)
    assert counts[0] == 0
    assert counts[1] > 2
    turns = (back - q) / (2 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns[0]) * np.ones_like(turns), atol=1e-9)


def test_a_clean_motion_is_not_unwrapped() -> None:
    t = np.arange(500) / 100.0
    q = np.column_stack([3.1 * np.sin(3 * t), 9.0 * t])
    back, counts = unwrap(q)
    assert back is q
    assert counts == [0, 0]


def test_clipping_is_seen_and_a_coarse_but_free_torque_is_not() -> None:
    t = np.arange(4000) / 500.0
    tau = np.column_stack([10 * np.sin(t) + np.sin(7 * t), np.round(200 * np.sin(2 * t)) / 10])
    assert clipped(_moved(t, tau))[0] == []
    cut = np.clip(tau, -8.0, 8.0)
    found, flags = clipped(_moved(t, cut[:, :1]))
    assert {round(each.value, 6) for each in found} == {-8.0, 8.0}
    assert np.array_equal(flags[:, 0], np.abs(tau[:, 0]) >= 8.0)
    # A torque that was shifted in time has its first value held: that is no limit.
    late = np.cos(t)[:, None]
    held = np.concatenate([np.full((40, 1), late[0, 0]), late[:-40]])
    assert clipped(_moved(t, held))[0] == []


def test_zero_and_the_torque_of_a_joint_at_rest_are_no_limits() -> None:
    t = np.arange(4000) / 500.0
    tau = 10 * np.sin(t) + np.sin(7 * t)
    current = np.round(np.abs(tau), 0)
    assert clipped(_moved(t, current[:, None]))[0] == []
    # The joint stands for two seconds in the posture that needs the largest torque.
    run = _moved(t, np.round(5 * np.sin(3 * t) + 3, 1)[:, None])
    rows = np.insert(np.arange(len(run)), 262, np.full(1000, 262))
    rest = Run(np.arange(len(rows)) / 500.0, run.position[rows], run.torque[rows])
    assert clipped(rest)[0] == []


def _moved(t: Array, torque: Array) -> Run:
    """Return a run in which every joint moves all the time."""
    return Run(t, np.repeat(np.sin(3 * t)[:, None], torque.shape[1], axis=1), torque)
