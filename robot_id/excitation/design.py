"""An exciting motion for a robot: from its description to the motion and its predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from robot_id.blas_threads import one_blas_thread
from robot_id.data.dataset import Dataset
from robot_id.exceptions import DescriptionError, OptionError
from robot_id.excitation.assumed_drives import NOTE, drives_assumed
from robot_id.excitation.clearance import Clearance
from robot_id.excitation.criteria import CRITERIA, criterion_of
from robot_id.excitation.deviations import Deviations, expected_values, weights_of_parameters
from robot_id.excitation.load import deviations_for, load_columns
from robot_id.excitation.motion_basis import make_family
from robot_id.excitation.objective import Figures, Objective
from robot_id.excitation.recorded import Recorded, recorded
from robot_id.excitation.search import SearchResult, search
from robot_id.json_numbers import finite_or_none
from robot_id.progress import Progress, silent
from robot_id.ranges import Frequency, check
from robot_id.robot import Robot
from robot_id.trajectory.limits import MotionLimits, motion_limits
from robot_id.trajectory.trajectory import Array, Trajectory

SCHEMA = 1


@dataclass(frozen=True)
class ExcitationOptions:
    """
    The kind of motion, and the effort of the search.

    :param kind: 'fourier' or 'quintic'.
    :param seconds: length of the motion.
    :param order: harmonics or polynomials; None picks one that suits the length.
    :param criterion: a key of CRITERIA.
    :param budget_s: wall seconds of the search.
    :param target: end the search early once the criterion is no larger; 0 uses all the time.
    :param evaluations: of the criterion per worker; replaces the seconds and makes the search
        repeatable.
    :param workers: threads.
    :param seed: of the random starts.
    :param fraction: share of every limit that the motion may use.
    :param limits: values that replace those of the robot, under 'joint.quantity'.
    :param joint_weights: (n,) weights of the joints' rows of W; None weights all alike.
    :param parameter_floor: see `weights_of_parameters`.
    :param torque_std: (n,) torque noise for the predicted deviations; None takes the robot file's.
    :param rate_hz: at which the torques will be measured.
    :param purpose: 'arm' for all parameters, 'payload' for those of a load on the last link.
    """

    kind: str = 'fourier'
    seconds: float = 10.0
    order: int | None = None
    criterion: str = 'determinant'
    budget_s: float = 60.0
    evaluations: int | None = None
    target: float = 0.0
    workers: int = 2
    seed: int = 0
    fraction: float = 0.9
    limits: Mapping[str, float] = field(default_factory=dict)
    joint_weights: tuple[float, ...] | None = None
    parameter_floor: float = 0.02
    torque_std: tuple[float, ...] | None = None
    rate_hz: Frequency = 1000.0
    purpose: str = 'arm'

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class Rehearsal:
    """
    The judgement on a simulated identification.

    :param verdict: usable, caution or do_not_use.
    :param reasons: one line each.
    """

    verdict: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Excitation:
    """
    The motion and how exciting it is.

    :param search: the motion, its figures and those before the optimisation.
    :param deviations: predicted for the torque noise.
    :param clearance_m: smallest distance between links or to the floor, None where not checked.
    :param notes: one line for each assumption and each check that could not be made.
    :param prediction: where the deviations come from: 'torque noise' alone, or a 'rehearsal'.
    :param after_s: seconds of the recordings that the motion adds to; figures and deviations are
        those of both together.
    :param rehearsal: verdict on the rehearsal and its reasons, None where there was none.
    """

    robot: str
    joint_names: tuple[str, ...]
    options: ExcitationOptions
    limits: MotionLimits
    search: SearchResult
    deviations: Deviations
    torque_std: Array
    clearance_m: float | None
    notes: tuple[str, ...]
    prediction: str = 'torque noise'
    after_s: float = 0.0
    rehearsal: Rehearsal | None = None

    @property
    def trajectory(self) -> Trajectory:
        """The motion."""
        return self.search.trajectory

    def __repr__(self) -> str:
        known = len(self.deviations.identified())
        return (
            f'Excitation({self.robot}: {self.trajectory.kind}, {self.trajectory.duration:g} s, '
            f'condition number {self.search.figures["condition"]:.3g}, {known} of '
            f'{len(self.deviations.names)} parameters below 10 %)'
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form (non-finite numbers become null)."""
        found = self.search
        peak = self.trajectory.extremes()
        return {
            'schema': SCHEMA,
            'robot': self.robot,
            'kind': self.trajectory.kind,
            'seconds': self.trajectory.duration,
            'criterion': self.options.criterion,
            'purpose': self.options.purpose,
            **_figures(found.figures),
            'torque_share': finite_or_none(found.figures.torque_share),
            'clearance_m': None if self.clearance_m is None else finite_or_none(self.clearance_m),
            'before': _figures(found.before),
            'random_motions': found.random_motions,
            'evaluations': found.evaluations,
            'elapsed_s': found.elapsed_s,
            'interrupted': found.interrupted,
            'torque_std': self.torque_std.tolist(),
            'prediction': self.prediction,
            'after_s': self.after_s,
            'rehearsal': None if self.rehearsal is None else asdict(self.rehearsal),
            'parameters': [
                {
                    'name': name,
                    'expected': finite_or_none(value),
                    'std': finite_or_none(std),
                    'percent_std': finite_or_none(percent),
                }
                for name, value, std, percent in zip(
                    self.deviations.names,
                    self.deviations.expected,
                    self.deviations.std,
                    self.deviations.percent,
                )
            ],
            'joints': [
                {
                    'name': name,
                    'lower': float(peak.lower[j]),
                    'upper': float(peak.upper[j]),
                    'velocity': float(peak.velocity[j]),
                    'acceleration': float(peak.acceleration[j]),
                }
                for j, name in enumerate(self.joint_names)
            ],
            'notes': list(self.notes),
            'trajectory': self.trajectory.to_spec(),
        }


