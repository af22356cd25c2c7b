"""
Compare methods on arms behind a vendor's loop that robot_id does not know.

    python -m tools.vendor_loop_methods --arms ur5,panda --out cases.jsonl

Each arm is MuJoCo's with rotors and friction with stick (plants/position_arm.py); it follows a
random motion at 50 and 100 % of its speed, and joint states come at 250 Hz with the reference of
its controller or without one, with encoders that are fine or coarse. Printed are the error on
another motion, and how the parameters compare with MuJoCo's.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from excite_arms import KNOWN, played  # noqa: E402
from plants.mujoco_arms import make_stock_arm  # noqa: E402
from plants.mujoco_truth import add_damping_of_a_step, true_parameters  # noqa: E402
from plants.position_arm import PositionArm, Settings  # noqa: E402

from robot_id.data.dataset import Dataset  # noqa: E402
from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402
from robot_id.tasks.identify import Request, identify  # noqa: E402
from robot_id.trajectory import TimeScaled  # noqa: E402
from robot_id.trajectory.random import random_trajectory  # noqa: E402

METHODS = 'idim_wls', 'idim_iv', 'didim'
SPEEDS, SECONDS = (0.5, 1.0), 12.0
# rad: of a good encoder, and of a poor one.
STEPS = 5e-5, 2e-3


def without_reference(data: Dataset) -> Dataset:
    """Return a recording of a controller that tells nothing of its reference."""
    return replace(data, runs=tuple(replace(run, reference_position=None) for run in data.runs))


def coarse(data: Dataset, step: float) -> Dataset:
    """Return a recording with encoders of a step, rad."""
    runs = [replace(run, position=np.round(run.position / step) * step) for run in data.runs]
    return replace(data, runs=tuple(runs))


def cases(name: str, seed: int) -> list[dict[str, Any]]:
    """Return what each method, encoder and reference gave on one arm."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        arm = make_stock_arm(name, Path(folder))
        robot = load_robot(arm.robot_file)
        motion = random_trajectory(robot.limits, SECONDS, seed=seed, share=0.5)
        other = random_trajectory(robot.limits, 6.0, seed=seed + 100, share=0.5)
        start = tuple(motion.sample(0.0)[0].tolist())
        plant = PositionArm(Settings(str(arm.urdf), start, robot.joint_names, seed=seed))
        data = played(plant, [TimeScaled(motion, each) for each in SPEEDS], robot.joint_names)
        unseen = played(plant, [other], robot.joint_names)
        add_damping_of_a_step(plant.model)
        truth = true_parameters(robot, plant.model, np.random.default_rng(0))
        for step in STEPS:
            for reference in (True, False):
                given = coarse(data if reference else without_reference(data), step)
                for method in METHODS:
                    case = {'arm': name, 'step': step, 'reference': reference, 'method': method}
                    begun = time.process_time()
                    try:
                        done = identify(Request(robot, given, method, others=unseen))
                    except RobotIdError as error:
                        found.append(case | {'failed': str(error)})
                        continue
                    result = done.result
                    known = (result.std > 0.0) & (result.std < KNOWN * np.abs(result.values))
                    z = ((result.values - truth) / result.std)[known]
                    off = np.abs(result.values / truth - 1.0)[known]
                    validation = done.validation
                    found.append(
                        case
                        | {
                            'cpu_s': time.process_time() - begun,
                            'verdict': result.verdict,
                            'iterations': result.iterations,
                            'unseen': None if validation is None else validation.error_percent,
                            'known': int(known.sum()),
                            'parameters': len(truth),
                            'covered': int((np.abs(z) < 1.96).sum()),
                            'median_off_percent': 100.0 * float(np.median(off)),
                            'reasons': list(result.reasons),
                        }
                    )
                    print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return found


def table(found: list[dict[str, Any]]) -> str:
    """Return one row for each case."""
    lines = [
        '| arm | encoder, rad | reference | method | verdict | other motion, % | known | in 95 % |'
        ' median off, % | CPU, s |',
        '|---|---|---|---|---|---|---|---|---|---|',
    ]
    for c in found:
        label = (
            f'| {c["arm"]} | {c["step"]:g} | {"yes" if c["reference"] else "no"} | {c["method"]} |'
        )
        if 'failed' in c:
            lines.append(f'{label} {c["failed"]} |')
            continue
        lines.append(
            f'{label} {c["verdict"]} | {c["unseen"]:.2f} | {c["known"]} of {c["parameters"]} | '
            f'{c["covered"]} | {c["median_off_percent"]:.2f} | {c["cpu_s"]:.0f} |'
        )
    return '\n'.join(lines)


def main() -> None:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', default='ur5')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=Path, help='JSON lines, one for each case')
    args = parser.parse_args()
    found = [case for name in args.arms.split(',') for case in cases(name, args.seed)]
    if args.out:
        args.out.write_text(''.join(json.dumps(case) + '\n' for case in found))
    print(table(found))


if __name__ == '__main__':
    main()
