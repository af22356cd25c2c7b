"""Recursive least squares on recorded data, as it would run on-line (paper 002)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id.blas_threads import one_blas_thread
from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals.processing import Processing
from robot_id.data.signals.torque_delay import torque_at_samples
from robot_id.exceptions import IdentificationError
from robot_id.methods.outcome import Outcome, assemble, confined
from robot_id.methods.parameters import load_parameters
from robot_id.methods.recursive.block_jackknife import BlockJackknife
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.settings import OnlineSettings
from robot_id.methods.recursive.track import Track
from robot_id.methods.result import Iteration, Result
from robot_id.progress import Progress, silent
from robot_id.ranges import Range, Slope
from robot_id.regression.preprocessing.resolve import resolve_for_filter
from robot_id.regression.preprocessing.rest_band import position_noise
from robot_id.regression.rows.prediction import predict
from robot_id.regression.solvers.attenuation import LARGEST_PAIRS, noisier
from robot_id.robot import Robot

Array = NDArray[np.float64]
# Of the rms torque of each joint: standard deviation of an equation.
NOISE_SHARE = 0.05
# Samples that the mean of the squared noise needs; short recordings take several pairs.
SAMPLES = 30000
# A shift below this share of its deviation is none.
NEGLIGIBLE = 0.05
# The shift by one share of noise is no longer small above this share of a parameter.
LARGEST_SHARE = 0.1


def shift_by_noise(
    dataset: Dataset, chi: Array, covariance: Array, solve: Callable[[Dataset], Array]
) -> Array | None:
    """
    Return (b,) the shift of an estimate.

    :param chi: (b,) the estimate.
    :param covariance: (b, b) of it.
    :param solve: gives the same estimate from another recording.
    :return: None where the first pair shows nothing, or a shift too large for second order.
    """
    std = position_noise(dataset)
    deviation = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    if not np.all(np.isfinite(deviation)):
        return None
    pairs = int(np.clip(np.ceil(SAMPLES / max(len(dataset), 1)), 1, LARGEST_PAIRS))
    moved = np.zeros_like(chi)
    for k in range(pairs):
        both = [solve(noisier(dataset, sign * std, k)) for sign in (1.0, -1.0)]
        moved += 0.5 * (both[0] + both[1]) - chi
        if k == 0 and np.all(np.abs(moved) < NEGLIGIBLE * deviation):
            return None
    shift = moved / pairs
    known = deviation < LARGEST_SHARE * np.abs(chi)
    if np.any(np.abs(shift[known]) > LARGEST_SHARE * np.abs(chi[known])):
        return None
    return np.asarray(shift)


class _Part(NamedTuple):
    """
    Samples of one run.

    :param fresh: the run begins with them.
    """

    fresh: bool
    position: Array
    torque: Array
    reference: tuple[Array, Array, Array] | None


@dataclass(frozen=True)
class Rls(OnlineSettings):
    """
    Recursive least squares with causal filters, forgetting and supervision, as run on-line.

    :param coulomb_slope: alpha of the smooth friction 2/pi atan(alpha dq); none means sign(dq);
        auto: sign(dq) or the robot file's slope, whichever explains the data better.
    :param reach: samples to each side that the central differences use; default: 2 for rls and riv
        with 'model' filtering, else 1.
    :param processing: zero-phase filters of the residual, and the time offset of the torques; the
        estimator itself is causal.
    :param physical: move the estimate to the nearest physically consistent parameters.
    :param deviations: 'robust': from how much the blocks of the recording contradict each other
        (jackknife; with infinite memory and no supervision); 'classical': as if the equations had
        white noise.
    :param correct_attenuation: correct the attenuation of the estimate by noise of the positions,
        found by recordings with as much noise again (infinite memory, no supervision).
    """

    name: ClassVar[str] = 'rls'
    # Noise of the positions is in W and in its own moments: it shifts the estimate.
    attenuated: ClassVar[bool] = True

    # A recording tells how friction turns and when the torque acts, a running robot does not.
    coulomb_slope: Slope | Literal['auto'] | None = 'auto'  # type: ignore[assignment]
    processing: Processing = field(default_factory=Processing)
    reach: Annotated[int, Range(1, 3)] | None = None  # type: ignore[assignment]
    physical: bool = False
    deviations: Literal['robust', 'classical'] = 'robust'
    correct_attenuation: bool = True

    def _identifier(
        self, robot: Robot, dataset: Dataset, processing: Processing, slope: float | None
    ) -> OnlineIdentifier:
        """Return the on-line identifier with these options, as the recording needs it."""
        torque = np.concatenate([run.torque for run in dataset.runs])
        noise = NOISE_SHARE * np.sqrt(np.mean(torque**2, axis=0))
        start, nominal = self._nominal(robot)
        # What passes the low-pass must be differentiated well; without one, noise is the worse.
        low_passed = self.filtering == 'model' and self.name != 'integral'
        reach = self.reach or (2 if low_passed else 1)
        return replace(self, coulomb_slope=slope, reach=reach).identifier(
            robot,
            dataset.rate,
            self.name,
            every=max(processing.decimation or 1, 1),
            noise=np.where(noise > 0.0, noise, 1.0),
            start=start,
            nominal=nominal,
        )

    @one_blas_thread()
    def estimate(self, robot: Robot, dataset: Dataset, progress: Progress = silent) -> Result:
        """
        Pass the recording through the on-line identifier.

        :param dataset: measurements with at least the robot's joints.
        :param progress: called with the fraction done.
        """
        started = time.perf_counter()
        dataset = dataset.select(robot.joint_names)
        alignment, derived = resolve_for_filter(
            robot, dataset, self.coulomb_slope, self.processing
        )
        # The law is the known one here: the doubt between it and a hard one is not its own.
        slope, derived = alignment.slope, replace(derived, law_doubt=alignment.terms_doubt)
        processing = derived.processing
        identifier = self._identifier(robot, dataset, processing, slope)
        track, covariance = self._feed(identifier, dataset, processing, progress)
        estimate = identifier.estimate
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
        shift = self._attenuation(identifier, dataset, processing, slope, covariance)
        if shift is not None:
            estimate = estimate - shift
        progress(1.0, 'done')
        found = Outcome(
            estimate,
            covariance,
            float(np.sqrt(status.condition)),
            history=(Iteration(estimate, float('nan')),),
            must_explain=True,
            options={'coulomb_slope': slope},
            warnings=warnings,
            extras={
                'equations': round(status.rows),
                'track': track.to_dict(),
                'status': status.to_dict(),
            },
        )
        if self.physical:
            found = confined(found, robot)
        prediction = predict(robot, found.chi, dataset, processing, slope)
        return assemble(self, robot, dataset, derived, found, prediction, started)

    def _feed(
        self,
        identifier: OnlineIdentifier,
        dataset: Dataset,
        processing: Processing,
        progress: Progress,
    ) -> tuple[Track, Array]:
        """Play the recording; return the way of the estimate and the covariance of the last."""
        track, blocks, done = Track(len(dataset)), BlockJackknife(len(dataset)), 0
        known: Array | None = None
        b = identifier.estimate.size
        blocks.add(0, identifier.estimate, np.zeros((b, b)))
        for part in self._parts(dataset, processing, track.every):
            if part.fresh and done:
                identifier.new_segment()
            identifier.feed(part.position, part.torque, part.reference)
            done += len(part.position)
            track.add(done, identifier.estimate)
            known = identifier.estimator.information_matrix
            if known is not None and blocks.due(done):
                blocks.add(done, identifier.estimate, known)
            progress(0.95 * done / len(dataset), self.name)
        robust = None
        if self.deviations == 'robust' and known is not None and known.any():
            robust = blocks.covariance(np.zeros(b))
        return track, identifier.covariance if robust is None else robust

    def _attenuation(
        self,
        identifier: OnlineIdentifier,
        dataset: Dataset,
        processing: Processing,
        slope: float | None,
        covariance: Array,
    ) -> Array | None:
        """(b,) shift of the estimate by the noise of the positions; None where it is not known."""
        information = identifier.estimator.information_matrix
        if not self.attenuated or not self.correct_attenuation:
            return None
        if information is None or not information.any():
            return None
        integral_s = identifier.integral_s
        again = self if integral_s is None else replace(self, integral_s=integral_s)

        def solve(noisy: Dataset) -> Array:
            other = again._identifier(identifier.robot, noisy, processing, slope)
            for part in again._parts(noisy, processing, len(noisy)):
                if part.fresh:
                    other.new_segment()
                other.feed(part.position, part.torque, part.reference)
            return other.estimate

        return shift_by_noise(dataset, identifier.estimate, covariance, solve)

    def _parts(self, dataset: Dataset, processing: Processing, every: int) -> Iterator[_Part]:
        """Yield the recording in parts of at most `every` samples, as it is fed."""
        for run in dataset.runs:
            reference, torque = self._reference(run), run.torque
            if not self.held_torque:
                torque = torque_at_samples(run, processing, 0, len(run))
            for first in range(0, len(run), every):
                rows = slice(first, first + every)
                part = None
                if reference is not None:
                    part = (reference[0][rows], reference[1][rows], reference[2][rows])
                yield _Part(first == 0, run.position[rows], torque[rows], part)

    def _reference(self, run: Run) -> tuple[Array, Array, Array] | None:
        return None

    def _warnings(self, dataset: Dataset) -> tuple[str, ...]:
        return ()

    def _nominal(self, robot: Robot) -> tuple[Array | None, Array | None]:
        """Return start values, and nominal values for the sizes of the parameters."""
        if self.nominal is not None:
            values = load_parameters(robot, self.nominal)
            return values, values
        if self.supervision == 'none':
            return None, None
        prior = robot.a_priori()
        return prior, prior
