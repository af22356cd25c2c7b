"""
The mistake of a set-up that explains why a robot did not move as its model predicts.

Each mistake is undone on the last samples: a sign turned back, two joints exchanged, a unit, a
delay. The one after which the inverse model gives the commanded torques best is named, where it
explains them much better than no mistake does. Constants are taken off, so that a load or a
friction that the model does not know does not decide; but of a joint that leaves its start the
constants say the most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from robot_id.control.supervision.supervisor import Kind, Trip, start_errors, start_friction
from robot_id.dynamics.inverse import bias, inverse_dynamics
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Positions and torques (L, n), and which joints stick (n,).
Samples = tuple[Array, Array, NDArray[np.bool_]]
# A mistake in words, the samples without it, and those it is compared with.
Undone = tuple[str, Samples, Samples | None]
_TINY = 1e-30
# Share of the squared residual without a mistake that one must leave to be named.
EXPLAINED = 0.5
# Mean squared residual, in ranges of the torques, of a model that fits.
FITS = 0.1
# Of a motion, below which a part of it is missing.
SMALLER = 0.99
# Samples that are needed, and the fewest and most over which both sides are averaged.
LEAST_SAMPLES, SMOOTHED = 6, (5, 41)
# Of the motion that a start may make: less is a joint that sticks, by its friction of the model
# and some more.
STUCK_SHARE, STICTION = 0.01, 1.5
# Units and gears that are confused: measured over true.
TURNED = {
    180.0 / np.pi: 'degrees are read as radians',
    np.pi / 180.0: 'radians are read as degrees',
}
SLID = {1000.0: 'millimetres are read as metres', 0.001: 'metres are read as millimetres'}
GEARS = tuple(float(x) for x in np.geomspace(0.005, 200.0, 24))
# Of a position outside of the limits.
OTHERWISE = 'its zero is another one, or the robot file is that of another robot'
# Where nothing explains it.
UNKNOWN = 'check sign, unit, order, zero and brake of the joints, and that the model is its own'
# Zeros that are tried [rad].
ZEROS = tuple(sign * size for size in (0.1, 0.2, 0.35, 0.5, 0.8, 1.2, 1.6) for sign in (1.0, -1.0))
# Ratios that are tried in each joint, of its position and of its torque.
FACTORS = (0.1, 0.2, 1.0 / 3.0, 0.5, 2.0, 3.0, 5.0, 10.0)
# Delays that are tried [s]: beyond a quarter of the swing of a commissioning one is like a sign.
DELAYS_S = (0.005, 0.01, 0.015, 0.02, 0.03)


def name_mistake(
    robot: Robot, chi: Array, trip: Trip, history: Array, period: float, slope: float | None
) -> str:
    """
    Return what is wrong with the set-up in words, '' where nothing explains it.

    :param chi: (b,) the model.
    :param trip: the violation.
    :param history: (L, 4, n) the samples before it: position, torque, reference, its velocity.
    :param period: seconds.
    :param slope: of the Coulomb friction.
    """
    q, tau = history[:, 0], history[:, 1]
    if trip.kind is Kind.POSITION:
        return _wrong_unit(robot, q[-1])
    if trip.kind is Kind.RATE:
        return f'set rate_hz to {trip.value:.0f}, with gains that it can carry'
    words = _likely(robot, trip)
    if len(q) < LEAST_SAMPLES:
        return words
    # Torques that a robot felt while its sample was taken: half of the last, half of this one.
    felt = np.vstack([tau[:1], 0.5 * (tau[1:] + tau[:-1])])
    weight = np.maximum(np.ptp(felt, axis=0), 1e-3 * _finite(robot.limits.torque))
    # A joint that sticks takes what its friction can.
    stuck = np.ptp(q, axis=0) < STUCK_SHARE * start_errors(robot)
    friction = STICTION * start_friction(robot, chi)

    def left(q: Array, felt: Array, stuck: NDArray[np.bool_] = stuck) -> float:
        dq = np.gradient(q, period, axis=0)
        ddq = np.gradient(dq, period, axis=0)
        residual = felt - inverse_dynamics(robot, chi, q, dq, ddq, slope)
        kernel = np.hanning(int(np.clip(len(q) // 4, *SMOOTHED)) + 2)[1:-1]
        kernel /= kernel.sum()
        smooth = np.apply_along_axis(np.convolve, 0, residual, kernel, 'valid')
        if trip.kind is not Kind.START:
            smooth -= smooth.mean(axis=0)
        taken = np.where(stuck, friction, 0.0)
        return float(np.mean((np.maximum(np.abs(smooth) - taken, 0.0) / weight) ** 2))

    # A mistake must explain more than no mistake does, and fit, or explain more than a robot that
    # stands still would; one that makes a motion small must do so, as where a joint hardly moved.
    still = left(np.broadcast_to(q.mean(axis=0), q.shape), felt)
    hardly = bool(stuck[robot.joint_names.index(trip.joint)])
    none = left(q, felt)
    bound = EXPLAINED * none
    if hardly:
        bound = min(bound, EXPLAINED * still)

    undone = _undone(robot, chi, trip, q, felt, period, stuck)
    scores = _scores(robot, q, felt, undone, left)
    if scores.get(words, 0.0) > none:
        # What the violation says by itself explains nothing.
        words = UNKNOWN
    # What it says is given up for a much better reason alone.
    bound = min(bound, EXPLAINED * scores.get(words, np.inf))
    said = min(scores, key=lambda each: scores[each])
    return said if scores[said] < bound else words


def _scores(
    robot: Robot, q: Array, felt: Array, undone: Iterable[Undone], left: Callable[..., float]
) -> dict[str, float]:
    """Return what each mistake leaves unexplained; infinite where it explains too little."""
    none, still = left(q, felt), left(np.broadcast_to(q.mean(axis=0), q.shape), felt)

    def explains(score: float, turned: Array) -> bool:
        return score < still or (score < FITS and not _smaller(turned, q))

    scores: dict[str, float] = {}
    for said, made, same in undone:
        # Those that take samples away are judged on what is left of them.
        share = none / max(left(*same), _TINY) if same is not None else 1.0
        score = share * left(*made)
        scores[said] = score if explains(score, made[0]) else np.inf
    for said, turned, scaled in _with_a_number(robot, q, felt):
        # A number that is chosen explains more, for no reason.
        score = left(turned, scaled) / EXPLAINED
        if explains(score, turned):
            scores[said] = min(scores.get(said, np.inf), score)
    return scores


def _smaller(turned: Array, q: Array) -> bool:
    """Whether a motion (L, n) is smaller than another one."""
    size, whole = (float(np.linalg.norm(np.ptp(each, axis=0))) for each in (turned, q))
    return size < SMALLER * whole


def _undone(
    robot: Robot,
    chi: Array,
    trip: Trip,
    q: Array,
    felt: Array,
    period: float,
    stuck: NDArray[np.bool_],
) -> Iterator[Undone]:
    """
    Yield each mistake in words, with the samples as they were without it.

    Last come the samples as they are, where some of them had to be left out.
    """
    names = robot.joint_names
    for j, name in enumerate(names):
        turned = q.copy()
        turned[:, j] *= -1.0
        yield _reversed(name), (turned, felt, stuck), None
    for i, j in combinations(range(robot.n), 2):
        order = np.arange(robot.n)
        order[[i, j]] = j, i
        said = f"joints '{names[i]}' and '{names[j]}' are swapped: check names and order"
        yield said, (q[:, order], felt, stuck[order]), None
    j = names.index(trip.joint)
    gears = ((gear, 'unit or gear ratio') for gear in GEARS)
    for factor, unit in [*_units(robot)[j].items(), *gears]:
        scaled = q.copy()
        scaled[:, j] /= factor
        yield _scaled(names[j], factor, unit), (scaled, felt, stuck), None
    # A delay of less than that does not move a joint against its torque.
    for delay in DELAYS_S if trip.kind is not Kind.SIGN else ():
        late = round(delay / period)
        if 1 < late < len(q) - LEAST_SAMPLES:
            said = f'the torque lags by about {1e3 * delay:.0f} ms: lower the bandwidth'
            yield said, (q[late:], felt[:-late], stuck), (q[late:], felt[late:], stuck)
    own = bias(robot, chi, q, np.zeros_like(q))
    yield _carried(), (q, felt + own, stuck), None


def _with_a_number(robot: Robot, q: Array, felt: Array) -> Iterator[tuple[str, Array, Array]]:
    """Yield the mistakes of any joint that have a size, in words, with the samples without it."""
    for j, name in enumerate(robot.joint_names):
        one = np.arange(robot.n) == j
        for zero in ZEROS if not _slides(robot)[j] else ():
            said = f"the zero of joint '{name}' is off by about {zero:g}"
            yield said, q - zero * one, felt
        for factor in FACTORS:
            yield _scaled(name, factor, 'unit or gear ratio'), q / factor**one, felt
            said = f"the torque of joint '{name}' is about {factor:g} times what was sent"
            yield said, q, felt * factor**one


def _likely(robot: Robot, trip: Trip) -> str:
    """Return what the kind of a violation says alone."""
    if trip.kind is Kind.SIGN:
        return _reversed(trip.joint)
    if trip.kind is Kind.GAIN:
        return _scaled(trip.joint, trip.value, 'check unit, gear ratio and delay')
    if trip.kind is Kind.GRAVITY:
        return _carried()
    if trip.kind is Kind.START:
        return UNKNOWN
    return ''


def _reversed(joint: str) -> str:
    return f"the sign of joint '{joint}' is reversed, of its position or of its torque"


def _scaled(joint: str, factor: float, unit: str) -> str:
    return f"the position of joint '{joint}' is {factor:.3g} times what it should be: {unit}"


def _carried() -> str:
    return 'the robot compensates its gravity itself: take it out of the model'


def _wrong_unit(robot: Robot, q: Array) -> str:
    """Return how positions outside of their limits would be within."""
    limits = robot.limits
    outside = (q < limits.lower) | (q > limits.upper)
    turned = np.where(outside, -q, q)
    if np.all((turned >= limits.lower) & (turned <= limits.upper)):
        return f'its sign is reversed, {OTHERWISE}'
    large, unit = zip(*(next(iter(units.items())) for units in _units(robot)))
    scaled = q / np.array(large)
    if np.all((scaled >= limits.lower) & (scaled <= limits.upper)):
        return f'{unit[0]}, {OTHERWISE}'
    return OTHERWISE


def _units(robot: Robot) -> list[dict[float, str]]:
    """Return the units that are confused for each joint: measured over true, and in words."""
    return [SLID if slide else TURNED for slide in _slides(robot)]


def _slides(robot: Robot) -> NDArray[np.bool_]:
    """(n,) which joints are prismatic."""
    found = np.zeros(robot.n, bool)
    found[robot.kinematics.dof[robot.kinematics.prismatic]] = True
    return found


def _finite(x: Array) -> Array:
    return np.where(np.isfinite(x), x, 1.0)
