"""Picture of several results: parameters against the first one, and the torque errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_id.report.compare import Comparison


def plot_comparison(comparison: Comparison, path: str | Path) -> None:
    """
    Draw the difference of each parameter to the first result, with bars of two deviations.

    Differences are in percent of the first value; the axis is linear up to 10 % and logarithmic
    beyond, so that a parameter that is hardly known does not hide the others. A parameter that is
    zero in the first result has no percent and is left out.
    """
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot as plt

    shown = np.flatnonzero(np.isfinite(comparison.values[0]) & (comparison.values[0] != 0.0))
    height = max(3.0, 0.24 * len(shown) * max(1.0, len(comparison.labels) / 3) + 1.2)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, height), width_ratios=[3, 1])
    scale = 100.0 / np.abs(comparison.values[0, shown])
    rows = np.arange(len(shown))
    spread = 0.6 / len(comparison.labels)
    widest = 0.0
    for k, label in enumerate(comparison.labels):
        place = rows + spread * (k - (len(comparison.labels) - 1) / 2)
        percent = (comparison.values[k, shown] - comparison.values[0, shown]) * scale
        bars = np.nan_to_num(2.0 * comparison.std[k, shown] * scale)
        widest = max(widest, float(np.nanmax(np.abs(percent) + bars, initial=0.0)))
        left.errorbar(percent, place, xerr=bars, fmt='o', ms=3.5, lw=1, color=f'C{k}', label=label)
    if widest > 10.0:
        left.set_xscale('symlog', linthresh=10.0)
    left.axvline(0.0, color='0.6', lw=0.8, zorder=0)
    left.set_yticks(rows, [comparison.names[i] for i in shown])
    left.set_ylim(len(shown) - 0.5, -0.5)
    left.set_xlabel(f'difference to {comparison.labels[0]}, percent (bars: 2 standard deviations)')
    left.grid(alpha=0.3)
    left.legend(loc='best', fontsize=8)
    errors = np.nan_to_num([r.relative_error_percent for r in comparison.results])
    bars_at = np.arange(len(errors))
    right.bar(bars_at, errors, color=[f'C{k}' for k in range(len(errors))])
    right.set_xticks(bars_at, comparison.labels, rotation=30, ha='right')
    right.set_ylabel('relative torque error, percent')
    right.grid(axis='y', alpha=0.3)
    figure.suptitle(comparison.results[0].robot)
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=110)
    finally:
        plt.close(figure)
