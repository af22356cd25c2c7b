"""Extended Kalman filter on recorded data (paper 004)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.processing import Processing
from robot_id.estimation.block_jackknife import BlockJackknife, information_of
from robot_id.estimation.filter_start import (
    Start,
    guard_of,
    start_from_wls,
    torque_per_interval,
)
from robot_id.estimation.outcome import Outcome, assemble, confined
from robot_id.estimation.result import Iteration, Result
from robot_id.estimation.track import Track, thinned
from robot_id.exceptions import IdentificationError, OptionError
from robot_id.model import Robot
from robot_id.online.ekf import ExtendedKalmanFilter
from robot_id.online.kalman import KalmanFilter
from robot_id.online.settings import per_item
from robot_id.online.sizes import nominal_sizes
from robot_id.progress import Progress, part_of, silent
from robot_id.ranges import Anything, Deviation, Frequency, NotNegative, Range, Slope, check
from robot_id.regression.prediction import predict
from robot_id.regression.settling import settle_for_filter

Array = NDArray[np.float64]
CHUNK = 250


@dataclass(frozen=True)
class Ekf:
    """
    Extended Kalman filter of velocity, position and parameters, UD-factorised.

    Standard deviations that are not given are taken from the data. After the start 'good',
    process_std is what the torques that IDIM-WLS leaves add to the motion in a step, and
    measurement_std the noise of the positions. After any other start they are wide: process_std
    of dq is 3 times what the rms acceleration adds in a step, that of q half a step of it,
    measurement_std what the position filter takes away, since a filter that trusts its first
    linearisations too much keeps their errors.

    :param start: 'good' is the IDIM-WLS estimate, 'rough' the sign and power of ten of the a
        priori values, 'regular' unit inertias, 'none' zeros with variances of 1e5 (it fails).
    :param start_values: start parameters, in the order of the base parameters, instead of `start`.
    :param parameter_std: standard deviations of the start values, one or one for each.
    :param state_std: of the first velocities and positions, one or one for each, dq before q.
    :param process_std: of what each step adds to velocities and positions, dq before q.
    :param measurement_std: of the measured positions, one or one for each joint.
    :param drift_std: of what each step adds to the parameters, 0 for constant ones.
    :param discretisation: 'midpoint' (second order) or the paper's 'euler'.
    :param passes: times the data are filtered; each pass starts from the last estimate.
    :param highest_rate_hz: faster recordings are thinned to at most this rate.
    :param coulomb_slope: alpha of the smooth friction 2/pi atan(alpha dq); none means sign(dq);
        auto: sign(dq) or the robot file's slope, whichever explains the data better.
    :param processing: of the WLS start and of the residual; the filter takes raw positions.
    :param physical: move the estimate to parameters that a robot can have.
    :param deviations: 'robust': from how much the blocks of the recording contradict each other
        (jackknife; constant parameters only); 'classical': the covariance of the filter.
    """

    name: ClassVar[str] = 'ekf'
    filter_class: ClassVar[type[KalmanFilter]] = ExtendedKalmanFilter

    start: Literal['good', 'rough', 'regular', 'none'] = 'good'
    start_values: Sequence[Anything] | None = None
    parameter_std: Deviation | Sequence[Deviation] | None = None
    state_std: NotNegative | Sequence[NotNegative] | None = None
    process_std: NotNegative | Sequence[NotNegative] | None = None
    measurement_std: Deviation | Sequence[Deviation] | None = None
    drift_std: NotNegative | Sequence[NotNegative] = 0.0
    discretisation: Literal['midpoint', 'euler'] = 'midpoint'
    passes: Annotated[int, Range(1, 100)] = 2
    highest_rate_hz: Frequency = 1000.0
    coulomb_slope: Slope | Literal['auto'] | None = 'auto'
    processing: Processing = field(default_factory=Processing)
    physical: bool = False
    deviations: Literal['robust', 'classical'] = 'robust'

    def __post_init__(self) -> None:
        check(self)

    def estimate(self, robot: Robot, dataset: Dataset, progress: Progress = silent) -> Result:
        """
        Filter the recording and return the last estimate with its way there.

        :param dataset: measurements with at least the robot's joints.
        :param progress: called with the fraction done.
        """
        started = time.perf_counter()
        dataset = dataset.select(robot.joint_names)
        alignment, derived = settle_for_filter(robot, dataset, self.coulomb_slope, self.processing)
        slope, processing = alignment.slope, derived.processing
        factor = max(int(np.ceil(dataset.rate / self.highest_rate_hz - 1e-6)), 1)
        start = self._start(robot, dataset, slope, part_of(progress, 0.0, 0.1, 'start values'))
        setting = self._noise(robot, dataset, processing, factor, start)
        held, guard = torque_per_interval(dataset, alignment), guard_of(dataset)
        chi, step = start.chi, dataset.runs[0].step * factor
        history, tracks, moved, filtering = [], [], 0, 0.0
        for k in range(self.passes):
            kalman = self._filter(robot, step, chi, start.spread, slope, guard, setting)
            share = 0.9 / self.passes
            part = part_of(progress, 0.1 + k * share, 0.1 + (k + 1) * share, f'pass {k + 1}')
            before = time.perf_counter()
            track, blocks = self._run(kalman, held, factor, part)
            tracks.append(track)
            filtering += time.perf_counter() - before
            chi = kalman.estimate
            moved += kalman.moved_back
            history.append(Iteration(chi, float('nan')))
        nis = kalman.status().noise_std ** 2
        progress(1.0, 'done')
        covariance = None
        if self.deviations == 'robust' and not np.any(self.drift_std):
            covariance = blocks.covariance(start.std)
        classical = covariance is None
        found = Outcome(
            chi,
            kalman.covariance if covariance is None else covariance,
            history=tuple(history),
            iterations=self.passes,
            must_explain=True,
            options={'coulomb_slope': slope},
            warnings=_warnings(moved, nis, dataset, factor, classical),
            extras={
                'equations': kalman.samples * robot.n,
                'track': [track.to_dict() for track in tracks],
                'normalised_innovation': nis,
                'moved_back': moved,
                'rate_hz': dataset.rate / factor,
                'filtering_s': filtering,
                'recording_s': float(sum(run.duration for run in dataset.runs)),
                **{key: [float(v) for v in values] for key, values in setting.items()},
                'parameter_std': [float(v) for v in start.spread],
            },
        )
        if self.physical:
            found = confined(found, robot)
        prediction = predict(robot, found.chi, dataset, processing, slope)
        return assemble(self, robot, dataset, derived, found, prediction, started)

    def _filter(
        self,
        robot: Robot,
        step: float,
        chi: Array,
        spread: Array,
        slope: float | None,
        guard: Array,
        setting: dict[str, Array],
    ) -> KalmanFilter:
        """Return the filter of one pass, at its start."""
        return self.filter_class(
            robot,
            step,
            chi,
            spread,
            drift_std=per_item('drift_std', self.drift_std, robot.base.names),
            discretisation=self.discretisation,
            coulomb_slope=slope,
            guard=guard,
            **setting,
        )

    def _run(
        self, kalman: KalmanFilter, dataset: Dataset, factor: int, progress: Progress
    ) -> tuple[Track, BlockJackknife]:
        total = sum(len(run) // factor for run in dataset.runs)
        track, blocks, done = Track(total), BlockJackknife(total), 0
        blocks.add(0, kalman.estimate, information_of(kalman.covariance))
        for number, run in enumerate(dataset.runs):
            if number:
                kalman.new_run()
            q, tau, step = thinned(run, factor)
            size = min(CHUNK, track.every)
            for first in range(0, len(q), size):
                good = kalman.update(q[first : first + size], tau[first : first + size])
                if kalman.failure:
                    at = run.time[0] + step * min(first + size, len(q))
                    raise IdentificationError(
                        f'{kalman.robot.name}: {self.name} failed in run {number + 1} by '
                        f'{at:.3f} s: {kalman.failure.partition(": ")[2]}; {self._way_out()}'
                    )
                if not good:
                    raise IdentificationError(f'run {number + 1}: {kalman.rejected_reason}')
                done += min(size, len(q) - first)
                if done % track.every < size:
                    track.add(done, kalman.estimate)
                if blocks.due(done):
                    blocks.add(done, kalman.estimate, information_of(kalman.covariance))
                progress(done / total)
        return track, blocks

    def _way_out(self) -> str:
        """Return what to try when the filter has failed."""
        if self.start != 'good' or self.start_values is not None:
            return (
                'give better start values (start=good), a smaller parameter_std or a larger '
                'process_std'
            )
        return (
            'see whether idim_wls explains the data; if so give a smaller parameter_std or a '
            'larger process_std, if not run robot-id check on the data'
        )

    def _start(
        self, robot: Robot, dataset: Dataset, slope: float | None, progress: Progress
    ) -> Start:
        """Return the start values."""
        names, b = robot.base.names, len(robot.base)
        chi, spread = np.zeros(b), np.full(b, np.sqrt(1e5))
        known: Start | None = None
        if self.start_values is not None:
            if len(self.start_values) != b:
                raise OptionError(f'start_values: {len(self.start_values)} numbers, expected {b}')
            chi = np.array(self.start_values, float)
            spread = nominal_sizes(names, chi) if chi.any() else spread
        elif self.start == 'good':
            known = start_from_wls(robot, dataset, self.processing, slope, progress)
            chi, spread = known.chi, known.spread
        elif self.start == 'rough':
            prior = robot.a_priori()
            size = np.where(prior != 0.0, np.abs(prior), 1.0)
            chi = np.sign(prior) * 10.0 ** np.floor(np.log10(size))
            spread = nominal_sizes(names, chi)
        elif self.start == 'regular':
            chi = robot.regular_start()
            spread = nominal_sizes(names, chi)
        if self.parameter_std is not None:
            spread = per_item('parameter_std', self.parameter_std, names)
        if known is not None:
            return replace(known, spread=spread)
        return Start(chi, spread, spread, None)

    def _noise(
        self,
        robot: Robot,
        dataset: Dataset,
        processing: Processing,
        factor: int,
        start: Start,
    ) -> dict[str, Array]:
        """Return the standard deviations of state, process and measurement."""
        derived = start.noise(robot, dataset, processing, dataset.runs[0].step * factor)
        joints = robot.joint_names
        doubled = [f'{what} of {joint}' for what in ('dq', 'q') for joint in joints]
        for key, names in (
            ('state_std', doubled),
            ('process_std', doubled),
            ('measurement_std', joints),
        ):
            given = getattr(self, key)
            if given is not None:
                derived[key] = per_item(key, given, names)
            floor = 1e-9 if key == 'measurement_std' else 0.0
            derived[key] = np.maximum(derived[key], floor)
        return derived


def _warnings(
    moved: int, nis: float, dataset: Dataset, factor: int, classical: bool
) -> tuple[str, ...]:
    found = []
    if moved:
        found.append(f'the estimate was moved back {moved} times to keep M(q) positive definite')
    if classical and nis < 0.1:
        found.append(
            f'innovations are far below what Q and R expect (ratio {nis:.2g}): the standard '
            'deviations show the Q and R that were chosen, not the noise of the data'
        )
    if classical and nis > 10.0:
        found.append(
            f'innovations are far above what Q and R expect (ratio {nis:.2g}): the standard '
            'deviations are too small; raise process_std or measurement_std'
        )
    if factor > 1:
        found.append(f'the recording of {dataset.rate:g} Hz was thinned by {factor}')
    return tuple(found)
