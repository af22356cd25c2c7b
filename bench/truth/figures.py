"""What the errors of many experiments say about the deviations that were printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.methods.outcome import INTERVAL

Array = NDArray[np.float64]
# A parameter counts as known where its reported deviation is below this share of the estimate.
KNOWN = 0.2
# A bias that an estimator should not have, in scatters of its estimate.
LARGEST_BIAS = 0.3


@dataclass(frozen=True)
class Figures:
    """
    One method on one robot.

    :param experiments: that gave a converged estimate.
    :param failed: that did not.
    :param names: of the p parameters known better than 20 %.
    :param covered: (p,) share of the 95 % intervals that hold the truth.
    :param bias: (p,) |mean error| / standard deviation of the errors.
    :param deviation: (p,) median reported deviation / standard deviation of the errors.
    :param error: (p,) root mean square error in percent of the truth.
    :param seconds: median processor time of one identification.
    """

    experiments: int
    failed: int
    names: tuple[str, ...]
    covered: Array
    bias: Array
    deviation: Array
    error: Array
    seconds: float

    @property
    def worst_bias(self) -> float:
        """
        The largest bias without what chance gives it.

        The mean of N experiments scatters by 1 / sqrt(N) itself; that is taken off the square.
        """
        return float(np.sqrt(max(float(np.max(self.bias)) ** 2 - 1.0 / self.experiments, 0.0)))

    @property
    def biased(self) -> int:
        """Parameters whose bias is above 0.3 by more than two deviations of their mean."""
        return int(np.sum(self.bias > LARGEST_BIAS + 2.0 / np.sqrt(self.experiments)))

    @property
    def coverage(self) -> float:
        """Share of all intervals that hold the truth."""
        return float(np.mean(self.covered)) if self.covered.size else float('nan')


def figures(rows: Sequence[dict[str, Any]]) -> Figures:
    """Return the figures of the experiments of one robot and one method."""
    good = [row for row in rows if row.get('converged')]
    failed = len(rows) - len(good)
    if len(good) < 2:
        none = np.empty(0)
        return Figures(len(good), failed, (), none, none, none, none, float('nan'))
    values, std = (np.array([row[key] for row in good], float) for key in ('values', 'std'))
    truth = np.array(good[0]['truth'])
    with np.errstate(divide='ignore', invalid='ignore'):
        known = np.median(std / np.abs(values), axis=0) < KNOWN
    errors = (values - truth)[:, known]
    scatter = np.maximum(errors.std(axis=0, ddof=1), 1e-300)
    return Figures(
        len(good),
        failed,
        tuple(name for name, flag in zip(good[0]['names'], known) if flag),
        np.mean(np.abs(errors) <= INTERVAL * std[:, known], axis=0),
        np.abs(errors.mean(axis=0)) / scatter,
        np.median(std[:, known], axis=0) / scatter,
        100.0 * np.sqrt(np.mean(errors**2, axis=0)) / np.maximum(np.abs(truth[known]), 1e-300),
        float(np.median([row['seconds'] for row in good])),
    )
