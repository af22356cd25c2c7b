"""A recording of a simulated robot, whose true parameters are known."""

from __future__ import annotations

from pathlib import Path

from robot_id.control import tune
from robot_id.data import Dataset, load, save
from robot_id.dynamics import Disturbances, simulate
from robot_id.model import load_robot
from robot_id.trajectory.default import motion_of


def simulated_bag(path: Path, robot: str = 'emps', seconds: float = 6.0) -> Dataset:
    """Write a bag of a simulated robot and return what is in it."""
    model = load_robot(robot)
    loop = model.loop()
    reference = motion_of(model, 'lively', seconds, 1).sampled(loop.rate_hz, 1)
    run = simulate(
        model,
        model.truth(),
        reference,
        tune(model, loop),
        disturbances=Disturbances.of_robot(model, 1),
    )
    save(Dataset(model.joint_names, (run.to_run(1),), source='simulated'), path)
    return load(path, robot=model)
