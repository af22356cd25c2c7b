"""Where a Kalman filter begins, and the noise that it reckons with, from the recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.dataset import Dataset
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing
from robot_id.data.signals.torque_delay import torque_at_samples
from robot_id.dynamics import positive_on_motion
from robot_id.methods.closed_loop.consistent import consistent_start, nearest_consistent
from robot_id.methods.recursive.settings import per_item
from robot_id.methods.recursive.sizes import nominal_sizes
from robot_id.methods.result import Result
from robot_id.regression.preprocessing.alignment import Alignment
from robot_id.regression.preprocessing.rest_band import position_noise, resolution, white_noise
from robot_id.robot import Robot

Array = NDArray[np.float64]
NOISE = ('state_std', 'process_std', 'measurement_std')
# Configurations along the recording at which every estimate must have M(q) > 0.
GUARDS = 32
# The steps of an encoder are no white noise, and the loop moves with them: positions are trusted
# less, so that what lasts moves the parameters (SCARA: inertias 0.04 % off instead of 0.27).
DISTRUST = 30.0
# A filter that starts from least squares may explain the torques this much worse, no more.
WORSE = 1.5


class Try(NamedTuple):
    """
    One setting of a filter.

    :param covariance_factor: of the start, see `nearest_consistent`; 1: the least-squares estimate
        itself where it has a direct model.
    :param spread: times the deviations of the start.
    :param process: times those of the process.
    """

    covariance_factor: float
    spread: float
    process: float

    def words(self) -> str:
        """Return what a result says of it."""
        start = (
            ''
            if self.covariance_factor == 1.0
            else ', from a physically consistent robot with inertias away from zero'
        )
        return (
            'the first settings lost a positive definite M(q) or did not explain the torques: '
            f'repeated with parameter_std x {self.spread:g}, process_std x {self.process:g}{start}'
        )


# Ever nearer to the start: where M(q) is all but singular, the direct model turns any correction
# of a small inertia into an acceleration without bound.
TRIES = (
    Try(1.0, 1.0, 1.0),
    Try(1.0, 0.1, 3.0),
    Try(1e3, 0.1, 3.0),
    Try(1e3, 0.01, 10.0),
    Try(1e5, 0.01, 10.0),
)


def start_of(
    robot: Robot, wls: Result, positions: Sequence[Array], covariance_factor: float
) -> Array:
    """(b,) parameters with a direct model that explain the data, from a least-squares result."""
    if covariance_factor > 1.0:
        near = nearest_consistent(robot, wls.values, wls.covariance, covariance_factor)
        if near is not None and positive_on_motion(robot, near, positions):
            return near
    return consistent_start(robot, wls.values, positions, wls.covariance)


@dataclass(frozen=True)
class Start:
    """
    Start values of the parameters.

    :param chi: (b,).
    :param spread: (b,) deviations that the filter begins with.
    :param std: (b,) deviations that they have.
    :param torque_noise: (n,) rms of what they leave of the torques, noise above the filters
        included; None where that is not known.
    """

    chi: Array
    spread: Array
    std: Array
    torque_noise: Array | None

    def noise(
        self,
        robot: Robot,
        dataset: Dataset,
        processing: Processing,
        step: float,
        given: Mapping[str, float | Sequence[float] | None],
    ) -> dict[str, Array]:
        """
        Return the deviations state_std, process_std (2n,) and measurement_std (n,).

        :param given: those that are not derived from the data.
        """
        derived = self._derived(robot, dataset, processing, step)
        doubled = [f'{what} of {joint}' for what in ('dq', 'q') for joint in robot.joint_names]
        for key in NOISE:
            value = given.get(key)
            if value is not None:
                names = robot.joint_names if key == 'measurement_std' else doubled
                derived[key] = per_item(key, value, names)
            floor = 1e-9 if key == 'measurement_std' else 0.0
            derived[key] = np.maximum(derived[key], floor)
        return derived

    def _derived(
        self, robot: Robot, dataset: Dataset, processing: Processing, step: float
    ) -> dict[str, Array]:
        wide = wide_noise(dataset, processing, step)
        if self.torque_noise is None:
            return wide
        # What torques that are wrong by so much add to dq and q in a step.
        M = dynamics.inertia_matrix(robot, self.chi, guard_of(dataset))
        gain = np.linalg.solve(M, np.broadcast_to(np.diag(self.torque_noise), M.shape))
        speed = step * np.sqrt(np.mean(np.sum(gain**2, axis=2), axis=0))
        noise = np.maximum(position_noise(dataset), resolution(dataset) / np.sqrt(12.0))
        return {
            'state_std': wide['state_std'],
            'process_std': np.concatenate([speed, 0.5 * step * speed]),
            'measurement_std': np.maximum(DISTRUST * noise, 1e-3 * wide['measurement_std']),
        }


def start_from_wls(robot: Robot, dataset: Dataset, result: Result, attempt: Try) -> Start:
    """Return an IDIM-WLS estimate, or a robot near it with M(q) > 0 along the motion."""
    chi = start_of(
        robot, result, [run.position for run in dataset.runs], attempt.covariance_factor
    )
    spread = np.maximum(3.0 * result.std, 0.03 * np.abs(chi))
    spread = np.where(spread > 0.0, spread, 0.01 * nominal_sizes(robot.base.names, chi))
    left = np.zeros(robot.n)
    if result.prediction is not None:
        used = sum(run.used.sum(axis=0) for run in result.prediction.runs)
        left = result.prediction.residual_norms() / np.sqrt(np.maximum(used, 1))
    above = white_noise([run.torque for run in dataset.runs])
    return Start(chi, attempt.spread * spread, result.std, np.hypot(left, above))


def torque_per_interval(dataset: Dataset, alignment: Alignment) -> Dataset:
    """
    Return a recording whose torque k is the mean from sample k to the next one.

    A torque that is held is just that; any other belongs to its sample, late by its time offset.
    """
    offset = alignment.offset
    if offset is None or offset.held:
        return dataset
    late = np.array(offset.of_joints() if offset.differ else [offset.used[0]])
    return torque_from_sample_on(dataset, late)


def torque_from_sample_on(dataset: Dataset, late: Array) -> Dataset:
    """
    Return a recording whose torque k acts from sample k to the next one.

    :param late: (n,) or (1,) delay of the torques against the positions, s; that of a command that
        is recorded with the sample it answers is half a sample less than nothing.
    """
    half = 0.5 * dataset.runs[0].step
    shift = Processing(torque_delay_s=tuple(float(v) for v in late + half))
    if late.size == 1:
        shift = Processing(torque_delay_s=float(late[0] + half))
    runs = [
        replace(run, torque=torque_at_samples(run, shift, 0, len(run))) for run in dataset.runs
    ]
    return replace(dataset, runs=tuple(runs))


def wide_noise(dataset: Dataset, processing: Processing, step: float) -> dict[str, Array]:
    """
    Return deviations for a filter that knows nothing of its parameters.

    process_std of dq is 3 times what the rms acceleration adds in a step, that of q half a step of
    it, measurement_std what the position filter takes away: a filter that trusts its first
    linearisations too much keeps their errors.
    """
    n = len(dataset.joint_names)
    squares, speeds, lost, count = np.zeros(n), np.zeros(n), np.zeros(n), 0
    for run in dataset.runs:
        q, dq, ddq = differentiate(run, processing)
        squares += np.sum(ddq**2, axis=0)
        speeds += np.sum(dq**2, axis=0)
        lost += np.sum((run.position - q) ** 2, axis=0)
        count += len(run)
    gain = 3.0 * np.sqrt(squares / count) * step
    return {
        'state_std': np.concatenate([np.sqrt(speeds / count), gain * step]),
        'process_std': np.concatenate([gain, 0.5 * step * gain]),
        'measurement_std': np.maximum(np.sqrt(lost / count), 1e-6 * np.sqrt(speeds / count)),
    }


def guard_of(dataset: Dataset) -> Array:
    """(K, n) recorded positions at which every estimate must have M(q) > 0."""
    positions = np.concatenate([run.position for run in dataset.runs])
    return positions[np.linspace(0, len(positions) - 1, GUARDS).astype(int)]


def warnings_of(
    moved: int, nis: float, dataset: Dataset, factor: int, classical: bool
) -> tuple[str, ...]:
    """Return one line for each thing that a user of the filter should know."""
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
