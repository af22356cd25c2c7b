"""
Measure `robot-id excite` on stock arms with their meshes, and what its motions are worth.

    python -m tools.excite_arms --arms ur5,panda --criteria weighted,determinant --out cases.jsonl

For each arm and criterion: a motion is searched within the budget; MuJoCo moves the arm along it
behind a vendor's loop that robot_id does not know, at 20, 50 and 100 % of its speed; the recording
is checked and identified; the parameters are compared with MuJoCo's, and predict the torques of a
random motion. What is in `--out` already is not computed again. Printed is a table.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants.mujoco_arms import make_stock_arm  # noqa: E402
from plants.mujoco_truth import add_damping_of_a_step, true_parameters  # noqa: E402
from plants.position_arm import CONTROL_S, PositionArm, Settings  # noqa: E402

from robot_id.data.dataset import Dataset, Run  # noqa: E402
from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.excitation.clearance import clearance_of  # noqa: E402
from robot_id.excitation.design import ExcitationOptions, excite  # noqa: E402
from robot_id.robot import Robot, load_robot  # noqa: E402
from robot_id.tasks.checks import check  # noqa: E402
from robot_id.tasks.identify import Request, identify  # noqa: E402
from robot_id.trajectory import TimeScaled, Trajectory  # noqa: E402
from robot_id.trajectory.random import random_trajectory  # noqa: E402

Array = NDArray[np.float64]
ARMS = (
    'ur3', 'ur5', 'ur10', 'ur5_gripper', 'panda', 'kinova', 'xarm7', 'z1', 'so100', 'baxter',
    'tiago', 'tiago_pro', 'pr2', 'talos_left', 'talos', 'romeo', 'icub', 'g1', 'centauro', 'alex',
)  # fmt: skip
SPEEDS = 0.2, 0.5, 1.0
# Parameters count whose standard deviation is below this share of their estimate.
KNOWN = 0.2
EVERY = 2


def played(arm: PositionArm, motions: list[Trajectory], names: tuple[str, ...]) -> Dataset:
    """Return joint states and reference while an arm follows motions, a run each."""
    runs = []
    for motion in motions:
        t = np.arange(0.0, motion.duration, CONTROL_S)
        wanted = np.stack(motion.sample(t), axis=1)
        arm.place(wanted[0, 0])
        q, tau = np.empty((len(t), arm.n)), np.empty((len(t), arm.n))
        for k, row in enumerate(wanted):
            q[k], tau[k] = arm.q, arm.effort()
            arm.advance(row)
        runs.append(
            Run(
                time=t[::EVERY],
                position=q[::EVERY],
                torque=tau[::EVERY],
                reference_position=wanted[::EVERY, 0],
            )
        )
    return Dataset(names, tuple(runs), 'stock arm')


def case(
    name: str, criterion: str, budget: float, evaluations: int | None, seed: int
) -> dict[str, Any]:
    """Return what one arm and criterion gave."""
    found: dict[str, Any] = {'arm': name, 'criterion': criterion, 'budget': budget, 'seed': seed}
    with tempfile.TemporaryDirectory() as folder:
        arm = make_stock_arm(name, Path(folder))
        robot = load_robot(arm.robot_file)
        begun = time.perf_counter()
        clearance = clearance_of(robot)
        found['preparation_s'] = time.perf_counter() - begun
        options = ExcitationOptions(
            criterion=criterion, budget_s=budget, evaluations=evaluations, seed=seed
        )
        try:
            motion = excite(robot, options, clearance)
        except RobotIdError as error:
            return found | {'refused': str(error)}
        found['search_s'] = motion.search.elapsed_s
        found['evaluations'] = motion.search.evaluations
        found['clearance_m'] = motion.clearance_m
        found['optimised'] = not any(note.startswith('not optimised') for note in motion.notes)
        found['cond'] = motion.search.figures['weighted']
        return found | identified(robot, arm.urdf, motion.trajectory, seed)


def identified(
    robot: Robot,
    urdf: Path,
    motion: Trajectory,
    seed: int,
    speeds: tuple[float, ...] = SPEEDS,
) -> dict[str, Any]:
    """Return check, verdict and errors of an identification from the ladder of speeds."""
    names = robot.joint_names
    start = tuple(motion.sample(0.0)[0].tolist())
    plant = PositionArm(Settings(str(urdf), start, names, seed=seed))
    data = played(plant, [TimeScaled(motion, speed) for speed in speeds], names)
    other = random_trajectory(robot.limits, 6.0, seed=seed + 100, share=0.5)
    try:
        done = identify(Request(robot, data, 'idim_wls', others=played(plant, [other], names)))
    except RobotIdError as error:
        return {'failed': str(error)}
    result = done.result
    add_damping_of_a_step(plant.model)
    truth = true_parameters(robot, plant.model, np.random.default_rng(0))
    known = (result.std > 0.0) & (result.std < KNOWN * np.abs(result.values))
    z = ((result.values - truth) / result.std)[known]
    validation = done.validation
    return {
        'codes': list(check(robot, done.dataset).codes),
        'verdict': result.verdict,
        'reasons': list(result.reasons),
        'error': result.relative_error_percent,
        'holdout': result.holdout_error_percent,
        'validation': None if validation is None else validation.error_percent,
        'parameters': len(truth),
        'known': int(known.sum()),
        'covered': int((np.abs(z) < 1.96).sum()),
        'rms_z': float(np.sqrt(np.mean(z**2))) if z.size else None,
    }


def table(cases: list[dict[str, Any]]) -> str:
    """Return one row for each case, and one for each criterion."""
    lines = [
        '| arm, criterion | search s | evaluations | clearance m | check | verdict | hold-out % |'
        ' random motion % | known | in 95 % |',
        '|---|---|---|---|---|---|---|---|---|---|',
    ]
    for c in cases:
        label = f'{c["arm"]}, {c["criterion"]}'
        if 'refused' in c or 'failed' in c:
            lines.append(f'| {label} | {c.get("refused", c.get("failed"))} |')
            continue
        optimised = '' if c['optimised'] else ' (not optimised)'
        lines.append(
            f'| {label} | {c["search_s"]:.1f} | {c["evaluations"]}{optimised} | '
            f'{c["clearance_m"]:.3f} | {", ".join(c["codes"]) or "-"} | {c["verdict"]} | '
            f'{c["holdout"]:.2f} | {c["validation"]:.2f} | {c["known"]} of {c["parameters"]} | '
            f'{100 * c["covered"] / max(c["known"], 1):.0f} % |'
        )
    return '\n'.join(lines)


def main() -> None:
    """Run the cases that are not there yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', default=','.join(ARMS))
    parser.add_argument('--criteria', default='weighted')
    parser.add_argument('--budget', type=float, default=20.0, help='of each search, s')
    parser.add_argument('--evaluations', type=int, help='of each worker, instead of the budget')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--out', type=Path, help='JSON lines, one for each case')
    args = parser.parse_args()
    cases: list[dict[str, Any]] = []
    if args.out and args.out.exists():
        cases = [json.loads(line) for line in args.out.read_text().splitlines()]
    done = {(c['arm'], c['criterion']) for c in cases}
    for arm in args.arms.split(','):
        for criterion in args.criteria.split(','):
            if (arm, criterion) in done:
                continue
            cases.append(case(arm, criterion, args.budget, args.evaluations, args.seed))
            print(json.dumps(cases[-1], default=float), file=sys.stderr, flush=True)
            if args.out:
                with args.out.open('a') as file:
                    file.write(json.dumps(cases[-1], default=float) + '\n')
    print(table(cases))


if __name__ == '__main__':
    main()
