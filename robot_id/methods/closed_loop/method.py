"""What the methods share that simulate the closed loop: options, start, result."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.blas_threads import one_blas_thread
from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.exceptions import IdentificationError, OptionError, SimulationError
from robot_id.methods.closed_loop.assumed_loop import assumed_loop
from robot_id.methods.closed_loop.consistent import consistent_start
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.methods.closed_loop.torque import torques_on_reference
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.methods.outcome import Deviations, Outcome, assemble, confined
from robot_id.methods.parameters import load_parameters
from robot_id.methods.result import Result
from robot_id.progress import Progress, part_of, silent
from robot_id.ranges import Range, Seconds, Slope, Tolerance, check
from robot_id.regression.preprocessing.alignment import Alignment, align
from robot_id.regression.preprocessing.options import ResolvedOptions, Rest, resolve_for_loop
from robot_id.regression.preprocessing.rest_band import top_speeds
from robot_id.regression.rows.prediction import predict
from robot_id.regression.uncertainty.residuals import warn_if_correlated, whiteness
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Periods of the simulated loop in a sample of the data: beyond it a simulation takes for ever.
FASTEST_LOOP = 200.0
# Bandwidths of an assumed loop and rates of its controller, relative to what was assumed.
TRIED = ((1.0, 1.0), (1.0, 4.0), (0.5, 2.0), (0.25, 2.0), (0.25, 4.0))
# Slope of the friction beside an assumed loop, times the middle top speed: a steeper one would
# make the simulation of light joints stiff.
SOFT_SLOPE = 300.0


@dataclass(frozen=True)
class LoopMethod(ABC):
    """
    Options of all methods that simulate the closed loop.

    :param processing: how torques and rows are decimated (and measured positions filtered).
    :param loop: which loop of the robot file is simulated; where the file has none, one is fitted
        to reference and position, or a stiff one is assumed, as where the data have no reference.
    :param start: 'regular' (0 but a unit inertia per joint), 'a_priori' (the robot file's values),
        'wls' (the IDIM-WLS estimate), the path of a result (.json), or 'auto': regular, but wls
        where the loop is not one of the robot file.
    :param friction: Coulomb friction in the rows: 'simulated' as the data say, or sign(dq).
    :param coulomb_slope: alpha of 2/pi atan(alpha dq) in plant and rows; none: that of the robot
        file in the plant, in the rows the one that the data show between the reversals.
    :param bandwidth_factor: scale of the simulated loop's bandwidth (section 4.5 of paper 000).
    :param iterations: the most iterations.
    :param tolerance: converged when the residual changes by less than this, relative to itself ...
    :param settled: ... and no parameter by more than this many of its deviations.
    :param physical: only physically consistent parameters, with standard parameters.
    :param deviations: 'robust': from the residual as it is, correlated in time and between the
        joints; 'bootstrap': from blocks of rows drawn again and again; 'classical': as if it were
        white noise.
    :param time_limit_s: give up after this time [s].
    """

    name: ClassVar[str] = ''
    _given: ClassVar[Array | None] = None
    # Whether measured motion and measured torques meet in one equation: then their offset counts.
    measured_torque: ClassVar[bool] = False
    # Whether its residual is one of torques: at rest real friction holds any torque, so these rows
    # are left out where the data do not say that friction is as smooth as the plant's.
    compares_torques: ClassVar[bool] = True
    processing: Processing = field(default_factory=Processing)
    loop: str = 'default'
    start: str = 'auto'
    friction: Literal['simulated', 'sign'] = 'simulated'
    coulomb_slope: Slope | None = None
    bandwidth_factor: Annotated[float, Range(1e-3, 1e3)] = 1.0
    iterations: Annotated[int, Range(1, 1000)] = 20
    tolerance: Tolerance = 0.01
    settled: Tolerance = 0.5
    physical: bool = False
    deviations: Deviations = 'robust'
    time_limit_s: Seconds = 300.0

    def __post_init__(self) -> None:
        check(self)

    @property
    def keeps_loop(self) -> bool:
        """Whether the loop of the robot file is simulated also without a reference."""
        return True

    @abstractmethod
    def solve(self, problem: LoopProblem, start: Array, progress: Progress) -> Outcome:
        """Find the parameters."""

    def solved(
        self, problem: LoopProblem, start: Array, known: bool, progress: Progress
    ) -> tuple[LoopProblem, Outcome]:
        """
        Return what was found, with the problem that it was found for.

        :param known: whether the loop is one of the robot file.
        """
        return problem, self.solve(problem, start, progress)

    def simulable(self, problem: LoopProblem, start: Array) -> LoopProblem:
        """Return the problem with an assumed loop that can be simulated."""
        return simulable(problem, start)

    @one_blas_thread()
    def estimate(self, robot: Robot, dataset: Dataset, progress: Progress = silent) -> Result:
        """
        Identify the base parameters of a robot.

        :param dataset: measurements with at least the robot's joints, in any order.
        :param progress: called with the fraction done.
        """
        started = time.perf_counter()
        dataset = dataset.select(robot.joint_names)
        recorded = all(run.reference_position is not None for run in dataset.runs)
        known = self._known(robot, recorded)
        assumed = None if known else assumed_loop(robot, dataset)
        loop = robot.loop(self.loop) if assumed is None else assumed.loop
        self._check_rate(loop.rate_hz, dataset.rate)
        alignment = align(robot, dataset, self.coulomb_slope or 'auto')
        slope = alignment.slope or self._slope(robot, dataset, known)
        # Without a reference the simulated loop follows the measured position.
        measured = self.measured_torque or not recorded
        row_slope = self._row_slope(alignment, slope, known)
        derived = self._derived(robot, dataset, alignment, row_slope, measured)
        processing = derived.processing
        chosen = self.automatic_start(robot, known) if self.start == 'auto' else self.start
        start = self._given
        if start is None:
            start = self.starting_point(chosen, robot, dataset, part_of(progress, 0.0, 0.05))
        problem = LoopProblem(
            robot,
            dataset if measured else torques_on_reference(dataset, self.processing, alignment),
            processing,
            loop,
            slope,
            row_slope,
            self.bandwidth_factor,
            0.0 if assumed is None else assumed.delay_s,
            self.time_limit_s,
            kind='known' if known else 'assumed',
        )
        problem.reversals.fine = alignment.fine
        problem.offset_std = alignment.offset_std(self.processing) if measured else 0.0
        if assumed is not None:
            problem.warnings += (assumed.statement,)
            problem = self.simulable(problem, start)
        problem, found = self.solved(problem, start, known, part_of(progress, 0.05, 1.0))
        correlated: tuple[str, ...] = ()
        if self.deviations == 'classical':
            judged = [whiteness([residual]) for residual in found.residuals or ()]
            correlated = warn_if_correlated(judged, robot.joint_names)
        found = replace(
            found,
            torques=np.array([np.linalg.norm(Y) for Y in problem.joint_rows(problem.torque)]),
            iterations=len(found.history),
            simulations=problem.simulations,
            options={'coulomb_slope': problem.row_slope, 'start': chosen},
            warnings=problem.warnings + correlated,
            extras={'equations': int(problem.used.sum()), **found.extras},
        )
        if self.physical:
            found = confined(found, robot)
        prediction = predict(robot, found.chi, dataset, processing, problem.row_slope)
        progress(1.0, 'done')
        return assemble(self, robot, dataset, derived, found, prediction, started)

    def _known(self, robot: Robot, recorded: bool) -> bool:
        """Whether the simulated loop is one of the robot file."""
        own = 'default' in robot.description.loops and (recorded or self.keeps_loop)
        return self.loop != 'default' or own

    def _derived(
        self,
        robot: Robot,
        dataset: Dataset,
        alignment: Alignment,
        slope: float | None,
        measured: bool,
    ) -> ResolvedOptions:
        """
        Return how the rows are made.

        :param measured: measured motion and measured torques meet in one equation.
        """
        aligned = alignment.apply(self.processing)
        processing, reasons = aligned if measured else (self.processing, {})
        rest: Rest = 'unknown' if alignment.slope is None else 'known'
        rest = rest if self.compares_torques else 'keep'
        derived = resolve_for_loop(processing, dataset, robot, slope, measured, rest)
        reasons = {**derived.reasons, **reasons}
        return ResolvedOptions(derived.processing, reasons, alignment.law_doubt)

    def _row_slope(self, alignment: Alignment, slope: float, known: bool) -> float | None:
        """Return alpha of the friction in the rows, that of a known plant if no law is seen."""
        if self.friction == 'sign':
            return None
        return slope if known and alignment.slope is None else alignment.row_slope

    def _check_rate(self, loop_hz: float, data_hz: float) -> None:
        if loop_hz > FASTEST_LOOP * data_hz:
            raise IdentificationError(
                f"the data have {data_hz:.3g} samples per second, but the loop '{self.loop}' "
                f"runs at {loop_hz:.4g} Hz: check the unit of time, or set 'loop' to another one"
            )

    def _slope(self, robot: Robot, dataset: Dataset, known_loop: bool) -> float:
        """Return alpha of the friction in the plant."""
        given = self.coulomb_slope or robot.description.identification_slope
        if given is not None:
            return given
        slope = robot.description.coulomb_slope
        if known_loop:
            return slope
        return min(slope, SOFT_SLOPE / max(float(np.median(top_speeds(dataset))), 1e-9))

    def starting_from(self, chi: Array) -> LoopMethod:
        """Return the same method, its iterations starting from (b,) values."""
        made = replace(self)
        object.__setattr__(made, '_given', chi)
        return made

    def automatic_start(self, robot: Robot, known: bool) -> str:
        """
        Return the start that 'auto' stands for.

        :param known: whether the loop is one of the robot file.
        """
        return 'regular' if known else 'wls'

    def starting_point(
        self, start: str, robot: Robot, dataset: Dataset, progress: Progress = silent
    ) -> Array:
        """(b,) where the iterations start."""
        if start == 'regular':
            return robot.regular_start()
        if start == 'a_priori':
            return robot.a_priori()
        if start == 'wls':
            wls = IdimWls(processing=self.processing).estimate(robot, dataset, progress)
            motions = [run.position for run in dataset.runs]
            return consistent_start(robot, wls.values, motions, wls.covariance)
        if not Path(start).suffix:
            raise OptionError(
                f"start: '{start}' is none of regular, a_priori, wls, auto, a .json file",
                key='start',
            )
        return load_parameters(robot, start)


def simulable(problem: LoopProblem, start: Array) -> LoopProblem:
    """
    Return the problem with an assumed loop that can be simulated.

    A light joint beside heavy ones, or one whose inertia changes much with the posture, needs a
    faster controller than its own bandwidth asks for, or a slower loop. Parameters that no loop
    holds, such as those with negative friction, have the limit of a stiff one: a rigid loop.
    """
    for slower, faster in TRIED:
        update = {
            'rate_hz': faster * problem.loop.rate_hz,
            'bandwidth': tuple(slower * wn for wn in problem.loop.bandwidth),
        }
        tried = problem.with_loop(problem.loop.model_copy(update=update))
        try:
            tried.simulate(start)
        except SimulationError:
            continue
        if slower < 1.0:
            tried.warnings += (
                'the assumed loop cannot be simulated with the start parameters; its bandwidth '
                f'is reduced to {slower:g} times',
            )
        return tried
    rigid = problem.rigid
    if rigid is None:
        return problem
    rigid.warnings += (rigid_statement('cannot be simulated with the start parameters'),)
    return rigid


def rigid_statement(why: str) -> str:
    """Return the line that says that a rigid loop is taken."""
    return (
        f'the assumed loop {why}: a perfectly stiff loop replaces it, which moves along the '
        'filtered position itself (little is gained over idim_wls)'
    )
