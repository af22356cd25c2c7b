"""
Measure how often a stock arm finds a clear way from one posture to another.

    python -m tools.approach_arms --arms ur5,panda --cases 12 --clearance 0.02
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants.mujoco_arms import make_stock_arm  # noqa: E402

from robot_id.exceptions import TrajectoryError  # noqa: E402
from robot_id.excitation.clearance import clearance_of  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402
from robot_id.tasks.playing.plan import make_plan  # noqa: E402
from robot_id.trajectory import SampledMotion  # noqa: E402

# A UR stands on a floor: its upper arm stays above it, its elbow does not turn through.
UPRIGHT = {1: (-3.1, 0.0), 2: (-2.9, 2.9)}
SHARE = 0.2


def ways(name: str, cases: int, margin: float, seed: int) -> None:
    """Print for each case the seconds of the approach, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        robot = load_robot(make_stock_arm(name, Path(folder)).robot_file)
        clearance, limits = clearance_of(robot, margin), robot.limits
        if clearance is None:
            raise SystemExit(f'{name}: no collision geometry')
        low = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
        high = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
        for joint, (least, most) in UPRIGHT.items() if name.startswith('ur') else ():
            low[joint], high[joint] = least, most
        rng = np.random.default_rng(seed)
        for case in range(cases):
            drawn = (rng.uniform(low, high) for _ in iter(int, 1))
            clear = (q for q in drawn if clearance.keeps(q[None]))
            start, end = next(clear), next(clear)
            motion = SampledMotion([0.0, 1.0], [end, end + 1e-3], np.zeros((2, robot.n)))
            begun = time.process_time()
            try:
                plan = make_plan(robot, motion, 1.0, start, SHARE, clearance, back=False)
                found = f'{plan.begin:.1f} s'
            except TrajectoryError as error:
                found = str(error)
            print(
                f'{name} {case}: {time.process_time() - begun:.2f} s of CPU, {found}', flush=True
            )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--arms', default='ur5', help='names, with commas')
    parser.add_argument('--cases', type=int, default=12)
    parser.add_argument('--clearance', type=float, default=0.02, help='m')
    parser.add_argument('--seed', type=int, default=5)
    given = parser.parse_args()
    for name in given.arms.split(','):
        ways(name, given.cases, given.clearance, given.seed)


if __name__ == '__main__':
    main()
