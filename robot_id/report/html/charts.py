"""The static charts of the report: whiteness, distribution, convergence, correlation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_id.methods.result import Iteration
from robot_id.regression.rows.prediction import Prediction
from robot_id.report.html.svg import Chart

Array = NDArray[np.float64]
LAGS = 40


def autocorrelation(prediction: Prediction, j: int, lags: int = LAGS) -> tuple[Array, int]:
    """Return r_1 .. r_k of the residual of joint j, and the number of samples."""
    parts = [
        np.where(r.used[:, j], r.measured[:, j] - r.predicted[:, j], np.nan)
        for r in prediction.runs
    ]
    count = int(sum(np.isfinite(p).sum() for p in parts))
    energy = sum(float(np.nansum(p * p)) for p in parts)
    lags = max(1, min(lags, count // 4))
    if count < 3 or energy == 0.0:
        return np.zeros(lags), count
    r = np.zeros(lags)
    for k in range(1, lags + 1):
        products = [p[:-k] * p[k:] for p in parts if len(p) > k]
        pairs = sum(int(np.isfinite(p).sum()) for p in products)
        if pairs:
            r[k - 1] = sum(float(np.nansum(p)) for p in products) / pairs * count / energy
    return r, count


def whiteness_chart(prediction: Prediction, j: int) -> str:
    """Draw the autocorrelation of a residual with the band of a white one."""
    r, count = autocorrelation(prediction, j)
    lags: Array = np.arange(1.0, len(r) + 1.0)
    low = min(-0.25, float(r.min()) - 0.05)
    chart = Chart(
        (0.5, len(r) + 0.5), (low, 1.0), 'autocorrelation of the residual', x_title='lag'
    )
    chart.bars(lags, r, 1.0, 'bar')
    band = 2.0 / np.sqrt(max(count, 1))
    for value in (band, -band):
        chart.level(value, 'limit')
    return str(chart)


def distribution_chart(prediction: Prediction, j: int, bins: int = 41) -> str:
    """Draw the distribution of a residual in its own deviations, and the normal one."""
    rho = np.concatenate(
        [(r.measured[:, j] - r.predicted[:, j])[r.used[:, j]] for r in prediction.runs]
    )
    sigma = float(rho.std()) or 1.0
    density, edges = np.histogram((rho - rho.mean()) / sigma, bins, (-4.1, 4.1), density=True)
    centres = (edges[1:] + edges[:-1]) / 2
    top = 1.1 * max(0.42, float(np.nan_to_num(density).max()))
    chart = Chart(
        (-4.1, 4.1), (0.0, top), 'distribution of the residual', x_title='standard deviations'
    )
    chart.bars(centres, np.nan_to_num(density), edges[1] - edges[0], 'bar')
    chart.line(centres, np.exp(-0.5 * centres**2) / np.sqrt(2 * np.pi), 'predicted')
    return str(chart)


def error_chart(history: Sequence[Iteration]) -> str:
    """Draw the relative error against the iterations."""
    errors = np.array([step.relative_error_percent for step in history])
    good = errors[np.isfinite(errors) & (errors > 0.0)]
    if not good.size:
        return ''
    x: Array = np.arange(1.0, len(errors) + 1.0)
    wide = bool(good.max() > 20.0 * good.min())
    low, high = (good.min() / 1.5, good.max() * 1.5) if wide else (0.0, 1.1 * good.max())
    limits = (0.5, len(errors) + 0.5)
    chart = Chart(limits, (low, high), 'relative error, percent', wide, 'iteration')
    chart.line(x, errors, 'measured')
    chart.dots(x, errors, 'dot')
    return str(chart)


def parameter_chart(history: Sequence[Iteration], std: Array) -> str:
    """Draw the distance of every parameter to its last value, in its deviations."""
    chi = np.array([step.parameters for step in history])
    with np.errstate(divide='ignore', invalid='ignore'):
        distance = np.abs(chi - chi[-1])[:-1] / std
    distance = np.where(np.isfinite(distance) & (distance > 1e-6), distance, np.nan)
    if len(chi) < 2 or not np.isfinite(distance).any():
        return ''
    low, high = np.nanmin(distance), np.nanmax(distance)
    x: Array = np.arange(1.0, len(chi))
    limits = (0.5, len(chi) - 0.5)
    chart = Chart(limits, (low / 2, high * 2), 'parameters on their way', True, 'iteration')
    for i in range(chi.shape[1]):
        chart.line(x, distance[:, i], 'thin')
        chart.dots(x, distance[:, i], 'small')
    chart.level(1.0, 'limit')
    return str(chart)


def correlation_of(covariance: Array) -> Array:
    """(b, b) correlations; a parameter without a deviation has none."""
    std = np.sqrt(np.diag(covariance))
    with np.errstate(divide='ignore', invalid='ignore'):
        return np.clip(np.nan_to_num(covariance / np.outer(std, std)), -1.0, 1.0)


def correlation_chart(correlation: Array, names: Sequence[str]) -> str:
    """Draw the matrix; its cells are found by the script from where the pointer is."""
    b = len(names)
    cell, side = 10, 10 * b
    parts = [
        f'<svg id="matrix" viewBox="0 0 {side} {side}" role="img" '
        'aria-label="correlation of the parameters">',
        f'<rect class="frame" width="{side}" height="{side}"/>',
    ]
    for i in range(b):
        for k in range(b):
            r = correlation[i, k]
            if abs(r) < 0.02:
                continue
            parts.append(
                f'<rect class="{"plus" if r > 0 else "minus"}" x="{cell * k}" y="{cell * i}" '
                f'width="{cell}" height="{cell}" opacity="{abs(r):.2f}"/>'
            )
    return ''.join(parts) + '</svg>'
