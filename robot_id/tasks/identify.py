"""From measurements to parameters: the request and the result of an identification."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_id.blas_threads import one_blas_thread
from robot_id.methods.result import Result
from robot_id.methods.result_form import LEVELS

if TYPE_CHECKING:
    from robot_id.methods.registry import Method
    from robot_id.tasks.verdict.verdict import Remark
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from robot_id.data import Dataset, MappingLike
from robot_id.exceptions import OptionError, RobotIdError, TimeLimitError
from robot_id.methods import registry
from robot_id.methods.torque_free.servo_oe import ServoOe
from robot_id.progress import Progress, part_of, silent
from robot_id.regression.rows.prediction import Prediction
from robot_id.robot import Robot, load_robot
from robot_id.tasks import torque_free
from robot_id.tasks.checks.case import Case as Recording
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.checks.gate import detect, remarks
from robot_id.tasks.friction.preparation import PreparedFriction, prepare_friction
from robot_id.tasks.measurements import Data, implausible, load_for, require_torque
from robot_id.tasks.validation import Validation, validate
from robot_id.tasks.verdict.changes import changes
from robot_id.tasks.verdict.contradictions import contradictions
from robot_id.tasks.verdict.holdout import (
    FRACTION,
    REPEATED,
    Holdout,
    hold_out,
    without_holdout,
)
from robot_id.tasks.verdict.suggestions import suggestions
from robot_id.tasks.verdict.trial_rows import TrialRows
from robot_id.tasks.verdict.verdict import Case, inertia, judge

# A physically consistent robot that explains the data this much worse is not taken instead.
WORSE = 1.25


def consistent_method(
    method: Method, options: dict[str, Any], impossible: list[Remark]
) -> Method | None:
    """
    Return the method with physical=true, None where there is no reason for it.

    :param options: as given: who chose `physical` has chosen.
    :param impossible: remarks on M(q).
    """
    if not impossible or 'physical' in options or getattr(method, 'essential', False):
        return None
    if not hasattr(method, 'physical'):
        return None
    return replace(method, physical=True)  # type: ignore[type-var]


def better(first: Result, consistent: Result) -> Result:
    """Return the result to use, which says what happened."""
    what = 'relative error'
    before, after = first.relative_error_percent, consistent.relative_error_percent
    if np.isfinite(first.holdout_error_percent) and np.isfinite(consistent.holdout_error_percent):
        what = 'hold-out error'
        before, after = first.holdout_error_percent, consistent.holdout_error_percent
    figures = f'{what} {before:.3g} -> {after:.3g} %'
    better_judged = LEVELS.index(consistent.verdict) <= LEVELS.index(first.verdict)
    if after <= WORSE * before and better_judged:
        said = (
            'M(q) was not positive definite: fitted again with physical=true, '
            f'{figures}; physical=false keeps the first fit'
        )
        return replace(consistent, warnings=(said, *consistent.warnings))
    said = f'M(q) is not positive definite, and physical=true explains less: {figures}'
    return replace(first, warnings=(said, *first.warnings))


@dataclass(frozen=True)
class Request:
    """
    An identification to do.

    :param robot: the Robot, or a shipped name, a robot file or a URDF.
    :param data: the measurements, or the recordings to read.
    :param method: name of the method, see `methods.registry`.
    :param options: its options by key, texts or typed values.
    :param mapping: which columns are what: a name, a YAML file or its keys.
    :param others: recordings that the fit must not see, to predict their torques.
    :param holdout: fraction of the motion, or recordings, kept back to judge the fit; 0 for none.
    :param friction: friction terms of all joints, 'auto' for those that improve the error on
        left-out data; None for those of the robot file.
    :param check: look at the data before the fit (see `robot-id check`).
    """

    robot: Robot | str
    data: Data
    method: str = 'idim_wls'
    options: Mapping[str, Any] = field(default_factory=dict)
    mapping: MappingLike | None = None
    others: Data | None = None
    holdout: float | Data = FRACTION
    friction: str | None = None
    check: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.holdout, int | float) and not 0.0 <= self.holdout <= 0.5:
            raise OptionError(
                f'holdout: {self.holdout:g} must lie between 0 and 0.5, or name a recording',
                key='holdout',
                value=self.holdout,
                bound=0.5,
            )


@dataclass(frozen=True)
class Identification:
    """
    The result of an identification, with its data.

    :param robot: the Robot.
    :param dataset: the measurements, columns in the order of the robot's joints.
    :param result: the parameters.
    :param prediction: torques that they predict along these measurements.
    :param validation: errors on the other recordings, None without any.
    :param holdout: errors of a fit on blocks of every file, which it has not seen; None
        without.
    :param findings: what looks wrong in the measurements.
    """

    robot: Robot
    dataset: Dataset
    result: Result
    prediction: Prediction
    validation: Validation | None = None
    holdout: Holdout | None = None
    findings: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line each: what looks wrong in the data, then in the result."""
        validation = self.validation.warnings if self.validation else ()
        return (*self.findings, *self.result.warnings, *validation)


