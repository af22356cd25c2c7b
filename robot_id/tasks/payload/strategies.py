"""
The three ways from recordings to a load.

In all of them each loaded recording has friction and offsets of its own beside the load, and
friction that grows with the torque has a column of its own (see `gears`): changes of the arm's
gears are not taken for a load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.methods.parameters import parameters_for
from robot_id.methods.result import Result
from robot_id.regression.preprocessing.resolve import resolve
from robot_id.robot import Robot
from robot_id.robot.friction.columns import friction_parameters
from robot_id.tasks.payload.drift import with_drift
from robot_id.tasks.payload.gears import Design, load_friction, tooth_load, with_load_friction
from robot_id.tasks.payload.rows import joint_weights, resolve_all, rows_of
from robot_id.tasks.payload.same_motion import same_motion
from robot_id.tasks.payload.solution import Solution, solve
from robot_id.tasks.validation import Conditions

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """
    A solution whose last unknowns are loads.

    :param solution: of the weighted rows.
    :param A: weighted rows for each run (M, n, p); y their torques (M, n).
    :param rows: W of the loaded rows for each run, weighted, zero for the unloaded ones.
    :param chi: (b,) the arm.
    :param changes: where the change of the friction stands among the unknowns, one by recording.
    :param weights: (n,) of the joints, in A, y and rows.
    """

    solution: Solution
    A: list[Array]
    y: list[Array]
    rows: list[Array]
    chi: Array
    changes: tuple[slice, ...]
    weights: Array


def together(
    robot: Robot, unloaded: Dataset, loaded: Sequence[Dataset], places: Sequence[Array]
) -> Fit:
    """
    Way c: Y_u = W_u chi, Y_l = W_l (chi + F f_l + sum_k G_k p_lk), all unknowns at once.

    :param places: (b, 10) G_k of each place that carries a load.
    """
    b, own = len(robot.base), friction_parameters(robot)
    f, k = len(own), 10 * len(places)
    datasets = [unloaded, *loaded]
    recordings = [
        rows_of(robot, data, resolved, b + (f + k) * (data is not unloaded))
        for data, resolved in zip(datasets, resolve_all(robot, datasets))
    ]
    weights = joint_weights(recordings)
    changes = tuple(slice(b + r * f, b + (r + 1) * f) for r in range(len(loaded)))
    tail = k * len(loaded)
    parts = [(r, W, Y) for r, rows in enumerate(recordings) for W, Y in zip(rows.W, rows.Y)]

    def design(x: Array | None, side: float) -> list[Array]:
        blocks = []
        for r, W, _ in parts:
            loads, load_terms = np.concatenate([W @ G for G in places], axis=2), None
            if x is not None:
                chi, coefficients = x[:b].copy(), x[b + len(loaded) * f : len(x) - tail]
                rigid = W @ _rigid(chi, own)
                if r > 0:
                    rigid += loads @ x[len(x) - tail + (r - 1) * k :][:k]
                    chi[own] += x[changes[r - 1]]
                load_terms = load_friction(
                    robot, W, tooth_load(robot, W, rigid, chi, coefficients, side)
                )
            first = [W, *_only(W[:, :, own], r - 1, len(loaded))]
            blocks.append(_assemble(first, load_terms, _only(loads, r - 1, len(loaded)), weights))
        return blocks

    y = [Y * weights for _, _, Y in parts]
    solution, A = with_load_friction(design, y, tail, doubt=False)
    solution = with_drift(solution, A, changes, solution.x[own])
    felt = [W * weights[:, None] * (r > 0) for r, W, _ in parts]
    return Fit(solution, A, y, felt, solution.x[:b], changes, weights)


def with_model(robot: Robot, loaded: Dataset, arm: Result, places: Sequence[Array]) -> Fit:
    """Way b: Y_l - W_l chi = W_l (F f + sum_k G_k p_k); the uncertainty of chi is passed on."""
    chi, own = parameters_for(robot, arm), friction_parameters(robot)
    # Friction turns as it did for the arm; delay and filters are this recording's own.
    resolved = resolve(robot, loaded, Conditions.of(arm, loaded.rate).coulomb_slope)
    rows = rows_of(robot, loaded, resolved, len(own) + 10 * len(places))
    weights = joint_weights([rows])
    design = _beside_arm(robot, rows.W, chi, own, places, weights)
    y = [(Y - W @ chi) * weights for W, Y in zip(rows.W, rows.Y)]
    found, A = with_load_friction(design, y, 10 * len(places))
    felt = [W * weights[:, None] for W in rows.W]
    changes = (slice(0, len(own)),)
    found = with_drift(_with_arm(found, A, felt, arm.covariance), A, changes, chi[own])
    return Fit(found, A, y, felt, chi, changes, weights)


def subtracted(robot: Robot, unloaded: Dataset, loaded: Dataset, places: Sequence[Array]) -> Fit:
    """
    Way a: Y_l - Y_u = W_l (F f + sum_k G_k p_k) + (W_l - W_u) chi at the same instants.

    A load changes how the loop follows: the effect of that small difference on the arm is removed
    with a fit of the unloaded recording.
    """
    unloaded, loaded = same_motion(unloaded, loaded)
    resolved, own = resolve(robot, loaded), friction_parameters(robot)
    unknowns = len(own) + 10 * len(places)
    without, rows = (rows_of(robot, d, resolved, unknowns) for d in (unloaded, loaded))
    weights = joint_weights([without, rows])
    pairs = list(zip(without.W, without.Y, rows.W, rows.Y))
    used = [np.any(W != 0.0, axis=2) & np.any(V != 0.0, axis=2) for V, _, W, _ in pairs]
    y0 = [Z * weights for Z in without.Y]
    arm = solve([V * weights[:, None] for V in without.W], y0)
    chi = arm.x
    W_used = [W * u[:, :, None] for W, u in zip(rows.W, used)]
    V_used = [V * u[:, :, None] for V, u in zip(without.W, used)]
    design = _beside_arm(robot, W_used, chi, own, places, weights, V_used)
    y = [(Y - Z - (W - V) @ chi) * weights * u for (V, Z, W, Y), u in zip(pairs, used)]
    found, A = with_load_friction(design, y, 10 * len(places))
    apart = [(W - V) * weights[:, None] for W, V in zip(W_used, V_used)]
    changes = (slice(0, len(own)),)
    found = with_drift(_with_arm(found, A, apart, arm.covariance), A, changes, chi[own])
    felt = [W * weights[:, None] for W in W_used]
    return Fit(found, A, y, felt, chi, changes, weights)


def _beside_arm(
    robot: Robot,
    rows: Sequence[Array],
    chi: Array,
    own: NDArray[np.intp],
    places: Sequence[Array],
    weights: Array,
    before: Sequence[Array] | None = None,
) -> Design:
    """Return the design of [friction, load friction, loads] beside a known arm."""
    k = 10 * len(places)

    def design(x: Array | None, side: float) -> list[Array]:
        blocks = []
        for i, W in enumerate(rows):
            loads, load_terms = np.concatenate([W @ G for G in places], axis=2), None
            if x is not None:
                arm, now, coefficients = _rigid(chi, own), chi.copy(), x[len(own) : -k]
                now[own] += x[: len(own)]
                torque = W @ arm + loads @ x[-k:]
                load_terms = load_friction(
                    robot, W, tooth_load(robot, W, torque, now, coefficients, side)
                )
                if before is not None:
                    V = before[i]
                    torque = tooth_load(robot, V, V @ arm, chi, coefficients, side)
                    load_terms = load_terms - load_friction(robot, V, torque)
            blocks.append(_assemble([W[:, :, own]], load_terms, [loads], weights))
        return blocks

    return design


def _with_arm(
    found: Solution, A: Sequence[Array], felt: Sequence[Array], covariance: Array
) -> Solution:
    """
    Return a solution whose deviations include those of the arm's parameters.

    :param felt: for each run (M, n, b) how the torques felt the arm's parameters.
    :param covariance: (b, b) of these, NaN where a parameter was left out.
    """
    p, b = A[0].shape[2], felt[0].shape[2]
    Q, R = np.linalg.qr(np.concatenate([a.reshape(-1, p) for a in A]) @ found.basis)
    pulled = Q.T @ np.concatenate([W.reshape(-1, b) for W in felt])
    J = found.basis @ np.linalg.solve(R, pulled)
    known = np.isfinite(np.diag(covariance))
    of_arm = np.where(np.outer(known, known), np.nan_to_num(covariance), 0.0)
    return replace(found, covariance=found.covariance + J @ of_arm @ J.T)


def _rigid(chi: Array, own: NDArray[np.intp]) -> Array:
    """Return the parameters without friction and offset."""
    rigid = chi.copy()
    rigid[own] = 0.0
    return rigid


def _only(columns: Array, place: int, count: int) -> list[Array]:
    """Return columns for each of `count` recordings, zero but for one of them."""
    return [columns if r == place else np.zeros_like(columns) for r in range(count)]


def _assemble(
    first: Sequence[Array], load_terms: Array | None, last: Sequence[Array], weights: Array
) -> Array:
    parts = [*first, *([] if load_terms is None else [load_terms]), *last]
    return np.concatenate(parts, axis=2) * weights[:, None]
