"""Extended Kalman filter on recorded data (paper 004)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.blas_threads import one_blas_thread
from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.exceptions import IdentificationError, OptionError
from robot_id.kernel_cache import njit
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.methods.kalman import state_kernels, state_step, ud_prediction
from robot_id.methods.kalman.filter import KalmanFilter
from robot_id.methods.kalman.initial_state import (
    NOISE,
    TRIES,
    WORSE,
    Start,
    Try,
    guard_of,
    start_from_wls,
    torque_per_interval,
    warnings_of,
)
from robot_id.methods.kalman.reversals import Reversals
from robot_id.methods.outcome import Outcome, assemble, confined
from robot_id.methods.recursive import ud
from robot_id.methods.recursive.block_jackknife import BlockJackknife, information_of
from robot_id.methods.recursive.settings import per_item
from robot_id.methods.recursive.sizes import nominal_sizes
from robot_id.methods.recursive.track import Track, thinned
from robot_id.methods.result import Iteration, Result
from robot_id.progress import Progress, attempts, part_of, silent
from robot_id.ranges import Anything, Deviation, Frequency, NotNegative, Range, Slope, check
from robot_id.regression.preprocessing.alignment import Alignment
from robot_id.regression.preprocessing.options import ResolvedOptions
from robot_id.regression.preprocessing.resolve import resolve_for_filter
from robot_id.regression.rows.prediction import Prediction, predict
from robot_id.regression.uncertainty.disagreement import bias_covariance
from robot_id.robot import Robot

Array = NDArray[np.float64]
CHUNK = 250


class ExtendedKalmanFilter(KalmanFilter):
    """
    Thornton's time update and Bierman's observation update on P = U D U'.

    With the parameters last in z = [dq q chi], their block of U and D does not change in the time
    update unless they drift, so a step costs O(n b^2) instead of O((2n + b)^3).
    """

    def _restart(self, P: Array) -> None:
        n2, size = 2 * self.n, self.model.size
        self._L, self._d = np.eye(size), np.empty(size)
        self._d[:n2] = self.state_std**2
        self._L[n2:, n2:], self._d[n2:] = ud.factorise(P)

    def new_run(self) -> None:
        """Begin another recording: keep the parameters and their covariance."""
        n2 = 2 * self.n
        self._L[:n2, :n2] = np.eye(n2)
        self._L[n2:, :n2] = 0.0
        self._d[:n2] = self.state_std**2
        self._tau = None

    def _filter(self, Q: Array, acting: Array) -> int:
        noise = np.concatenate([self.process_std, self.drift_std]) ** 2
        counters = np.zeros(2)
        done = _run(
            self.model.arrays, self.z, self._good, self._L, self._d, Q, acting, self.guard, noise,
            self.measurement_std**2, self.model.slope, self.model.step, self.model.order,
            counters,
        )  # fmt: skip
        self.moved_back += int(counters[0])
        self.innovation += float(counters[1])
        return int(done)

    def _parameter_covariance(self) -> Array:
        n2 = 2 * self.n
        return ud.compose(self._L[n2:, n2:], self._d[n2:])


@njit(cache=True, nogil=True, error_model='numpy')
def _run(model, z, good, L, d, Q, acting, guard, noise, r, slope, step, order, counters):  # type: ignore[no-untyped-def]
    """Filter a block; return the number of samples that went well."""
    n, size = Q.shape[1], z.shape[0]
    n2 = 2 * n
    ahead, F, gain, h = np.empty(size), np.empty((n2, size)), np.empty(size), np.zeros(size)
    drift = False
    for j in range(n2, size):
        drift = drift or noise[j] > 0.0
    full = np.eye(size)
    for k in range(Q.shape[0]):
        if not state_step.advance(model, z, acting[k], slope, step, order, ahead, F):
            return k
        good[:] = z[n2:]
        z[:] = ahead
        if drift:
            full[:n2] = F
            ud_prediction.predict(L, d, full, noise)
        else:
            ud_prediction.predict_constant_tail(L, d, F, noise[:n2])
        for j in range(n):
            h[n + j] = 1.0
            counters[1] += ud.observe(z, L, d, h, Q[k, j], r[j], gain)
            h[n + j] = 0.0
        if state_kernels.step_back(model, z[n2:], good, guard):
            counters[0] += 1
        for j in range(size):
            if not np.isfinite(z[j]):
                return k
    return Q.shape[0]


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
    :param discretisation: 'midpoint' (second order), 'cut' (the same in parts where a joint turns)
        or the paper's 'euler'; none means cut after the start 'good', else midpoint: far from the
        truth a filter takes the steep slope of a turning friction for sure.
    :param passes: times the data are filtered; each pass starts from the last estimate.
    :param highest_rate_hz: positions of faster recordings are thinned to at most this rate; all
        torques act. The slopes of a step hold the noise of its torques, which biases inertias by
        its square: the longer a step, the more of it is averaged.
    :param coulomb_slope: alpha of the smooth friction 2/pi atan(alpha dq); none means sign(dq);
        auto: sign(dq) or the robot file's slope, whichever explains the data better.
    :param processing: of the WLS start and of the residual; the filter takes raw positions.
    :param physical: move the estimate to the nearest physically consistent parameters.
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
    discretisation: Literal['midpoint', 'cut', 'euler'] | None = None
    passes: Annotated[int, Range(1, 100)] = 2
    highest_rate_hz: Frequency = 250.0
    coulomb_slope: Slope | Literal['auto'] | None = 'auto'
    processing: Processing = field(default_factory=Processing)
    physical: bool = False
    deviations: Literal['robust', 'classical'] = 'robust'

    def __post_init__(self) -> None:
        check(self)

    @one_blas_thread()
    def estimate(self, robot: Robot, dataset: Dataset, progress: Progress = silent) -> Result:
        """
        Filter the recording and return the last estimate with its way there.

        :param dataset: measurements with at least the robot's joints.
        :param progress: called with the fraction done.
        """
        started = time.perf_counter()
        dataset = dataset.select(robot.joint_names)
        resolved = resolve_for_filter(robot, dataset, self.coulomb_slope, self.processing)
        slope, derived = resolved[0].row_slope, resolved[1]
        wls = self._least_squares(robot, dataset, slope, part_of(progress, 0.0, 0.1, 'start'))
        # A setting that was given is meant.
        given = (self.parameter_std, self.process_std)
        tries = TRIES if wls is not None and given == (None, None) else TRIES[:1]
        found: list[tuple[Outcome, Prediction]] = []
        failure: IdentificationError | None = None
        for attempt, part in zip(tries, attempts(part_of(progress, 0.1, 1.0))):
            start = self._start(robot, dataset, wls, attempt)
            try:
                outcome = self._filtered(robot, dataset, resolved, start, attempt, part, wls)
            except IdentificationError as error:
                failure = failure or error
                continue
            prediction = predict(robot, outcome.chi, dataset, derived.processing, slope)
            found.append((outcome, prediction))
            begun = predict(robot, start.chi, dataset, derived.processing, slope)
            if prediction.relative_error_percent <= WORSE * begun.relative_error_percent:
                break
        if not found:
            assert failure is not None
            raise failure
        outcome, prediction = min(found, key=lambda pair: pair[1].relative_error_percent)
        progress(1.0, 'done')
        return assemble(self, robot, dataset, derived, outcome, prediction, started)

    def _filtered(
        self,
        robot: Robot,
        dataset: Dataset,
        resolved: tuple[Alignment, ResolvedOptions],
        start: Start,
        attempt: Try,
        progress: Progress,
        wls: Result | None,
    ) -> Outcome:
        """Filter all passes from a start; `wls` is an estimate without a filter, if there is."""
        alignment, derived = resolved
        factor = max(int(np.ceil(dataset.rate / self.highest_rate_hz - 1e-6)), 1)
        given = {key: getattr(self, key) for key in NOISE}
        step = dataset.runs[0].step * factor
        setting = start.noise(robot, dataset, derived.processing, step, given)
        setting['process_std'] = attempt.process * setting['process_std']
        held, guard = torque_per_interval(dataset, alignment), guard_of(dataset)
        history, tracks, moved, filtering = [], [], 0, 0.0
        chi = start.chi
        reversals = Reversals.of(
            robot, chi, dataset, derived.processing, alignment.row_slope, step
        )
        for k in range(self.passes):
            kalman = self._filter(
                robot, step, chi, start.spread, alignment.filter_slope, guard, setting
            )
            share = 1.0 / self.passes
            part = part_of(progress, k * share, (k + 1) * share, f'pass {k + 1}')
            before = time.perf_counter()
            track, blocks = self._run(kalman, held, factor, reversals, part)
            tracks.append(track)
            filtering += time.perf_counter() - before
            chi = kalman.estimate
            moved += kalman.moved_back
            history.append(Iteration(chi, float('nan')))
        nis = kalman.status().noise_std ** 2
        covariance = None
        if self.deviations == 'robust' and not np.any(self.drift_std):
            covariance = blocks.covariance(start.std)
        if covariance is not None and wls is not None:
            covariance = covariance + bias_covariance(chi, wls.values, wls.covariance)
        careful = () if attempt == TRIES[0] else (attempt.words(),)
        found = Outcome(
            chi,
            kalman.covariance if covariance is None else covariance,
            history=tuple(history),
            iterations=self.passes,
            must_explain=True,
            options={'coulomb_slope': alignment.row_slope},
            warnings=careful + warnings_of(moved, nis, dataset, factor, covariance is None),
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
        return confined(found, robot) if self.physical else found

    def _least_squares(
        self, robot: Robot, dataset: Dataset, slope: float | None, progress: Progress
    ) -> Result | None:
        """Return the IDIM-WLS result of the same data, where the start asks for it."""
        if self.start != 'good' or self.start_values is not None:
            return None
        wls = IdimWls(processing=self.processing, coulomb_slope=slope)
        return wls.estimate(robot, dataset, progress)

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
        good = self.start == 'good' and self.start_values is None
        return self.filter_class(
            robot,
            step,
            chi,
            spread,
            drift_std=per_item('drift_std', self.drift_std, robot.base.names),
            discretisation=self.discretisation or ('cut' if good else 'midpoint'),
            coulomb_slope=slope,
            guard=guard,
            **setting,
        )

    def _run(
        self,
        kalman: KalmanFilter,
        dataset: Dataset,
        factor: int,
        reversals: Reversals,
        progress: Progress,
    ) -> tuple[Track, BlockJackknife]:
        total = sum(len(run) // factor for run in dataset.runs)
        track, blocks, done = Track(total), BlockJackknife(total), 0
        known = kalman.process_std
        blocks.add(0, kalman.estimate, information_of(kalman.covariance))
        for number, run in enumerate(dataset.runs):
            if number:
                kalman.new_run()
            q, tau, step = thinned(run, factor)
            size = min(CHUNK, track.every)
            for first, last, unknown in reversals.pieces(number, factor, len(q), size):
                kalman.process_std = np.hypot(known, unknown)
                good = kalman.update(q[first:last], tau[first:last])
                if kalman.failure:
                    at = run.time[0] + step * last
                    raise IdentificationError(
                        f'{kalman.robot.name}: {self.name} failed in run {number + 1} by '
                        f'{at:.3f} s: {kalman.failure.partition(": ")[2]}; {self._way_out()}'
                    )
                if not good:
                    raise IdentificationError(f'run {number + 1}: {kalman.rejected_reason}')
                done += last - first
                if done % track.every < last - first:
                    track.add(done, kalman.estimate)
                if blocks.due(done):
                    blocks.add(done, kalman.estimate, information_of(kalman.covariance))
                progress(done / total)
        if track.samples[-1:] != [done]:
            track.add(done, kalman.estimate)
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

    def _start(self, robot: Robot, dataset: Dataset, wls: Result | None, attempt: Try) -> Start:
        """Return the start values."""
        names, b = robot.base.names, len(robot.base)
        chi, spread = np.zeros(b), np.full(b, np.sqrt(1e5))
        known: Start | None = None
        if self.start_values is not None:
            if len(self.start_values) != b:
                raise OptionError(f'start_values: {len(self.start_values)} numbers, expected {b}')
            chi = np.array(self.start_values, float)
            spread = nominal_sizes(names, chi) if chi.any() else spread
        elif wls is not None:
            known = start_from_wls(robot, dataset, wls, attempt)
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
