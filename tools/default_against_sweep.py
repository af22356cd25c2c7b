"""
Compare the default processing with the best of a sweep of cut-off and decimation, by hold-out.

    python -m tools.default_against_sweep --arms 20 --seed 1 --out sweep.jsonl

The recordings are EMPS, TX40 and UR10e (where they are, see README) and arms of example-robot-data
that MuJoCo simulates with random mounts, rates, noise and friction. Every fit is judged on the
same rows that were kept back, whatever options it had. What is in `--out` already is
not computed again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants.mujoco_arms import ARMS, make_arm  # noqa: E402
from plants.recording_conditions import Conditions, recorded  # noqa: E402

from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402
from robot_id.tasks.identify import Request, identify  # noqa: E402
from robot_id.tasks.measurements import load_for  # noqa: E402

CUTOFFS_HZ = (2.0, 4.0, 7.0, 12.0, 20.0, 40.0, 80.0)
BANDS_HZ = (1.0, 2.0, 4.0, 8.0, 16.0)
SHARED = ROOT.parent / 'shared' / 'data'
REAL = {
    'emps': ('emps', 'emps/DATA_EMPS.mat', 'emps_benchmark'),
    'tx40': ('tx40', 'tx40', 'tx40_csv'),
    'ur10e': ('ur10e/ur10e.urdf', 'ur10e/identification.csv.gz', 'ur10e_csv'),
}


def real(name: str, shared: Path) -> tuple[Any, Any]:
    """Return robot and recording of a measured robot."""
    robot_file, file, mapping = REAL[name]
    robot = load_robot(shared / robot_file if robot_file.endswith('.urdf') else robot_file)
    return robot, load_for(robot, [shared / file], mapping)


def simulated(seed: int, number: int, folder: Path) -> tuple[str, Any, Any]:
    """Return an arm drawn from the seed: noise, friction, rate and length as users have them."""
    rng = np.random.default_rng([seed, number])
    name = list(ARMS)[int(rng.integers(len(ARMS)))]
    conditions = Conditions(
        rate=float(rng.choice([100.0, 125.0, 200.0, 250.0, 500.0, 1000.0])),
        seconds=float(rng.uniform(12.0, 30.0)),
        velocity=bool(rng.integers(2)),
        noise=float(10 ** rng.uniform(-0.5, 0.7)),
        friction=float(10 ** rng.uniform(-0.3, 0.6)),
    )
    arm = make_arm(name, folder, rng)
    text = f'{name} {conditions.rate:g} Hz {conditions.seconds:.0f} s'
    return text, load_robot(arm.robot_file), recorded(arm, rng, conditions)


def compare(name: str, robot: Any, dataset: Any) -> dict[str, Any]:
    """Return the hold-out errors in percent of the default and of the sweep."""
    try:
        result = identify(Request(robot, dataset, check=False)).result
    except RobotIdError as error:
        return {'name': name, 'refused': str(error)}
    kept = ('cutoff_hz', 'decimation')
    found = {
        'name': name,
        'default': result.holdout_error_percent,
        'fit': result.relative_error_percent,
        'verdict': result.verdict,
        'reasons': list(result.reasons),
        'derived': {key: result.options.get(key) for key in kept},
    }
    tried: dict[str, float] = {}
    for cutoff in (f for f in CUTOFFS_HZ if f < 0.45 * dataset.rate):
        for band in BANDS_HZ:
            decimation = max(1, round(0.4 * dataset.rate / band))
            options = {'cutoff_hz': cutoff, 'decimation': decimation}
            try:
                one = identify(Request(robot, dataset, options=options, check=False))
            except RobotIdError:
                continue
            # Without a hold-out of its own the error is that of other rows.
            if one.holdout is not None:
                tried[f'{cutoff:g} Hz, 1 in {decimation}'] = one.result.holdout_error_percent
    finite = {key: value for key, value in tried.items() if np.isfinite(value)}
    best = min(finite, key=lambda key: finite[key])
    return found | {
        'best': finite[best], 'best_options': best, 'tried': tried,
        'ratio': found['default'] / finite[best],
    }  # fmt: skip


def report(found: list[dict[str, Any]]) -> str:
    """Return the table and what the worst and the mean ratio are."""
    lines = [
        '| recording | default, % | derived cut-off, decimation | best of the sweep, % | with '
        '| ratio |',
        '|' + '---|' * 6,
    ]
    for each in found:
        if 'refused' in each:
            lines.append(f'| {each["name"]} | refused: {each["refused"]} | | | | |')
            continue
        derived = each['derived']
        cutoff = derived['cutoff_hz']
        shown = 'none' if cutoff is None else f'{cutoff:.3g} Hz'
        lines.append(
            f'| {each["name"]} | {each["default"]:.3g} | {shown}, 1 in {derived["decimation"]} | '
            f'{each["best"]:.3g} | {each["best_options"]} | {each["ratio"]:.2f} |'
        )
    ratios = np.array([each['ratio'] for each in found if 'ratio' in each])
    refused = sum('refused' in each for each in found)
    lines += [
        '',
        f'default over best: geometric mean {np.exp(np.mean(np.log(ratios))):.3f}, worst '
        f'{ratios.max():.3f}, above 1.25: {int((ratios > 1.25).sum())} of {len(ratios)}; '
        f'refused {refused}',
    ]
    return '\n'.join(lines)


def main() -> None:
    """Compare what is not there yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--arms', type=int, default=20)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--shared', type=Path, default=SHARED, help='folder of the real data')
    parser.add_argument('--out', type=Path, help='JSON lines, one for each recording')
    args = parser.parse_args()
    found: list[dict[str, Any]] = []
    if args.out and args.out.exists():
        found = [json.loads(line) for line in args.out.read_text().splitlines()]
    done = {each['key'] for each in found}
    keys = [name for name in REAL if (args.shared / name).exists()]
    keys += [f'{args.seed}/{number}' for number in range(args.arms)]
    for key in keys:
        if key in done:
            continue
        with tempfile.TemporaryDirectory() as folder:
            if key in REAL:
                one = compare(key, *real(key, args.shared))
            else:
                one = compare(*simulated(args.seed, int(key.split('/')[1]), Path(folder)))
        found.append({'key': key, **one})
        if args.out:
            with args.out.open('a') as file:
                file.write(json.dumps(found[-1], default=float) + '\n')
        print(key, one['name'], one.get('ratio', 'refused'), file=sys.stderr, flush=True)
    print(report(found))


if __name__ == '__main__':
    main()
