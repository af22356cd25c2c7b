"""
A control loop for data whose loop is not known: fitted to reference and position, or a stiff one.

The methods that simulate the closed loop need one that moves the model as the robot moved, not
the controller that really ran. With a recorded reference, position = G(s) e^(-s d) reference:
G = wn^2 / (s^2 + 2 zeta wn s + wn^2) for a cascade without velocity reference, and
G = (2 zeta wn s + wn^2) / (s^2 + 2 zeta wn s + wn^2) for a PD law with one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.filters import without_line
from robot_id.robot import Loop, Robot
from robot_id.robot.files.description import LawName

Spectrum = NDArray[np.complexfloating[Any, Any]]
# A stiff loop: what the model leaves out moves it little, and it can be simulated.
STIFF_HZ, STIFF_DAMPING = 40.0, 1.0
# Samples of the controller in one period of its bandwidth.
SAMPLES_PER_PERIOD = 25.0
# The fitted loop must leave less than this share of the tracking error, or a stiff one serves.
EXPLAINED = 0.5
# A delay is believed when it takes away this share of what is left.
DELAY_GAIN = 0.2
DAMPINGS = (0.5, 0.7, 1.0, 1.4)
LAWS: tuple[LawName, LawName] = ('pd_cascade', 'pd')
MOTION_HZ = 20.0


@dataclass(frozen=True)
class AssumedLoop:
    """
    A loop with where it comes from.

    :param loop: to be simulated.
    :param delay_s: by which the reference acts late, seconds.
    :param statement: one line for the result.
    """

    loop: Loop
    delay_s: float
    statement: str


def assumed_loop(robot: Robot, dataset: Dataset) -> AssumedLoop:
    """
    Return a loop for a robot file that has none, or for data without the reference of its own.

    :param dataset: the measurements, columns in the order of the robot's joints.
    """
    stiff = min(STIFF_HZ, 4.0 * dataset.rate)
    if any(run.reference_position is None for run in dataset.runs):
        return _stiff(robot, stiff, 'the data have no reference')
    fits = [_fit_joint(dataset, j, stiff) for j in range(robot.n)]
    moving = [fit for fit in fits if fit is not None]
    if not moving:
        return _stiff(robot, stiff, 'the position follows the reference too closely to fit one')
    laws = [fit.law for fit in moving]
    law = max(LAWS, key=laws.count)
    middle = float(np.median([fit.hz for fit in moving]))
    hz = [fit.hz if fit is not None else middle for fit in fits]
    damping = [fit.damping if fit is not None else STIFF_DAMPING for fit in fits]
    delay = float(np.median([fit.delay_s for fit in moving]))
    loop = _loop(law, hz, damping)
    shown = ', '.join(f'{f:.3g}' for f in hz)
    late = f', the reference lags by {1000 * delay:.3g} ms' if delay > 0.0 else ''
    return AssumedLoop(
        loop,
        delay,
        f"the robot file has no 'loops': {law} with a bandwidth of {shown} Hz{late}, fitted to "
        'reference and position',
    )


def _stiff(robot: Robot, hz: float, why: str) -> AssumedLoop:
    loop = _loop('pd', [hz] * robot.n, [STIFF_DAMPING] * robot.n)
    lacking = '' if robot.description.loops else "the robot file has no 'loops' and "
    return AssumedLoop(loop, 0.0, f'{lacking}{why}: a pd loop of {hz:.3g} Hz is assumed')


def _loop(law: LawName, hz: list[float], damping: list[float]) -> Loop:
    return Loop(
        law=law,
        bandwidth=tuple(2.0 * np.pi * f for f in hz),
        damping=tuple(damping),
        rate_hz=SAMPLES_PER_PERIOD * max(hz),
    )


@dataclass(frozen=True)
class _Fit:
    law: LawName
    hz: float
    damping: float
    delay_s: float


def _fit_joint(dataset: Dataset, joint: int, largest_hz: float) -> _Fit | None:
    """Return what explains position by reference in the longest run; None where little does."""
    run = max(dataset.runs, key=len)
    assert run.reference_position is not None
    window = np.hanning(len(run))
    q, r = (
        np.fft.rfft(window * without_line(x[:, joint]))
        for x in (run.position, run.reference_position)
    )
    f = np.fft.rfftfreq(len(run), run.step)
    inside = (f > 0.0) & (f <= min(MOTION_HZ, 0.4 * run.rate))
    q, r, s = q[inside], r[inside], 2j * np.pi * f[inside]
    plain = float(np.linalg.norm(q - r))
    if plain == 0.0:
        return None
    best: tuple[float, _Fit] | None = None
    for hz in np.geomspace(0.5, largest_hz, 40):
        wn = 2.0 * np.pi * float(hz)
        for zeta in DAMPINGS:
            bottom = s**2 + 2.0 * zeta * wn * s + wn**2
            for law in LAWS:
                top = wn**2 + (2.0 * zeta * wn * s if law == 'pd' else 0.0)
                left = float(np.linalg.norm(q - top / bottom * r))
                if best is None or left < best[0]:
                    best = left, _Fit(law, float(hz), zeta, 0.0)
    assert best is not None
    left, fit = best
    if left > EXPLAINED * plain or fit.hz >= 0.99 * largest_hz:
        return None
    return _with_delay(fit, left, q, r, s, run.step)


def _with_delay(
    fit: _Fit, left: float, q: Spectrum, r: Spectrum, s: Spectrum, step: float
) -> _Fit:
    """Return the fit with a delay of the reference, where that explains clearly more."""
    wn = 2.0 * np.pi * fit.hz
    top = wn**2 + (2.0 * fit.damping * wn * s if fit.law == 'pd' else 0.0)
    response = top / (s**2 + 2.0 * fit.damping * wn * s + wn**2) * r
    delays = step * np.arange(0.0, 10.5, 0.5)
    errors = [float(np.linalg.norm(q - np.exp(-s * d) * response)) for d in delays]
    k = int(np.argmin(errors))
    late = float(delays[k]) if errors[k] < (1.0 - DELAY_GAIN) * left else 0.0
    return _Fit(fit.law, fit.hz, fit.damping, late)
