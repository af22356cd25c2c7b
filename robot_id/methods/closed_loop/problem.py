"""
Measurements beside the simulated closed loop that should reproduce them.

The methods of papers 000 and 001 all simulate the direct model with the robot's own control law
and reference, and compare or combine what comes out with the measurements, row by row after the
same parallel decimation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.control import tune
from robot_id.data.dataset import Dataset
from robot_id.data.signals.decimation import decimate
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing, end_rows
from robot_id.data.signals.torque_delay import torque_at_samples
from robot_id.dynamics import (
    Controller,
    Simulation,
    inverse_dynamics,
    positive_on_motion,
    simulate,
)
from robot_id.dynamics.simulation.disturbances import stable_substeps
from robot_id.exceptions import OptionError, OutOfTimeError, SimulationError
from robot_id.methods.closed_loop.reference import loop_run
from robot_id.methods.closed_loop.reversals import LoopReversals
from robot_id.methods.closed_loop.torque import torques_on_motion
from robot_id.regression.rows.sampling import States, decimated, long_enough
from robot_id.regression.rows.wide_regressor import WideRegressor
from robot_id.robot import Loop, Robot
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]
# A loop has forgotten its start after 5 / wn (section 3.4 of paper 000).
SETTLING = 5.0
# 'known': of the robot file or fitted to it; 'assumed': any that moves the model as the robot
# moved; 'rigid': the limit of a stiff one, whose motion is the reference.
Kind = Literal['known', 'assumed', 'rigid']
# A stiff loop is there to move the model: one that needs finer steps is the wrong one [1/s].
MOST_STEPS_PER_SECOND = 20e3
# Largest rms of its velocity errors, relative to the joint's own rms velocity and a share of the
# fastest joint's: a stiff loop must follow; one that is known or fitted may lag and ring, but one
# that moves so much more than it was told has lost its inertias.
FOLLOWS, OSCILLATES, SHARE_OF_FASTEST = 0.5, 30.0, 0.1


def simulated_run(
    robot: Robot, chi: Array, reference: Reference, law: Controller, slope: float, stiff: bool
) -> Simulation:
    """
    Return what the model chi does on a reference.

    :param law: with gains; its rate is that of the reference.
    :param slope: alpha of the friction.
    :param stiff: nobody's loop, which must follow cheaply or give way to another one.
    :raises SimulationError: also where the loop oscillates, or a stiff one needs too fine steps.
    """
    # An estimate far from the robot asks for other torques: it is not saturated.
    law = replace(law, rate_hz=reference.rate, torque_limit=np.full(robot.n, np.inf))
    substeps = stable_substeps(robot, chi, reference.step, slope)
    if stiff and substeps * reference.rate > MOST_STEPS_PER_SECOND:
        raise SimulationError(
            f'{robot.name}: its friction on such small inertias needs '
            f'{substeps * reference.rate:.2g} simulation steps per second'
        )
    made = simulate(robot, chi, reference, law, coulomb_slope=slope, substeps=substeps)
    rms = np.sqrt(np.mean(reference.velocity**2, axis=0))
    error = np.sqrt(np.mean((made.velocity - reference.velocity) ** 2, axis=0))
    allowed = FOLLOWS if stiff else OSCILLATES
    late = error - allowed * (rms + SHARE_OF_FASTEST * rms.max())
    if np.any(late > 0.0):
        joint = robot.joint_names[int(np.argmax(late))]
        raise SimulationError(f"{robot.name}: joint '{joint}' oscillates", joint=joint)
    return made


def on_reference(
    robot: Robot, chi: Array, reference: Reference, slope: float | None
) -> Simulation:
    """
    Return the limit of an ever stiffer loop: the motion is the reference, tau = W(reference) chi.

    It exists for any parameters, also for those without a direct model.
    """
    q, dq, ddq = reference.position, reference.velocity, reference.acceleration
    torque = inverse_dynamics(robot, chi, q, dq, ddq, slope)
    return Simulation(reference, q, dq, ddq, torque, q, torque)


class LoopProblem:
    """
    A data set, and the loop that is simulated beside it.

    :param robot: the Robot.
    :param dataset: columns in the order of the robot's joints.
    :param processing: resolved for these data.
    :param loop: the control loop of the robot.
    :param slope: alpha of the friction of the simulated plant.
    :param row_slope: alpha of the friction in the rows of W, None for sign(dq).
    :param bandwidth_factor: scale of the simulated loop's bandwidth.
    :param delay_s: by which the reference acts late.
    :param time_limit_s: no simulation starts after this time [s].
    :param settled_s: seconds that each run needs to forget its start; None: those of the loop.
    :param kind: whose loop it is.
    """

    def __init__(
        self,
        robot: Robot,
        dataset: Dataset,
        processing: Processing,
        loop: Loop,
        slope: float,
        row_slope: float | None,
        bandwidth_factor: float = 1.0,
        delay_s: float = 0.0,
        time_limit_s: float = float('inf'),
        settled_s: float | None = None,
        kind: Kind = 'known',
    ) -> None:
        self.robot = robot
        self.kind = kind
        self.processing = processing
        self.loop = loop
        self.slope = slope
        self.row_slope = row_slope
        self.bandwidth_factor = bandwidth_factor
        self.delay_s = delay_s
        self.time_limit_s = time_limit_s
        slowest = min(loop.bandwidth) * bandwidth_factor
        self.settled_s = SETTLING / slowest if settled_s is None else settled_s
        # Of [log bandwidths, log dampings, delay] where these were estimated.
        self.loop_covariance: Array | None = None
        # Parameters, and the (R, n, b) slopes of the positions in them.
        self.known_slopes: tuple[Array, Array] | None = None
        self._last: tuple[Array, list[Simulation]] | None = None
        self.started = time.monotonic()
        self.simulations = 0
        self.wide = WideRegressor(robot, row_slope)
        self.factor = processing.decimation or 1
        indices, self.warnings = long_enough(dataset, processing)
        # Whether every run has the reference that its controller followed.
        self.recorded = all(dataset.runs[k].reference_position is not None for k in indices)
        if not self.recorded:
            self.warnings += (
                'the data have no reference: the zero-phase filtered position stands in for it',
            )
        self.dataset = dataset
        self.runs = [
            loop_run(dataset.runs[k], processing, loop, self.settled_s, delay_s) for k in indices
        ]
        self.torque = self.rows(lambda s: s.torque, [States(*4 * (tau,)) for tau in self._torques])
        self.used = self._outside_rest_band()
        at = [self.inner(r.run.time[r.first : r.last : self.factor]) for r in self.runs]
        runs = [(r.run, times) for r, times in zip(self.runs, at)]
        self.reversals = LoopReversals(robot, runs, self.used, processing, row_slope)
        # Deviation of the time offset of the torques that the processing corrects, s.
        self.offset_std = 0.0

    def with_loop(
        self,
        loop: Loop,
        delay_s: float | None = None,
        same_rows: bool = False,
        slope: float | None = None,
        kind: Kind | None = None,
    ) -> LoopProblem:
        """
        Return the same problem with another loop (delay of the reference, slope of the friction).

        :param same_rows: also where another loop settles sooner or later.
        """
        steeper = self.slope if slope is None else slope
        made = LoopProblem(
            self.robot,
            self.dataset,
            self.processing,
            loop,
            steeper,
            self.row_slope,
            self.bandwidth_factor,
            self.delay_s if delay_s is None else delay_s,
            self.time_limit_s,
            self.settled_s if same_rows else None,
            kind or self.kind,
        )
        made.started, made.simulations = self.started, self.simulations
        made.warnings, made.reversals.fine = self.warnings, self.reversals.fine
        made.offset_std = self.offset_std
        return made

    def simulate(self, chi: Array, controller: Controller | None = None) -> list[Simulation]:
        """
        Simulate every run with the parameters chi; the same ones again cost nothing.

        :param controller: None: the gains follow chi (eq. 46 of paper 000).
        """
        if controller is None and self._last is not None and np.array_equal(self._last[0], chi):
            return self._last[1]
        if self.kind == 'rigid':
            slope = self.row_slope
            return [on_reference(self.robot, chi, r.reference, slope) for r in self.runs]
        sims = []
        for r in self.runs:
            if time.monotonic() - self.started > self.time_limit_s:
                raise OutOfTimeError(
                    f'no result after {self.time_limit_s:g} s and {self.simulations} simulations: '
                    'run robot-id check on the data, use idim_wls, or raise time_limit_s',
                    key='time_limit_s',
                    bound=self.time_limit_s,
                )
            law = controller or self.controller(chi)
            stiff = self.kind == 'assumed' and not self.recorded
            sims.append(simulated_run(self.robot, chi, r.reference, law, self.slope, stiff))
            self.simulations += 1
        if controller is None:
            self._last = np.array(chi), sims
        return sims

    def allows(self, chi: Array) -> bool:
        """Whether chi has a direct model along the motion, where one is needed."""
        motions = [r.reference.position for r in self.runs]
        return self.kind == 'rigid' or positive_on_motion(self.robot, chi, motions)

    @property
    def rigid(self) -> LoopProblem | None:
        """
        The same problem with a rigid loop, where that is its limit: assumed, without a reference.

        The filtered position that stands in for the reference is then the motion itself.
        """
        if self.kind != 'assumed' or self.recorded:
            return None
        loop = self.loop.model_copy(update={'rate_hz': self.runs[0].run.rate})
        return self.with_loop(loop, kind='rigid')

    def controller(self, chi: Array | None) -> Controller:
        """Return the loop with gains for chi, or the robot's own gains for None."""
        return tune(self.robot, self.loop, chi, bandwidth_factor=self.bandwidth_factor)

    def states(self, simulations: Sequence[Simulation]) -> list[States]:
        """Return the simulated motion at the rate of the measurements."""
        return [
            States(*(x[:: r.every] for x in (s.position, s.velocity, s.acceleration, s.torque)))
            for r, s in zip(self.runs, simulations)
        ]

    @property
    def _torques(self) -> list[Array]:
        """(N, n) measured torques of every run at the times of the simulated ones."""
        if self.recorded:
            return [r.run.torque for r in self.runs]
        rigid = self.kind == 'rigid'
        return [
            torques_on_motion(r.run, self.processing, 0.0 if rigid else r.reference.step)
            for r in self.runs
        ]

    def measured_states(self) -> list[States]:
        """Return the measured motion, filtered and differentiated."""
        parts = []
        for r in self.runs:
            q, dq, ddq = differentiate(r.run, self.processing, (0, len(r.run)))
            torque = torque_at_samples(r.run, self.processing, 0, len(r.run))
            parts.append(States(q, dq, ddq, torque))
        return parts

    def torque_rates(self) -> Array:
        """(R, n) dY/dt of the measured torques, decimated."""
        step = 1.0 / self.dataset.rate
        return self.rows(lambda s: np.gradient(s.torque, step, axis=0), self.measured_states())

    def rows(self, columns: Callable[[States], Array], motions: Sequence[States]) -> Array:
        """(R, C) decimated rows of columns that are computed from the motion of every run."""
        parts = []
        filtered = self.processing.decimation_filter != 'none'
        for r, motion in zip(self.runs, motions):

            def block(low: int, high: int, motion: States = motion) -> Array:
                return columns(motion.part(low, high))

            pieces = decimated(block, r.first, r.last, self.factor, filtered)
            parts.append(self.inner(np.concatenate([rows for rows, _ in pieces])))
        return np.concatenate(parts)

    def inner(self, rows: Array) -> Array:
        """Drop the rows near the ends of a run (see end_rows)."""
        ends = end_rows(self.processing)
        return rows[ends : len(rows) - ends]

    def reduce(self, values: Array, factor: int) -> Array:
        """Decimate (N, C) values on a grid of their own, with the filter of the processing."""
        if factor == 1 or self.processing.decimation_filter == 'none':
            return values[::factor]
        return decimate(values, factor)

    def regressor_rows(self, motions: Sequence[States]) -> list[Array]:
        """Return W_j (r_j, b) of every joint, the rest band taken out."""
        rows = self.rows(lambda s: self.wide(s.q, s.dq, s.ddq, s.torque), motions)
        parts = []
        for j, columns in enumerate(self.wide.columns):
            used = self.used[:, j]
            W = np.zeros((int(used.sum()), len(self.wide.names)))
            W[:, columns] = self.wide.of_joint(rows, j)[0][used]
            parts.append(W)
        return parts

    def joint_rows(self, rows: Array) -> list[Array]:
        """(R, n) -> the used rows of every joint."""
        return [rows[self.used[:, j], j] for j in range(self.robot.n)]

    def projected(self, parts: Sequence[Array]) -> list[Array]:
        """Return used rows of every joint with its reversals projected out."""
        return self.reversals.free(parts)

    def whole(self, parts: Sequence[Array]) -> Array:
        """Return (R, n, ...) rows in time from the used rows of every joint, else zero."""
        rows = np.zeros((*self.used.shape, *parts[0].shape[1:]))
        for j, part in enumerate(parts):
            rows[self.used[:, j], j] = part
        return rows

    def _outside_rest_band(self) -> NDArray[np.bool_]:
        """(R, n) rows whose reference velocity is outside the rest band."""
        motions = []
        for r in self.runs:
            dq = r.reference.velocity[:: r.every]
            motions.append(States(dq, dq, dq, dq))
        band = np.asarray(self.processing.rest_band or 0.0, float)
        if band.ndim and band.shape != (self.robot.n,):
            raise OptionError(f'rest_band has {band.shape[0]} values for {self.robot.n} joints')
        return np.abs(self.rows(lambda s: s.dq, motions)) >= band
