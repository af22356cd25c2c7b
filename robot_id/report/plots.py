"""Pictures: measured and predicted torque, residual, friction, and several results compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_id.exceptions import DataError
from robot_id.extras import MissingExtra
from robot_id.regression.rows.prediction import Prediction
from robot_id.report.compare import Comparison
from robot_id.robot import Robot
from robot_id.robot.parameters.units import torque_units
from robot_id.tasks.friction.curves import FrictionCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_prediction(prediction: Prediction, directory: str | Path, title: str = '') -> list[Path]:
    """
    Draw torque and residual of each joint into PNG files of a directory, which is made if needed.

    Samples that the rest band left out are not drawn; runs follow each other in time.
    """
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot as plt

    directory = Path(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f'{directory}: cannot make this directory ({error.strerror})') from error
    files = []
    for j, joint in enumerate(prediction.joint_names):
        figure, (top, bottom) = plt.subplots(
            2, 1, sharex=True, figsize=(10, 6), height_ratios=[2, 1]
        )
        _draw_joint(prediction, j, top, bottom, title, 'SI')
        figure.tight_layout()
        path = directory / f'torque_{j + 1}_{_file_name(joint)}.png'
        try:
            figure.savefig(path, dpi=110)
        except OSError as error:
            raise DataError(f'{path}: cannot write ({error.strerror})') from error
        finally:
            plt.close(figure)
        files.append(path)
    return files


def _draw_joint(
    prediction: Prediction, j: int, top: Axes, bottom: Axes, title: str, unit: str
) -> None:
    """Draw torque and residual of one joint into two axes."""
    times = one_after_another([run.time for run in prediction.runs])
    for k, (time, run) in enumerate(zip(times, prediction.runs)):
        measured, predicted = (
            np.where(run.used[:, j], torque[:, j], np.nan)
            for torque in (run.measured, run.predicted)
        )
        # The wide line stays visible below the narrow one where both coincide.
        top.plot(time, measured, 'C0', lw=2.4, alpha=0.6, label=None if k else 'measured')
        top.plot(time, predicted, 'C1', lw=0.9, label=None if k else 'predicted')
        bottom.plot(time, measured - predicted, 'C3', lw=0.8)
    percent = prediction.relative_error_percent_per_joint[j]
    joint = prediction.joint_names[j]
    top.set_title(f'{title + ", " if title else ""}{joint}: relative error {percent:.2f} %')
    top.set_ylabel(f'torque ({unit})')
    top.legend(loc='upper right')
    bottom.set_ylabel(f'residual ({unit})')
    bottom.set_xlabel('time (s)')
    for axes in (top, bottom):
        axes.grid(alpha=0.3)


def draw_torques(robot: Robot, prediction: Prediction, title: str = '') -> Figure:
    """Return one figure with torque and residual of every joint."""
    plt = _pyplot()
    n = len(prediction.joint_names)
    figure, axes = plt.subplots(
        2 * n, 1, sharex=True, figsize=(9, 3.6 * n), height_ratios=[2, 1] * n, squeeze=False
    )
    for j, unit in enumerate(torque_units(robot)):
        _draw_joint(prediction, j, axes[2 * j, 0], axes[2 * j + 1, 0], title, unit)
    figure.tight_layout()
    return figure


def draw_friction(curves: Sequence[FrictionCurve], title: str = '') -> Figure:
    """Return one figure with the friction of every joint against its velocity."""
    plt = _pyplot()
    columns = min(len(curves), 3)
    rows = -(-len(curves) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.2 * rows), squeeze=False)
    for place, curve in zip(axes.flat, curves):
        place.plot(curve.velocity, curve.measured, '.', ms=2, alpha=0.4, label='measured')
        place.plot(curve.grid, curve.fitted, 'C1', lw=1.8, label='fitted')
        place.set_title(f'{title + ", " if title else ""}{curve.joint}')
        place.set_xlabel(f'velocity ({curve.velocity_unit})')
        place.set_ylabel(f'friction ({curve.torque_unit})')
        place.grid(alpha=0.3)
    for place in axes.flat[len(curves) :]:
        place.set_visible(False)
    axes[0, 0].legend()
    figure.tight_layout()
    return figure


def _pyplot() -> Any:
    """Return pyplot with the backend that the user has chosen."""
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        raise MissingExtra('matplotlib') from error
    return pyplot


def one_after_another(times: list[np.ndarray]) -> list[np.ndarray]:
    """Shift the time of a run that begins before the last one has ended to just after it."""
    shifted: list[np.ndarray] = []
    for time in times:
        if shifted and len(time) and len(shifted[-1]) and time[0] <= shifted[-1][-1]:
            step = time[1] - time[0] if len(time) > 1 else 0.0
            time = time - time[0] + shifted[-1][-1] + step
        shifted.append(time)
    return shifted


def _file_name(joint: str) -> str:
    return ''.join(c if c.isalnum() or c in '-_' else '_' for c in joint)


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
