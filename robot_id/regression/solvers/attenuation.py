"""
Attenuation of an estimate by the noise of the positions in W, and its correction.

Least squares take W as exact. Noise u of the filtered motion makes it W + dW, and to second order
the estimate moves by -(W'W)^-1 E[dW' dW] chi: inertias look smaller (attenuation). The noise is
seen in the data (fourth differences of the positions), so the same rows are made twice more, from
positions with as much noise again, +u and -u. What is odd in u cancels in the mean of the two
estimates; what is left is the attenuation of one share of noise (the first step of SIMEX, Cook and
Stefanski 1994), and the data have one share of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing, rows_left
from robot_id.regression.preprocessing.rest_band import passed_hz, position_noise
from robot_id.regression.rows.observation import Observation

Array = NDArray[np.float64]
# Rows that the mean of the squared noise needs; short recordings take several pairs.
ROWS, LARGEST_PAIRS = 3000, 4
# An attenuation of the accelerations below this share of the best known parameter is none.
NEGLIGIBLE = 0.05
# Noise above this share of the squared accelerations is not small.
LARGEST_SHARE = 0.05
# Interval of the accelerations that measure how fast a motion changes.
COARSE_S = 0.02


def attenuation(
    observation: Observation,
    chi: Array,
    relative_std: float,
    solve: Callable[[Observation], Array],
) -> Array | None:
    """
    Return (b,) the shift of an estimate by the noise of the positions.

    :param chi: (b,) the estimate.
    :param relative_std: of the parameter that is known best, deviation over value.
    :param solve: gives the same estimate from another observation.
    :return: None where it is negligible, where it is too large for a correction of second order
        (positions without a filter), or where the rows are too many to be kept.
    """
    if observation.kept_rows is None:
        return None
    dataset, processing = observation.dataset, observation.processing
    std = position_noise(dataset)
    share = noise_share(dataset, processing, std)
    if share <= NEGLIGIBLE * relative_std or share > LARGEST_SHARE:
        return None
    rows = max(rows_left(dataset, processing), 1)
    pairs = int(np.clip(np.ceil(ROWS / rows), 1, LARGEST_PAIRS))
    moved = np.zeros_like(chi)
    for k in range(pairs):
        for sign in (1.0, -1.0):
            noisy = noisier(dataset, sign * std, k)
            moved += solve(observation.of(noisy)) - chi
    return moved / (2.0 * pairs)


def noisier(dataset: Dataset, std: Array, seed: int) -> Dataset:
    """Return the data with white noise of deviation (n,) std added to the positions."""
    rng = np.random.default_rng([seed, len(dataset)])
    runs = tuple(
        replace(run, position=run.position + std * rng.standard_normal(run.position.shape))
        for run in dataset.runs
    )
    return replace(dataset, runs=runs)


def noise_share(dataset: Dataset, processing: Processing, std: Array) -> float:
    """
    Return the largest share of a joint's squared acceleration that is noise of its position.

    White noise of deviation s at f Hz has the density 2 s^2 / f; what passes below B Hz,
    differentiated twice, has the variance 2 s^2 / f (2 pi)^4 B^5 / 5.
    """
    band = passed_hz(dataset.rate, processing)
    noise = std**2 * (2.0 / dataset.rate) * (2.0 * np.pi) ** 4 * band**5 / 5.0
    squares, count = np.zeros(len(std)), 0
    for run in dataset.runs:
        every = max(1, min(round(COARSE_S * run.rate), (len(run) - 1) // 2))
        step = every * run.step
        found = np.diff(run.position[::every], n=2, axis=0) / step**2
        squares += np.sum(found**2, axis=0) - len(found) * 6.0 * std**2 / step**4
        count += len(found)
    return float(np.max(noise / np.maximum(squares / max(count, 1), noise + 1e-300)))
