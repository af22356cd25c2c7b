"""Whiteness of the residual: its autocorrelation shows how optimistic the deviations are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from robot_id.regression.rows.prediction import Prediction

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Whiteness:
    """
    Autocorrelation of one joint's residual.

    :param lag_1: correlation of neighbouring samples.
    :param ljung_box_p: probability of such correlations in a white residual.
    :param inflation: 1 + 2 sum r_k, by which correlated samples inflate the variance of an
        estimate whose column varies slowly; the deviations are optimistic by its root.
    """

    lag_1: float
    ljung_box_p: float
    inflation: float

    @property
    def factor(self) -> float:
        """Factor by which a standard deviation may be too small."""
        return float(np.sqrt(self.inflation))


def whiteness(residuals: Sequence[Array], used: Sequence[Flags] | None = None) -> Whiteness:
    """
    Judge the residual of one joint.

    :param residuals: one (r,) series for each run; correlations never cross a run's border.
    :param used: (r,) flags for each run of the samples that took part (rest band); all when None.
    """
    if used is None:
        used = [np.ones(len(rho), bool) for rho in residuals]
    count = int(sum(flags.sum() for flags in used))
    energy = sum(float(np.sum(rho[flags] ** 2)) for rho, flags in zip(residuals, used))
    if count < 3 or energy == 0.0:
        return Whiteness(0.0, 1.0, 1.0)
    lags = int(min(max(10, 10 * np.log10(count)), count // 4 + 1))
    correlations = np.zeros(lags)
    for k in range(1, lags + 1):
        products, pairs = 0.0, 0
        for rho, flags in zip(residuals, used):
            both = flags[:-k] & flags[k:]
            products += float(np.sum(rho[:-k][both] * rho[k:][both]))
            pairs += int(both.sum())
        if pairs:
            correlations[k - 1] = products / pairs * count / energy
    statistic = count * np.sum(correlations**2)
    # Sum until the correlation is lost in its own scatter: the tail is noise.
    small = np.flatnonzero(correlations < 2.0 / np.sqrt(count))
    first = correlations[: small[0]] if small.size else correlations
    inflation = 1.0 + 2.0 * float(np.sum(first))
    return Whiteness(float(correlations[0]), float(chdtrc(lags, statistic)), max(inflation, 1.0))


def judge(prediction: Prediction) -> list[Whiteness]:
    """Return the whiteness of each joint's residual."""
    return [
        whiteness(
            [run.measured[:, j] - run.predicted[:, j] for run in prediction.runs],
            [run.used[:, j] for run in prediction.runs],
        )
        for j in range(len(prediction.joint_names))
    ]


def warn_if_correlated(
    judgements: Sequence[Whiteness], joint_names: Sequence[str], threshold: float = 1.25
) -> tuple[str, ...]:
    """Return one warning line when deviations are too small by more than the threshold."""
    bad = [
        (name, w)
        for name, w in zip(joint_names, judgements)
        if w.factor > threshold and w.ljung_box_p < 0.01
    ]
    if not bad:
        return ()
    worst = max(w.factor for _, w in bad)
    listing = ', '.join(f'{name} ({w.lag_1:.2f})' for name, w in bad)
    return (
        f'the residual is autocorrelated (lag 1: {listing}): standard deviations are too small '
        f'by a factor of up to {worst:.1f}; decimate more, or suspect unmodelled effects',
    )
