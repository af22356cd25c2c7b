"""
Whether a rate can carry the gains of a loop: the phase margin of the sampled error equation.

Computed torque leaves a double integrator per joint, e'' = -Kv e' - Kp e. Sampled at h with a
zero-order hold, P(z) = h^2 (z + 1) / (2 (z - 1)^2); the velocity is a backward difference, C(z) =
Kp + Kv (1 - 1/z) / h, or one over two intervals; a delay d of the torque is exp(-s d).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.control.laws.computed_torque import error_gains
from robot_id.exceptions import ControlError
from robot_id.robot import Loop, Robot

Array = NDArray[np.float64]
# A loop below it is refused: it swings by itself. Below the other one it rings: a warning.
LEAST_MARGIN_DEG, POOR_MARGIN_DEG = 0.0, 20.0
_POINTS = 2000


def phase_margin(
    kp: float, kv: float, period: float, *, delay_s: float = 0.0, averaged: bool = False
) -> float:
    """
    Return the phase margin of one joint in degrees, negative for a loop that is unstable.

    :param kp: 1/s^2; kv 1/s.
    :param period: of the samples [s].
    :param delay_s: of the torque, beyond the hold.
    :param averaged: velocity over the last two intervals.
    """
    # Below the Nyquist frequency; a loop without a crossing there has no stable one either.
    w = np.geomspace(1e-3, 0.999, _POINTS) * np.pi / period
    z = np.exp(1j * w * period)
    steps = 2 if averaged else 1
    control = kp + kv * (1.0 - z**-steps) / (steps * period)
    plant = period**2 * (z + 1.0) / (2.0 * (z - 1.0) ** 2)
    loop = control * plant * np.exp(-1j * w * delay_s)
    above = np.flatnonzero(np.abs(loop) >= 1.0)
    if not above.size:
        return 180.0
    phase = np.unwrap(np.angle(loop))
    # Of a double integrator the phase begins at -180 degrees.
    phase += 2.0 * np.pi * round((-np.pi - phase[0]) / (2.0 * np.pi))
    return float(np.degrees(phase[above[-1]]) + 180.0)


def loop_margins(loop: Loop, rate_hz: float, delay_s: float = 0.0) -> Array:
    """(n,) phase margins of a computed torque loop in degrees."""
    kp, kv = error_gains(loop)
    averaged = loop.velocity == 'averaged'
    return np.array([
        phase_margin(a, b, 1.0 / rate_hz, delay_s=delay_s, averaged=averaged)
        for a, b in zip(kp.tolist(), kv.tolist())
    ])  # fmt: skip


def least_rate(loop: Loop, delay_s: float = 0.0) -> float:
    """Return the rate that the loop needs [Hz], infinite where its delay allows none."""
    low, high = 1.0, 1e6
    if loop_margins(loop, high, delay_s).min() < LEAST_MARGIN_DEG:
        return np.inf
    while high > 1.01 * low:
        middle = float(np.sqrt(low * high))
        if loop_margins(loop, middle, delay_s).min() < LEAST_MARGIN_DEG:
            low = middle
        else:
            high = middle
    return high


def check_rate(robot: Robot, loop: Loop, delay_s: float = 0.0) -> None:
    """
    Refuse gains that the rate of a loop cannot carry.

    :raises ControlError: with the joint, the rate that it needs, and the bandwidth that the rate
        allows.
    """
    margins = loop_margins(loop, loop.rate_hz, delay_s)
    j = int(np.argmin(margins))
    if margins[j] >= LEAST_MARGIN_DEG:
        return
    joint, needed = robot.joint_names[j], least_rate(loop, delay_s)
    late = f' and a delay of {1e3 * delay_s:g} ms' if delay_s else ''
    wanted = f'at least {needed:.0f} Hz' if np.isfinite(needed) else 'a smaller delay'
    raise ControlError(
        f"{robot.name}: joint '{joint}' has a phase margin of {margins[j]:.0f} degrees at "
        f'{loop.rate_hz:g} Hz{late} and would swing by itself: its bandwidth of '
        f'{loop.bandwidth[j]:.4g} rad/s needs {wanted}',
        joint=joint, key='rate_hz', value=loop.rate_hz, bound=needed,
    )  # fmt: skip
