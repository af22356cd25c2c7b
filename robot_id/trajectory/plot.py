"""A picture of a motion against its limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_id.exceptions import OptionError
from robot_id.trajectory.limits import MotionLimits
from robot_id.trajectory.trajectory import Trajectory


def plot_motion(
    trajectory: Trajectory, limits: MotionLimits, path: str | Path, title: str = ''
) -> None:
    """Draw position, velocity and acceleration as shares of their limits (dashed) into a file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    t = np.linspace(0.0, trajectory.duration, 2001)
    q, dq, ddq = trajectory.sample(t)
    figure = Figure(figsize=(10, 8))
    FigureCanvasAgg(figure)
    panels = figure.subplots(3, 1, sharex=True)
    shares = (
        ('position', (q - limits.middle) / limits.half),
        ('velocity', dq / limits.velocity),
        ('acceleration', ddq / np.where(np.isfinite(limits.acceleration), limits.acceleration,
                                        np.maximum(np.abs(ddq).max(axis=0), 1e-12))),
    )  # fmt: skip
    for axes, (what, share) in zip(panels, shares):
        for j, name in enumerate(limits.joint_names):
            axes.plot(t, share[:, j], lw=1.0, label=name)
        for bound in (-1.0, 1.0):
            axes.axhline(bound, color='k', lw=0.8, ls='--')
        axes.set_ylabel(f'{what} / limit')
        axes.grid(alpha=0.3)
    panels[0].set_title(title)
    panels[0].legend(loc='upper right', ncols=min(len(limits.joint_names), 6), fontsize='small')
    panels[-1].set_xlabel('time (s)')
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=110)
    except ValueError as error:
        raise OptionError('the name of a picture must end in .png, .svg or .pdf') from error