def make_objective(
    robot: Robot,
    options: ExcitationOptions,
    clearance: Clearance | None = None,
    known: Recorded | None = None,
) -> tuple[Objective, list[str]]:
    """Return the objective of the search, and notes on what it assumes."""
    limits = motion_limits(robot, options.fraction, options.limits)
    family = make_family(options.kind, options.seconds, options.order)
    criterion = criterion_of(options.criterion)
    notes = list(limits.notes)
    expected: Array | None = None
    parameter_weights = np.ones(len(robot.base))
    try:
        expected, source = expected_values(robot)
        parameter_weights = weights_of_parameters(robot, expected, options.parameter_floor)
        notes.append(
            f'expected parameters from {source}; each counts no less than '
            f'{options.parameter_floor:g} of the largest of its kind on its link'
        )
        if not robot.description.truth and not robot.description.a_priori:
            # Of these torques the drives must be capable, and this robot is rehearsed.
            expected = expected + drives_assumed(robot, expected)
            notes.append(NOTE)
    except DescriptionError:
        if criterion.weighted:
            raise
        notes.append('no expected parameters: Phi is W, torques are not predicted')
    if not np.all(np.isfinite(limits.torque)):
        names = [n for n, t in zip(robot.joint_names, limits.torque) if not np.isfinite(t)]
        notes.append(f'no torque limit: {", ".join(names)}')
    columns = None
    if options.purpose == 'payload':
        load = load_columns(robot, parameter_weights)
        columns, parameter_weights = load.C, load.sizes
        notes.append(
            f'for a load on the last link: {load.loads} of its 10 parameters can be identified '
            'separately, beside the friction'
        )
    objective = Objective(
        robot,
        family,
        limits,
        criterion.name,
        parameter_weights,
        _joint_weights(robot, options.joint_weights),
        expected,
        clearance,
        samples=_samples(robot, options, family.size),
        columns=columns,
        known=known,
    )
    return objective, notes


@one_blas_thread()
def excite(
    robot: Robot,
    options: ExcitationOptions | None = None,
    clearance: Clearance | None = None,
    progress: Progress = silent,
    after: Dataset | None = None,
) -> Excitation:
    """
    Find an exciting motion within the robot's limits and predict what it will identify.

    :param clearance: of the links, or None to leave collisions unchecked (which is then noted).
    :param after: recordings that one has: the motion is best together with them.
    """
    options = options or ExcitationOptions()
    known = None
    if after is not None:
        known = recorded(after.select(robot.joint_names), robot.limits.velocity)
    objective, notes = make_objective(robot, options, clearance, known)
    if known is not None:
        notes.append(
            f'all figures are those of {known.seconds:.3g} s of recordings and the motion'
        )
    noise, source = _torque_noise(robot, options.torque_std, objective.limits)
    notes.append(source)
    found = search(
        objective,
        options.budget_s,
        options.seed,
        options.workers,
        progress,
        options.target,
        options.evaluations,
    )
    if not found.figures[objective.criterion.name] < found.before[objective.criterion.name]:
        notes.append(
            f'not optimised: the best of {found.random_motions} random motions, as the search had '
            'no time to improve it; give a larger budget'
        )
    reference = found.trajectory.sampled(options.rate_hz)
    distance = None
    if clearance is None:
        notes.append('collisions were not checked: no geometry, or switched off')
    else:
        every = max(1, round(options.rate_hz / 200.0))
        distance, pair = clearance.worst(reference.position[::every])
        notes += [*clearance.notes, f'smallest clearance {distance:.3f} m: {pair}']
    return Excitation(
        robot.name,
        robot.joint_names,
        options,
        objective.limits,
        found,
        deviations_for(options.purpose, robot, reference, noise, objective.expected, known),
        noise,
        distance,
        tuple(notes),
        after_s=0.0 if known is None else known.seconds,
    )


def _joint_weights(robot: Robot, given: tuple[float, ...] | None) -> Array:
    weights = np.ones(robot.n) if given is None else np.array(given, float)
    if weights.shape != (robot.n,) or not np.all(weights > 0.0):
        raise OptionError(f'joint weights must be {robot.n} positive numbers, got {given}')
    return weights


def _samples(robot: Robot, options: ExcitationOptions, size: int) -> int:
    """Return enough samples for the fastest part of the motion and for all parameters."""
    return int(max(100, 4 * size, 4 * len(robot.base) // robot.n))


def _torque_noise(
    robot: Robot, given: tuple[float, ...] | None, limits: MotionLimits
) -> tuple[Array, str]:
    """Return (n,) the noise for the predicted deviations, and where it came from."""
    if given is not None:
        values = np.array(given, float)
        if values.size == 1:
            values = np.full(robot.n, float(values.ravel()[0]))
        if values.shape != (robot.n,) or not np.all(values > 0.0):
            raise OptionError(f'the torque noise must be 1 or {robot.n} positive numbers')
        return values, 'torque noise as given'
    own = robot.description.noise.torque_std
    if own is not None and min(own) > 0.0:
        return np.array(own), 'torque noise of the robot file'
    if np.all(np.isfinite(limits.torque)):
        return 0.01 * limits.torque, 'torque noise not known: 1 % of the torque limits assumed'
    return np.ones(robot.n), 'torque noise not known: 1 N.m (or N) assumed'


def _figures(figures: Figures) -> dict[str, float | None]:
    return {criterion.key: finite_or_none(figures[name]) for name, criterion in CRITERIA.items()}
