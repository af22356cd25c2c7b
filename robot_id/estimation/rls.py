"""Recursive least squares on recorded data, as it would run on-line (paper 002)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.data.processing import Processing
from robot_id.estimation.outcome import Outcome, assemble
from robot_id.estimation.recorded import Track, per_item
from robot_id.estimation.result import Iteration, Result
from robot_id.exceptions import IdentificationError, OptionError
from robot_id.online.identifier import OnlineIdentifier
from robot_id.online.memory import Memory
from robot_id.online.sizes import nominal_sizes
from robot_id.online.supervision import CheapRule, EigenvalueRule, Rule
from robot_id.progress import Progress, silent
from robot_id.ranges import (
    Count,
    Deviation,
    FilterOrder,
    Frequency,
    NotNegative,
    Range,
    Seconds,
    Slope,
    check,
)
from robot_id.regression.prediction import predict
from robot_id.regression.sampling import resolve

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rls:
    """
    Recursive least squares with causal filters, forgetting and supervision, as run on-line.

    :param filtering: 'model' filters the regressor and the torques alike, 'input' the positions
        only (biased, for comparison), 'none' nothing.
    :param low_pass_hz: of the causal low-pass; derived: twice the loop bandwidth.
    :param filter_order: of that low-pass.
    :param every: one equation in so many is used; derived: so that they are nearly independent.
    :param memory: 'infinite', 'exponential', 'window' or 'constant_trace'.
    :param memory_s: its length in seconds.
    :param supervision: 'none', 'eigenvalue' or 'cheap' identifiability supervision.
    :param max_std: largest standard deviation of a live parameter, as a fraction of its size.
    :param supervision_s: seconds between two verdicts.
    :param nominal: result file of an earlier identification: sizes and start values; without it
        the a priori values of the robot file serve.
    :param noise: standard deviations of the equations, one or one for each joint; derived: a
        twentieth of the rms torque of each joint.
    :param rest_velocity: slower joints rest and their equations are left out; derived: 1 % of the
        velocity limit.
    :param held_torque: the torque of a sample is held until the next (a loop of the same rate).
    :param coulomb_slope: alpha of the smooth friction 2/pi atan(alpha dq); none means sign(dq).
    :param processing: zero-phase filters of the residual; the estimator itself is causal.
    """

    name: ClassVar[str] = 'rls'

    filtering: Literal['model', 'input', 'none'] = 'model'
    low_pass_hz: Frequency | None = None
    filter_order: FilterOrder = 2
    every: Count | None = None
    memory: Literal['infinite', 'exponential', 'window', 'constant_trace'] = 'infinite'
    memory_s: Seconds = 10.0
    supervision: Literal['none', 'eigenvalue', 'cheap'] = 'none'
    max_std: Annotated[float, Range(1e-9, 1e6)] = 0.1
    supervision_s: Seconds = 0.1
    nominal: str | None = None
    noise: Deviation | Sequence[Deviation] | None = None
    rest_velocity: NotNegative | Sequence[NotNegative] | None = None
    held_torque: bool = False
    coulomb_slope: Slope | None = None
    processing: Processing = field(default_factory=Processing)

    def __post_init__(self) -> None:
        check(self)

    def identifier(self, robot: Any, dataset: Dataset, processing: Processing) -> OnlineIdentifier:
        """Return the on-line identifier with these options, as the recording needs it."""
        every = self.every or max(processing.decimation or 1, 1)
        cutoff = self.low_pass_hz or 0.4 * dataset.rate / max(processing.decimation or 1, 2)
        rate = dataset.rate / every
        memory = Memory(self.memory, max(self.memory_s * rate, 1.0), blocks=1)
        if memory.samples >= 10:
            memory = Memory(self.memory, memory.samples)
        torque = np.concatenate([run.torque for run in dataset.runs])
        noise = 0.05 * np.sqrt(np.mean(torque**2, axis=0))
        noise = np.where(noise > 0.0, noise, 1.0)
        if self.noise is not None:
            noise = per_item('noise', self.noise, robot.joint_names)
        rest = None
        if self.rest_velocity is not None:
            rest = per_item('rest_velocity', self.rest_velocity, robot.joint_names)
        start, scale = self._nominal(robot)
        return OnlineIdentifier(
            robot,
            dataset.rate,
            method=self.name,
            filtering=self.filtering,
            cutoff_hz=cutoff,
            order=self.filter_order,
            decimation=every,
            rest_velocity=rest,
            held_torque=self.held_torque,
            coulomb_slope=self.coulomb_slope,
            noise=noise,
            memory=memory,
            supervisor=self._rule(),
            period=max(round(self.supervision_s * rate), 1),
            start=start,
            scale=scale,
        )

    def estimate(self, robot: Any, dataset: Dataset, progress: Progress = silent) -> Result:
        """
        Play the recording through the on-line identifier.

        :param robot: the Robot.
        :param dataset: measurements with at least the robot's joints.
        :param progress: called with the fraction done.
        """
        started = time.perf_counter()
        dataset = dataset.select(robot.joint_names)
        processing = resolve(self.processing, dataset, robot)
        identifier = self.identifier(robot, dataset, processing)
        track, done = Track(len(dataset)), 0
        for number, run in enumerate(dataset.runs):
            if number:
                identifier.new_segment()
            reference = self._reference(run)
            for first in range(0, len(run), track.every):
                rows = slice(first, first + track.every)
                part = None
                if reference is not None:
                    part = (reference[0][rows], reference[1][rows], reference[2][rows])
                identifier.feed(run.position[rows], run.torque[rows], part)
                done += len(run.time[rows])
                track.add(done, identifier.estimate)
                progress(0.95 * done / len(dataset), self.name)
        status = identifier.status()
        if not status.live and not status.partial:
            raise IdentificationError(
                f'{robot.name}: {self.name} found no identifiable parameter: '
                f'{status.parameters[0].reason}; record a richer or longer motion'
            )
        warnings = self._warnings(dataset)
        held = status.frozen + status.partial
        if held:
            warnings += (f'not identified on their own: {", ".join(held)}',)
        if status.rejected:
            warnings += (f'{status.rejected} samples refused: {status.rejected_reason}',)
        progress(1.0, 'done')
        found = Outcome(
            identifier.estimate,
            identifier.covariance,
            float(np.sqrt(status.condition)),
            history=(Iteration(identifier.estimate, float('nan')),),
            must_explain=True,
            warnings=warnings,
            extras={
                'equations': round(status.rows),
                'track': track.to_dict(),
                'status': status.to_dict(),
            },
        )
        prediction = predict(robot, found.chi, dataset, processing, self.coulomb_slope)
        return assemble(self, robot, dataset, processing, found, prediction, started)

    def _reference(self, run: Run) -> tuple[Array, Array, Array] | None:
        return None

    def _warnings(self, dataset: Dataset) -> tuple[str, ...]:
        return ()

    def _rule(self) -> Rule | None:
        if self.supervision == 'eigenvalue':
            return EigenvalueRule(self.max_std)
        return CheapRule(self.max_std) if self.supervision == 'cheap' else None

    def _nominal(self, robot: Any) -> tuple[Array | None, Array | None]:
        """Return start values and sizes."""
        if self.nominal is not None:
            result = Result.load(self.nominal)
            if tuple(result.names) != tuple(robot.base.names):
                raise OptionError(f'nominal: {self.nominal} is not a result of {robot.name}')
            return result.values, nominal_sizes(result.names, result.values)
        if self.supervision == 'none':
            return None, None
        prior = robot.a_priori()
        return prior, nominal_sizes(robot.base.names, prior)