@one_blas_thread()
def identify(request: Request, progress: Progress = silent) -> Identification:
    """
    Read the measurements, check them, identify, and validate on the other recordings.

    :param progress: called with the fraction done; may raise to cancel.
    """
    method = registry.create(request.method, request.options)
    progress(0.0, 'loading the robot')
    robot = load_robot(request.robot)
    progress(0.02, 'reading the recording')
    dataset = load_for(robot, request.data, request.mapping, needs_torque=False)
    if request.method in registry.TORQUE_FREE:
        return _torque_free(request, method, robot, dataset, part_of(progress, 0.05, 1.0))
    able = ', '.join(registry.TORQUE_FREE)
    require_torque(dataset, f"method '{request.method}'", f'method {able}')
    others = load_for(robot, request.others, request.mapping) if request.others else None
    seen, recording = detect(robot, dataset) if request.check else ((), Recording(robot, dataset))
    findings = tuple(finding.line() for finding in seen) or implausible(robot, dataset)
    if others is not None:
        findings += implausible(robot, others)
    with _findings_named(seen):
        friction = prepare_friction(
            robot, dataset, method, request.friction, part_of(progress, 0.05, 0.1)
        )
        job = _Job(request, friction, dataset, recording, others, seen, findings)
        found = job.run(method, part_of(progress, 0.1, 0.8))
    consistent = consistent_method(method, dict(request.options), inertia(job.case(found)))
    if consistent is not None:
        found = _consistent(
            job, found, consistent, part_of(progress, 0.8, 1.0, 'a physically consistent robot')
        )
    progress(1.0, 'done')
    return found


@contextmanager
def _findings_named(seen: tuple[Finding, ...]) -> Iterator[None]:
    """Let a refusal to fit data that look wrong say what is wrong with them."""
    try:
        yield
    except (TimeLimitError, OptionError):
        raise
    except RobotIdError as error:
        if seen:
            error.add(f'check: {"; ".join(finding.line() for finding in seen)}')
        raise


