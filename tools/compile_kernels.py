"""
Compile all kernels and the bytecode of all that robot_id imports, so that nothing waits for it.

Usage: python tools/compile_kernels.py

Everything compiled is used once on a small robot; machine code does not depend on the robot.
Python writes the bytecode of a module when it is first imported: all are imported here.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import robot_id
from robot_id import dynamics
from robot_id.exceptions import RobotIdError
from robot_id.extras import EXTRAS
from robot_id.methods import registry
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.memory import KINDS, Memory
from robot_id.methods.recursive.supervision import CheapRule, EigenvalueRule
from robot_id.robot import load_robot
from robot_id.tasks import record, run_ilic
from robot_id.trajectory.random import random_trajectory


def import_all() -> None:
    """Import every module of robot_id, and the optional packages that it imports when needed."""
    modules = [module.name for module in pkgutil.walk_packages(robot_id.__path__, 'robot_id.')]
    for name in (*modules, *EXTRAS, 'h5py', 'scipy.io', 'matplotlib.pyplot'):
        # Nodes need the messages, which may be half built at this moment; only bytecode is lost.
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def main() -> None:
    """Import everything; run every method and both controllers on a few seconds of the SCARA."""
    import_all()
    dynamics.warm_up()
    robot = load_robot('scara')
    loop = robot.loop('default')
    motion = random_trajectory(robot.limits, 6.0)
    measured = record(robot, motion, seed=1)
    run = measured.runs[0]
    for name in registry.names():
        try:
            registry.create(name, {}).estimate(robot, measured)
        except RobotIdError as error:
            print(f'{name}: {error}')
    for kind in KINDS:
        for rule in (CheapRule(), EigenvalueRule()):
            online = OnlineIdentifier(
                robot,
                loop.rate_hz,
                memory=Memory(kind, 100),
                supervisor=rule,
                period=10,
                scale=np.maximum(np.abs(robot.truth()), 0.01),
            )
            for q, tau in zip(run.position[:300], run.torque[:300]):
                online.feed(q, tau)
    run_ilic(robot, robot.truth(), motion, 1)
    dynamics.derivatives(robot, robot.truth(), *np.zeros((3, 2)))


if __name__ == '__main__':
    main()
