"""The load of a robot from recordings, by the strategy that suits the data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.blas_threads import one_blas_thread
from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError, OptionError, did_you_mean
from robot_id.methods.friction_fit import fit_friction, is_linear
from robot_id.methods.parameters import robot_for
from robot_id.methods.result import Result
from robot_id.progress import Progress, part_of, silent
from robot_id.regression.preprocessing.resolve import resolve
from robot_id.regression.solvers.triangular import smallest_solution, triangle
from robot_id.robot import Robot
from robot_id.robot.payload import payload_columns
from robot_id.tasks.checks.gate import CERTAIN, FATAL, detect
from robot_id.tasks.payload.attachment import Attachment, KnownPart, last_link
from robot_id.tasks.payload.consistency import nearest_consistent, squared_distance
from robot_id.tasks.payload.gears import drift_notes, without_load_terms
from robot_id.tasks.payload.result import (
    STRATEGIES,
    PayloadIdentification,
    PayloadResult,
    load_torques,
    of_standard,
)
from robot_id.tasks.payload.rows import TooShort, refuse_same
from robot_id.tasks.payload.strategies import Fit, subtracted, together, with_model
from robot_id.tasks.payload.swapped import SURE, by_chance, refuse_swapped

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# A physically consistent body this many deviations from the fit is said to be another.
MOVED = 0.1
# A centre farther off than this is no load of an arm's flange, m.
FAR = 0.5
_NEEDS = {
    'known_arm': 'the arm, identified without load',
    'subtract': 'a recording without load',
}
# Another link is named where it leaves this share of the power that the given one leaves.
DECISIVE = 0.7


def other_link(named: Robot, robot: Robot, fit: Fit, place: Attachment, index: int) -> list[str]:
    """
    Return one line where a load on another link explains the torques decisively better.

    :param named: the robot whose bodies have names.
    :param index: which loaded recording; only the first is looked at.
    """
    bodies = range(len(robot.inertial_index))
    if index or len(robot.inertial_index) < 2:
        return []
    p = fit.A[0].shape[2]
    before = p - 10 * len(fit.changes)
    rest = [A[:, :, [*range(before), *range(before + 10, p)]] for A in fit.A]
    each = [payload_columns(robot, body) for body in bodies]
    everything = [
        np.concatenate([own, W @ np.concatenate(each, axis=1), y[:, :, None]], axis=2)
        for own, W, y in zip(rest, fit.rows, fit.y)
    ]
    width = everything[0].shape[2]
    R = triangle(np.concatenate([part.reshape(-1, width) for part in everything]))
    common = list(range(p - 10))
    left = {}
    for body in bodies:
        own = [*common, *range(p - 10 + 10 * body, p + 10 * body)]
        left[body] = _residual(R[:, own], R[:, -1])
    best = min(left, key=lambda body: left[body])
    if left[best] >= DECISIVE * left[place.body]:
        return []
    name = named.kinematics.body_names[best]
    gain = 100.0 * (1.0 - left[best] / left[place.body])
    return [
        f"a load on the link of joint '{name}' leaves {gain:.0f} % less of the torques "
        f'unexplained than one on {place.name}: is the flange frame right?'
    ]


def _residual(A: Array, y: Array) -> float:
    return float(np.sum((y - A @ smallest_solution(np.column_stack([A, y]))) ** 2))


@dataclass(frozen=True)
class PayloadRequest:
    """
    A load to be identified.

    :param robot: without load.
    :param loaded: recordings, each with another load.
    :param unloaded: recording without it; not needed with `arm`.
    :param arm: identified parameters of the robot without load.
    :param places: frames that carry loads at the same time; empty for the last link.
    :param known: part of the load at the first place that is not to be identified.
    :param strategy: one of STRATEGIES; None chooses by the data.
    :param check: look at the recordings before the fit (see `robot-id check`).
    """

    robot: Robot
    loaded: tuple[Dataset, ...]
    unloaded: Dataset | None = None
    arm: Result | None = None
    places: tuple[Attachment, ...] = ()
    known: KnownPart | None = None
    strategy: str | None = None
    check: bool = True

    def __post_init__(self) -> None:
        if self.unloaded is None and self.arm is None:
            raise OptionError(
                'payload: a recording without load is needed, or the arm, identified without load',
                key='unloaded',
            )
        if self.strategy is not None:
            if self.strategy not in STRATEGIES:
                raise OptionError(
                    f"strategy: '{self.strategy}' is not a choice, "
                    f'{did_you_mean(self.strategy, STRATEGIES)}',
                    key='strategy',
                    value=self.strategy,
                    bound=tuple(STRATEGIES),
                )
            missing = self.arm if self.strategy == 'known_arm' else self.unloaded
            if missing is None:
                needed = _NEEDS.get(self.strategy, _NEEDS['subtract'])
                raise OptionError(
                    f'strategy {self.strategy} needs {needed}', key='strategy', value=self.strategy
                )
        bodies = [place.body for place in self.places]
        if len(set(bodies)) < len(bodies):
            raise OptionError(
                'two loads hang on the same link: only both together can be identified'
            )


@one_blas_thread()
def identify_payload(
    robot: Robot,
    loaded: Dataset,
    unloaded: Dataset | None = None,
    arm: Result | None = None,
    attachment: Attachment | None = None,
    strategy: str | None = None,
) -> PayloadResult:
    """Return the one load of one recording, see `PayloadRequest`; the check is left out."""
    places = (attachment,) if attachment else ()
    return identify_payloads(
        PayloadRequest(robot, (loaded,), unloaded, arm, places, None, strategy, check=False)
    ).loads[0]


@one_blas_thread()
def identify_payloads(
    request: PayloadRequest, progress: Progress = silent
) -> PayloadIdentification:
    """Return mass, centre and inertia of the loads that hang on a robot."""
    names = request.robot.joint_names
    loaded = tuple(data.select(names) for data in request.loaded)
    unloaded = None if request.unloaded is None else request.unloaded.select(names)
    request = replace(
        request,
        loaded=loaded,
        unloaded=unloaded,
        places=request.places or (last_link(request.robot),),
    )
    named = [('loaded', data) for data in loaded]
    refuse_same(named if unloaded is None else [('unloaded', unloaded), *named])
    progress(0.0, 'looking at the recordings')
    findings = _findings(request, part_of(progress, 0.0, 0.3)) if request.check else ()
    progress(0.3, 'fitting')
    strategy, reason, fits, robot = _choose(request)
    progress(0.8, 'finding the nearest bodies')
    loads: list[PayloadResult] = []
    notes: list[str] = []
    count = len(request.places)
    for k, data in enumerate(request.loaded):
        fit = fits[k] if len(fits) > 1 else fits[0]
        index = k if len(fits) == 1 else 0
        notes += _notes(robot, fit, index)
        for i, place in enumerate(request.places):
            first = -10 * count * (len(request.loaded) if len(fits) == 1 else 1)
            start = first + 10 * (count * index + i)
            known = request.known if i == 0 else None
            load = _load(fit, start, place, strategy, known)
            loads.append(replace(load, recording=data.source))
        if count == 1:
            notes += other_link(request.robot, robot, fit, request.places[0], index)
    progress(1.0, 'done')
    return PayloadIdentification(
        tuple(loads), strategy, reason, tuple(findings), tuple(dict.fromkeys(notes))
    )


def _choose(request: PayloadRequest) -> tuple[str, str, list[Fit], Robot]:
    """Return the strategy, its reason, one fit of all recordings or one each, and the robot."""
    strategy = request.strategy or ('known_arm' if request.unloaded is None else 'joint')
    reason = 'as requested' if request.strategy else ''
    if strategy == 'joint':
        try:
            fits, robot = _fit(request, 'joint')
            return 'joint', reason or 'there are recordings with and without load', fits, robot
        except TooShort as error:
            if request.strategy:
                raise
            strategy = 'known_arm' if request.arm is not None else 'subtract'
            reason = f'not enough for all parameters of the arm ({error})'
            try:
                fits, robot = _fit(request, strategy)
            except DataError:
                raise error from None
            return strategy, reason, fits, robot
    fits, robot = _fit(request, strategy)
    return strategy, reason or 'there is no recording without load', fits, robot


def _fit(request: PayloadRequest, strategy: str) -> tuple[list[Fit], Robot]:
    if strategy == 'known_arm':
        assert request.arm is not None
        robot = robot_for(request.robot, request.arm)
        G = [place.columns(robot) for place in request.places]
        return [with_model(robot, data, request.arm, G) for data in request.loaded], robot
    assert request.unloaded is not None
    robot = without_load_terms(request.robot)
    if not is_linear(robot):
        resolved = resolve(robot, request.unloaded)
        robot, _ = fit_friction(robot, request.unloaded, resolved.processing, resolved.slope)
    G = [place.columns(robot) for place in request.places]
    if strategy == 'joint':
        return [together(robot, request.unloaded, request.loaded, G)], robot
    return [subtracted(robot, request.unloaded, data, G) for data in request.loaded], robot


def _findings(request: PayloadRequest, progress: Progress) -> list[str]:
    """Return what the check finds in each recording; refuse recordings of another robot."""
    found: list[str] = []
    named = [('loaded', data) for data in request.loaded]
    if request.unloaded is not None:
        named.insert(0, ('unloaded', request.unloaded))
    for k, (name, data) in enumerate(named):
        for finding in detect(request.robot, data, part_of(progress, k / len(named), 1.0))[0]:
            line = f'{name} recording {data.source}: {finding.line()}'
            if finding.code in FATAL and finding.certainty >= CERTAIN:
                raise DataError(f'{line}; correct it first, or skip the check')
            found.append(line)
    return found


def _notes(robot: Robot, fit: Fit, index: int) -> list[str]:
    """Return notes on what changed between the recordings beside the load."""
    place = fit.changes[index]
    deviations = np.sqrt(np.maximum(np.diag(fit.solution.covariance)[place], 0.0))
    return drift_notes(robot, fit.chi, fit.solution.x[place], deviations)


def _load(
    fit: Fit, start: int, place: Attachment, strategy: str, known: KnownPart | None
) -> PayloadResult:
    """Return the load whose parameters begin at a place of the unknowns, counted from the end."""
    size = len(fit.solution.x)
    part = slice(size + start, size + start + 10)
    p, determined = fit.solution.x[part].copy(), fit.solution.determined[part]
    covariance = fit.solution.covariance[part, part].copy()
    notes: list[str] = []
    refuse_swapped(p, covariance, determined, strategy)
    if known is not None:
        p -= known.standard
        covariance += np.diag(known.deviations**2)
        notes.append(f'without the known part, {known.name}')
        if determined[9] and p[9] < -SURE * np.sqrt(covariance[9, 9]):
            raise DataError(
                f'the known part ({known.standard[9]:.3g} kg) is heavier than all of the load '
                f'({p[9] + known.standard[9]:.3g} kg)'
            )
    consistent = nearest_consistent(p, covariance, determined)
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    off, most = squared_distance(p, consistent, covariance, determined), by_chance(determined)
    if off > most:
        notes.append(
            f'no body explains the torques: the nearest one is off by {off:.3g} squared standard '
            f'deviations, chance allows {most:.3g}; check the recordings before it is used'
        )
    elif np.any((np.abs(consistent - p) > MOVED * deviations)[determined]):
        notes.append(
            'the unconstrained fit is not physically consistent: the nearest consistent one stands'
        )
    found = of_standard(consistent, covariance, determined, strategy, place.name, tuple(notes))
    found = replace(found, torques=load_torques(fit, part))
    off = float(np.linalg.norm(np.nan_to_num(found.values[1:4])))
    doubt = 2.0 * float(np.linalg.norm(np.nan_to_num(found.deviations[1:4])))
    if 'mass' in found.determined and off > FAR + doubt:
        text = f'the centre lies {off:.2g} m off {place.name}: is that the frame of the flange?'
        found = replace(found, notes=(*found.notes, text))
    return found
