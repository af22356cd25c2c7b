"""The section about the motion: positions and velocities of every joint, filtered as the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.run_names import run_labels
from robot_id.methods.result import Result
from robot_id.regression.preprocessing.options import resolve_options
from robot_id.regression.rows.sampling import long_enough, whole_motion
from robot_id.report.html import markup, sections
from robot_id.report.html.series import motion_series
from robot_id.robot import Robot
from robot_id.robot.parameters.units import position_units
from robot_id.tasks.validation import Conditions

Array = NDArray[np.float64]
KEY = 'motion'
_LEAD = (
    'Positions and, below, velocities of every joint, filtered and differentiated as in the fit.'
)


def motion_numbers(robot: Robot, result: Result, dataset: Dataset) -> dict[str, Any]:
    """Return what the script of the page draws."""
    dataset = dataset.select(robot.joint_names)
    conditions = Conditions.of(result, dataset.rate)
    processing = resolve_options(
        conditions.processing, dataset, robot, conditions.coulomb_slope
    ).processing
    runs = [dataset.runs[k] for k in long_enough(dataset, processing)[0]]
    motions = [(run.time, *whole_motion(run, processing)[:2]) for run in runs]
    return motion_series(robot.joint_names, motions, position_units(robot), run_labels(runs))


def motion_section(robot: Robot) -> str:
    """Return places for the drawings of the script, one for each joint."""
    legend = (
        '<p class="legend"><i class="position"></i> position <i class="velocity"></i> velocity</p>'
    )
    plots = ''.join(
        sections.plot(KEY, j, name, f'motion of {name}')
        for j, name in enumerate(robot.joint_names)
    )
    return markup.section(KEY, 'The motion', sections.zoom_bar(KEY, legend) + plots, _LEAD)
