"""Pictures: measured against predicted torque, and the residual, one file per joint."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_id.exceptions import DataError
from robot_id.regression.rows.prediction import Prediction


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
    times = one_after_another([run.time for run in prediction.runs])
    files = []
    for j, joint in enumerate(prediction.joint_names):
        figure, (top, bottom) = plt.subplots(
            2, 1, sharex=True, figsize=(10, 6), height_ratios=[2, 1]
        )
        for k, (time, run) in enumerate(zip(times, prediction.runs)):
            measured, predicted = (
                np.where(run.used[:, j], torque[:, j], np.nan)
                for torque in (run.measured, run.predicted)
            )
            first = k == 0
            top.plot(time, measured, 'C0', lw=1.2, label='measured' if first else None)
            top.plot(time, predicted, 'C1', lw=0.9, label='predicted' if first else None)
            bottom.plot(time, measured - predicted, 'C3', lw=0.8)
        percent = prediction.relative_error_percent_per_joint[j]
        top.set_title(f'{title + ", " if title else ""}{joint}: relative error {percent:.2f} %')
        top.set_ylabel('torque or force (SI)')
        top.legend(loc='upper right')
        bottom.set_ylabel('residual')
        bottom.set_xlabel('time (s)')
        for axes in (top, bottom):
            axes.grid(alpha=0.3)
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
