"""A recording of a simulated robot, whose true parameters are known."""

from __future__ import annotations

from pathlib import Path

from robot_id.data import Dataset, load, save
from robot_id.robot import load_robot
from robot_id.tasks import record
from robot_id.trajectory.default import motion_of


def simulated_bag(path: Path, robot: str = 'emps', seconds: float = 6.0) -> Dataset:
    """Write a bag of a simulated robot and return what is in it."""
    model = load_robot(robot)
    save(record(model, motion_of(model, 'random', seconds, 1), seed=1), path)
    return load(path, robot=model)
