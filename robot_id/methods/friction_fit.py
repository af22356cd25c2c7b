"""
Friction that is not linear in its constants or depends on the load.

Constants (Stribeck velocity, slope of the Coulomb friction) are found by variable projection: for
given constants the parameters follow from weighted least squares, and an outer Gauss-Newton
iteration moves the logarithms of the constants (Golub and Pereyra; Kaufman's Jacobian). The error
has several minima in them: each joint starts from the best of three sizes. The load |tau_rigid| is
that of the last estimate, until both agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.dynamics.load import takes_load
from robot_id.progress import Progress, silent
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.triangular import RANK, column_sizes, smallest_solution
from robot_id.robot import Robot
from robot_id.robot.friction import TERMS
from robot_id.robot.friction.replacement import with_constants, with_friction

Array = NDArray[np.float64]
_DELTA = 1e-3
_LONGEST_STEP = 0.7
_ENOUGH = 1e-3
# Constants to start from, relative to those of the robot.
_STARTS = (1.0, 0.2, 5.0)


@dataclass(frozen=True)
class Constants:
    """
    Constants of friction terms, with how well they are known.

    :param joints: name of the joint of each one.
    :param terms: its term.
    :param names: its name (vs1 ...).
    :param values: (c,).
    :param std: (c,) standard deviations.
    :param effect: (b, c) d chi / d log(value).
    :param covariance: (c, c) of the logarithms of the values.
    :param at_bound: (c,) whether the value is at a bound of the term.
    """

    joints: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    values: Array = field(default_factory=lambda: np.empty(0))
    std: Array = field(default_factory=lambda: np.empty(0))
    effect: Array = field(default_factory=lambda: np.empty((0, 0)))
    covariance: Array = field(default_factory=lambda: np.empty((0, 0)))
    at_bound: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))


def is_linear(robot: Robot) -> bool:
    """Return whether the torques are linear in all friction parameters."""
    constants = any(TERMS[t].constant for joint in robot.joints for t in joint.friction)
    return not constants and not takes_load(robot)


def fit_friction(
    robot: Robot,
    dataset: Dataset,
    processing: Processing,
    coulomb_slope: float | None = None,
    progress: Progress = silent,
    iterations: int = 20,
) -> tuple[Robot, Constants]:
    """
    Return the robot with the constants and the load that fit the data, and the constants.

    :param processing: resolved for these data.
    """
    if is_linear(robot):
        return robot, Constants()
    work = _Work(dataset, processing, coulomb_slope)
    robot = _first_load(work, robot)
    places = _places(robot)
    theta = _start(work, robot, places)
    robot = _with_constants(robot, places, theta)
    best = work.fit(robot)
    for k in range(iterations):
        progress(k / iterations, f'friction: step {k + 1}')
        step = _step(work, robot, best, places, theta)[0] if places else np.empty(0)
        moved, fit, step = _search(work, robot, best, places, theta, step)
        change = np.abs(fit.loads - best.loads).max(initial=0.0) / max(best.loads.max(), 1e-12)
        theta, robot, best = theta + step, moved, fit
        if np.all(np.abs(step) < _ENOUGH) and change < _ENOUGH:
            break
    return robot, _constants(work, robot, best, places, theta)


@dataclass(frozen=True)
class _Fit:
    """Observation, weights, parameters, weighted squared error of each joint, and loads."""

    observation: Observation
    weights: Array
    chi: Array
    errors: Array
    loads: Array

    @property
    def cost(self) -> float:
        """Weighted squared error of all joints."""
        return float(np.sum(self.errors))


@dataclass
class _Work:
    dataset: Dataset
    processing: Processing
    slope: float | None
    weights: Array | None = None

    def fit(self, robot: Robot) -> _Fit:
        """Return the weighted solution; the weights are those of the first one."""
        observation = Observation(robot, self.dataset, self.processing, self.slope)
        factors = observation.factors()
        system = System(factors)
        if self.weights is None:
            self.weights = system.joint_weights()[0]
        R = factors.stack(self.weights)
        chi = smallest_solution(R)
        errors = (self.weights * factors.residual_norms(chi)) ** 2
        return _Fit(observation, self.weights, chi, errors, _loads(robot, chi))


def _loads(robot: Robot, chi: Array) -> Array:
    """Return |parameters of rigid bodies and rotors|, by which a change of the load shows."""
    friction = robot.term_index[robot.terms.parameter[robot.terms.kind != 0]]
    return np.abs(np.where(np.isin(robot.base.columns, friction), 0.0, chi))


def _first_load(work: _Work, robot: Robot) -> Robot:
    """Return the robot with the load of a fit without load-dependent friction."""
    if not takes_load(robot):
        return robot
    plain = {
        joint.name: [t for t in joint.friction if TERMS[t].modulation != 'load']
        for joint in robot.joints
    }
    without = with_friction(robot, plain)
    found = dict(zip(without.base.names, _Work(work.dataset, work.processing, work.slope)
                     .fit(without).chi))  # fmt: skip
    return robot.with_load(np.array([found.get(name, 0.0) for name in robot.base.names]))


def _places(robot: Robot) -> list[tuple[int, str]]:
    """Return (joint, term) of every constant."""
    return [
        (j, term)
        for j, joint in enumerate(robot.joints)
        for term in joint.friction
        if TERMS[term].constant is not None
    ]


def _start(work: _Work, robot: Robot, places: list[tuple[int, str]]) -> Array:
    """Return log constants to start from: of each joint those that leave it the least error."""
    known = np.log([robot.joints[j].constant_of(t) for j, t in places])
    if not places:
        return known
    tried = [np.clip(known + np.log(factor), *_bounds(places)) for factor in _STARTS]
    errors = [work.fit(_with_constants(robot, places, theta)).errors for theta in tried]
    best = np.argmin(errors, axis=0)
    return np.array([tried[best[j]][k] for k, (j, _) in enumerate(places)])


def _with_constants(robot: Robot, places: list[tuple[int, str]], theta: Array) -> Robot:
    constants: dict[str, dict[str, float]] = {}
    for (j, term), value in zip(places, np.exp(theta)):
        constants.setdefault(robot.joint_names[j], {})[term] = float(value)
    return with_constants(robot, constants)


def _bounds(places: list[tuple[int, str]]) -> tuple[Array, Array]:
    limits = [TERMS[term].constant for _, term in places]
    return (
        np.log([c.lower for c in limits if c is not None]),
        np.log([c.upper for c in limits if c is not None]),
    )


def _step(
    work: _Work, robot: Robot, fit: _Fit, places: list[tuple[int, str]], theta: Array
) -> tuple[Array, Array, Array]:
    """Return the Gauss-Newton step, the covariance of log constants, and d chi / d log."""
    n, b, c = robot.n, len(robot.base), len(places)
    rows = _rows(fit.observation, n)
    D = [np.zeros((len(Y), c)) for _, Y in rows]
    # Constants of different joints act on different rows: one pass moves one of each joint.
    for term in dict.fromkeys(term for _, term in places):
        own = np.array([t == term for _, t in places])
        sides = []
        for sign in (1.0, -1.0):
            moved = _with_constants(robot, places, theta + sign * _DELTA * own)
            other = Observation(moved, work.dataset, work.processing, work.slope)
            sides.append([W @ fit.chi[other.columns[j]] for j, (W, _) in
                          enumerate(_rows(other, n))])  # fmt: skip
        for k in np.flatnonzero(own):
            j = places[k][0]
            D[j][:, k] = (sides[0][j] - sides[1][j]) / (2.0 * _DELTA)
    stacked = []
    for j, (W, Y) in enumerate(rows):
        block = np.zeros((len(Y), c + b + 1))
        block[:, :c] = D[j]
        block[:, c + fit.observation.columns[j]] = W
        block[:, -1] = Y - W @ fit.chi[fit.observation.columns[j]]
        stacked.append(fit.weights[j] * block)
    A = np.concatenate(stacked)
    # Kaufman: D with what W explains taken out.
    Q, R = np.linalg.qr(A[:, c:-1] / column_sizes(A[:, c:-1]))
    inner = Q.T @ A[:, :c]
    E = A[:, :c] - Q @ inner
    step = np.linalg.lstsq(E, A[:, -1], rcond=RANK)[0]
    variance = np.sum((A[:, -1] - E @ step) ** 2) / max(len(A) - b - c, 1)
    inverse = np.linalg.pinv(E, rcond=RANK)
    covariance = variance * inverse @ inverse.T
    effect = -np.linalg.lstsq(R, inner, rcond=RANK)[0] / column_sizes(A[:, c:-1])[:, None]
    return np.clip(step, -_LONGEST_STEP, _LONGEST_STEP), covariance, effect


def _rows(observation: Observation, n: int) -> list[tuple[Array, Array]]:
    """Return W_j and Y_j of every joint, whole."""
    parts: list[list[tuple[Array, Array]]] = [[] for _ in range(n)]
    for j, W, Y in observation.blocks():
        parts[j].append((W, Y))
    return [
        (np.concatenate([W for W, _ in part]), np.concatenate([Y for _, Y in part]))
        for part in parts
    ]


def _search(
    work: _Work, robot: Robot, fit: _Fit, places: list[tuple[int, str]], theta: Array, step: Array
) -> tuple[Robot, _Fit, Array]:
    """Return the robot, its fit and the step, halved until the error decreases."""
    lower, upper = _bounds(places)
    for _ in range(8):
        step = np.clip(theta + step, lower, upper) - theta
        moved = _with_constants(robot, places, theta + step) if places else robot
        if takes_load(robot):
            moved = moved.with_load(fit.chi)
        found = work.fit(moved)
        if found.cost <= fit.cost * (1.0 + 1e-6) or not places:
            return moved, found, step
        step = 0.5 * step
    return robot, fit, np.zeros_like(step)


def _constants(
    work: _Work, robot: Robot, fit: _Fit, places: list[tuple[int, str]], theta: Array
) -> Constants:
    if not places:
        return Constants()
    _, covariance, effect = _step(work, robot, fit, places, theta)
    lower, upper = _bounds(places)
    values = np.exp(theta)
    names = [TERMS[term].constant for _, term in places]
    return Constants(
        joints=tuple(robot.joint_names[j] for j, _ in places),
        terms=tuple(term for _, term in places),
        names=tuple(c.name.format(j + 1) for c, (j, _) in zip(names, places) if c is not None),
        values=values,
        std=values * np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        effect=effect,
        covariance=covariance,
        at_bound=(theta <= lower + 1e-9) | (theta >= upper - 1e-9),
    )
