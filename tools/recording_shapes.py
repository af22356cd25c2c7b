"""
Compare what one recording gives in files of any shape: parameters, findings and verdict.

    python -m tools.recording_shapes --arms 100 --seed 1 --out shapes.jsonl

Each arm of example-robot-data is drawn from the seed and its number alone: mount, motion, rotors,
friction, encoders, noise, rate, rests and how long joints move alone. MuJoCo plays it once; what
it recorded is identified as one file and in other shapes (`--shapes`, all with 'all'). Printed
are, by shape, the recordings that are refused, the distance of the parameters from those of one
file and from the truth in standard deviations, and how often findings and verdict are the same.
What is in `--out` already is not computed again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants.mujoco_arms import ARMS, make_arm  # noqa: E402
from plants.mujoco_truth import true_parameters  # noqa: E402
from plants.recording_shapes import SHAPES, Plan, play  # noqa: E402

from robot_id.data.dataset import Dataset  # noqa: E402
from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.robot import Robot, load_robot  # noqa: E402
from robot_id.tasks.identify import Request, identify  # noqa: E402

Array = NDArray[np.float64]
# Parameters count whose standard deviation is below this share of their estimate.
KNOWN = 0.2


def plan(rng: np.random.Generator) -> Plan:
    """Return what is played: rates, rests and parts as users have them."""
    return Plan(
        rate=float(rng.choice([125.0, 200.0, 250.0, 500.0])),
        together_s=float(rng.uniform(12.0, 25.0)),
        alone_s=float(rng.choice([0.0, 3.0, 5.0])),
        rest_s=float(rng.choice([0.3, 1.5, 4.0])),
    )


def fitted(robot: Robot, dataset: Dataset, truth: Array, check: bool) -> dict[str, Any]:
    """Return what an identification gives."""
    try:
        found = identify(Request(robot, dataset, check=check))
    except RobotIdError as error:
        return {'refused': str(error)}
    result = found.result
    return {
        'values': result.values.tolist(),
        'std': result.std.tolist(),
        'verdict': result.verdict,
        'reasons': list(result.reasons),
        'findings': sorted({str(each.get('code')) for each in result.findings}),
        'holdout': result.holdout_error_percent,
        'fit': result.relative_error_percent,
        'physical': bool(result.physical),
        'z': ((result.values - truth) / result.std).tolist(),
        'rows': result.extras.get('equations_per_joint'),
        'options': {key: result.options.get(key) for key in ('cutoff_hz', 'decimation')},
    }


def one_arm(seed: int, number: int, shapes: int | None, check: bool) -> dict[str, Any]:
    """Return what one arm gives in its shapes."""
    rng = np.random.default_rng([seed, number])
    name = list(ARMS)[int(rng.integers(len(ARMS)))]
    wanted = plan(rng)
    with tempfile.TemporaryDirectory() as folder:
        arm = make_arm(name, Path(folder), rng)
        robot = load_robot(arm.robot_file)
        played = play(arm, rng, wanted)
        dataset = played.dataset.select(robot.joint_names)
        played = type(played)(dataset, played.parts, played.model)
        truth = true_parameters(robot, played.model, rng)
        others = [each for each in SHAPES if each != 'whole']
        if shapes is not None:
            others = rng.permutation(others)[:shapes].tolist()
        found = {
            shape: fitted(robot, SHAPES[shape](played, rng), truth, check)
            for shape in ('whole', *others)
        }
    return {'number': number, 'arm': name, 'plan': vars(wanted), 'shapes': found}


def distances(one: dict[str, Any], other: dict[str, Any]) -> Array:
    """Return the differences of the parameters that both know, in standard deviations."""
    a, b = (np.array(each['values']) for each in (one, other))
    s, t = (np.array(each['std']) for each in (one, other))
    known = (s < KNOWN * np.abs(a)) & (t < KNOWN * np.abs(b))
    return np.asarray((a - b)[known] / np.hypot(s, t)[known])


def of_truth(one: dict[str, Any]) -> Array:
    """Return the errors of the parameters that are known, in standard deviations."""
    a, s = np.array(one['values']), np.array(one['std'])
    return np.array(one['z'])[s < KNOWN * np.abs(a)]


def report(found: list[dict[str, Any]]) -> str:
    """Return the table by shape."""
    lines = [
        '| shape | arms | refused | within 1.96 of one file, % | within 1.96 of the truth, % | '
        'same findings | same verdict | usable with an error beyond 5 |',
        '|' + '---|' * 8,
    ]
    for shape in SHAPES:
        mine = [(each['shapes'][shape], each['shapes']['whole']) for each in found
                if shape in each['shapes']]  # fmt: skip
        both = [(one, of) for one, of in mine if 'values' in one and 'values' in of]
        apart = np.concatenate([[], *(distances(*pair) for pair in both)])
        errors = [of_truth(one) for one, _ in mine if 'values' in one]
        z = np.concatenate([[], *errors])
        wrong = sum(
            one['verdict'] == 'usable' and bool(np.any(np.abs(of_truth(one)) > 5.0))
            for one, _ in mine
            if 'values' in one
        )
        lines.append(
            f'| {shape} | {len(mine)} | {sum("refused" in one for one, _ in mine)} | '
            f'{_percent(np.abs(apart) < 1.96)} | {_percent(np.abs(z) < 1.96)} | '
            f'{_percent([one["findings"] == of["findings"] for one, of in both])} | '
            f'{_percent([one["verdict"] == of["verdict"] for one, of in both])} | {wrong} |'
        )
    return '\n'.join(lines)


def _percent(flags: Any) -> str:
    return f'{100.0 * np.mean(flags):.1f}' if len(flags) else ''


def main() -> None:
    """Compare what is not there yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', type=int, default=100)
    parser.add_argument('--first', type=int, default=0, help='number of the first arm')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--shapes', default='2', help="shapes of each arm beside one file, 'all'")
    parser.add_argument('--no-check', action='store_true', help='without the check of the data')
    parser.add_argument('--out', type=Path, help='JSON lines, one for each arm')
    args = parser.parse_args()
    found: list[dict[str, Any]] = []
    if args.out and args.out.exists():
        found = [json.loads(line) for line in args.out.read_text().splitlines()]
    done = {each['number'] for each in found}
    shapes = None if args.shapes == 'all' else int(args.shapes)
    for number in range(args.first, args.first + args.arms):
        if number in done:
            continue
        one = one_arm(args.seed, number, shapes, not args.no_check)
        found.append(one)
        if args.out:
            with args.out.open('a') as file:
                file.write(json.dumps(one, default=float) + '\n')
        short = {k: v.get('verdict', v.get('refused', '')[:60]) for k, v in one['shapes'].items()}
        print(number, one['arm'], short, file=sys.stderr, flush=True)
    print(report(found))


if __name__ == '__main__':
    main()