@dataclass(frozen=True)
class _Job:
    """A request with its data read and checked, for one method or more."""

    request: Request
    friction: PreparedFriction
    dataset: Dataset
    recording: Recording
    others: Dataset | None
    seen: tuple[Finding, ...]
    findings: tuple[str, ...]

    def run(self, method: registry.Method, progress: Progress) -> Identification:
        """Fit, validate on the other recordings and on what is held out, and judge."""
        robot, dataset = self.friction.robot, self.dataset
        result = method.estimate(robot, dataset, part_of(progress, 0.0, 0.55, 'identifying'))
        result = self.friction.complete(result, given=self.request.friction is not None)
        prediction = result.prediction
        assert prediction is not None
        validation = None if self.others is None else validate(robot, result, self.others)
        result, holdout = _unseen(
            self.request, method, robot, dataset, result, part_of(progress, 0.55, 1.0)
        )
        # A mistake that is named already, such as a wrong sign, looks like a contradiction too.
        named = remarks(tuple(finding for finding in self.seen if not self._corrected(finding)))
        rows = None if named or not self.request.holdout else _trial_rows(robot, dataset, result)
        if rows is not None and not np.isfinite(result.holdout_error_percent):
            error = rows.error_percent(rows.left)
            result = replace(result, holdout_error_percent=error)
        found = Identification(
            robot, dataset, result, prediction, validation, holdout, self.findings
        )
        case = self.case(found)
        better = [] if rows is None else suggestions(rows, robot)
        tried = [one.after_percent for one in better if np.isfinite(one.after_percent)]
        changed = [] if rows is None else changes(rows, robot, min(tried, default=np.inf))
        verdict = judge(case, named or [*contradictions(case, self.recording), *changed])
        judged = replace(
            result,
            suggestions=() if changed else tuple(one.as_dict() for one in better),
            verdict=verdict.level,
            reasons=verdict.reasons,
            findings=tuple(finding.as_dict() for finding in self.seen),
        )
        return replace(found, result=judged)

    def _corrected(self, finding: Finding) -> bool:
        """Whether the fit has taken out what was found: a delay, unless one was given."""
        return finding.code == 'torque_delay' and 'torque_delay_s' not in self.request.options

    def case(self, found: Identification) -> Case:
        """Return what is judged."""
        error = found.result.holdout_error_percent
        return Case(
            found.robot, found.dataset, found.result, found.prediction, found.holdout, error
        )


def _trial_rows(robot: Robot, dataset: Dataset, result: Result) -> TrialRows | None:
    """Return rows to try what is not in the model, None where there are too few."""
    try:
        return TrialRows(robot, dataset, result)
    except (RobotIdError, np.linalg.LinAlgError):
        return None


def _consistent(
    job: _Job, found: Identification, method: registry.Method, progress: Progress
) -> Identification:
    """Return what a fit among consistent robots gives, or the first one, which says why."""
    try:
        again = job.run(method, progress)
    except TimeLimitError:
        raise
    except RobotIdError as error:
        said = f'physical=true was tried, since M(q) is not positive definite: {error}'
        warnings = (said, *found.result.warnings)
        return replace(found, result=replace(found.result, warnings=warnings))
    result = better(found.result, again.result)
    return replace(again if result.physical else found, result=result)


def _unseen(
    request: Request,
    method: registry.Method,
    robot: Robot,
    dataset: Dataset,
    result: Result,
    progress: Progress,
) -> tuple[Result, Holdout | None]:
    """Return the result with its error on unseen data, and what was kept back for it."""
    given = request.holdout
    if not given:
        return result, None
    if not isinstance(given, int | float):
        kept = load_for(robot, given, request.mapping)
        error = validate(robot, result, kept, progress=progress).torque_relative_error_percent
        return replace(result, holdout_error_percent=error), None
    try:
        holdout = hold_out(method, robot, dataset, result, given, progress)
    except TimeLimitError:
        raise
    except RobotIdError as error:
        notes = [*result.extras.get('data_notes', []), without_holdout(error)]
        return replace(result, extras=result.extras | {'data_notes': notes}), None
    warnings = (*result.warnings, REPEATED) if holdout.repeated else result.warnings
    return replace(result, holdout_error_percent=holdout.error_percent, warnings=warnings), holdout


def _torque_free(
    request: Request, method: registry.Method, robot: Robot, dataset: Dataset, progress: Progress
) -> Identification:
    """Identify from positions alone."""
    assert isinstance(method, ServoOe)
    if request.friction is not None:
        method = replace(method, friction=request.friction)
    holdout, others = request.holdout, None
    if not isinstance(holdout, int | float):
        holdout = load_for(robot, holdout, request.mapping, needs_torque=False)
    if request.others:
        others = load_for(robot, request.others, request.mapping, needs_torque=False)
    seen = detect(robot, dataset)[0] if request.check else ()
    lines = tuple(finding.line() for finding in seen) or implausible(robot, dataset)
    result, prediction = torque_free.estimate(
        robot, method, dataset, holdout, remarks(seen), progress
    )
    named = tuple(finding.as_dict() for finding in seen)
    validation = None if others is None else validate(robot, result, others)
    result = replace(result, findings=named)
    return Identification(robot, dataset, result, prediction, validation, findings=lines)
