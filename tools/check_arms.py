"""
Measure `robot-id check`: mistakes planted at random into recordings of arms that MuJoCo simulates.

    python -m tools.check_arms --planted 500 --clean 200 --seed 1 --out cases.jsonl

Each case is drawn from the seed and its number alone: arm, mount, motion, noise and mistake. What
is in `--out` already is not computed again, so a stopped measurement goes on where it was.
Printed are a table by mistake and the cases that went wrong. `--hard` adds to every case one
difficulty (friction, noise, a small motion, poor or placeholder inertias), `--poor` makes the
clean ones recordings of robots that no rigid model describes well (elastic, sticky, coarse
torques, one motion again and again, many files), `--long` records 30 to 90 s, `--verdicts`
identifies too, to count wrong recordings whose result counts as usable.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants.mujoco_arms import ARMS  # noqa: E402
from plants.planted_mistakes import ALL, Planted, plant  # noqa: E402
from plants.poor_recordings import POOR  # noqa: E402
from plants.recording_conditions import hard, poor, usual  # noqa: E402

from robot_id import data  # noqa: E402
from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402
from robot_id.tasks.checks import check  # noqa: E402
from robot_id.tasks.checks.gate import FATAL  # noqa: E402
from robot_id.tasks.identify import Request, identify  # noqa: E402
from robot_id.tasks.measurements import load_for  # noqa: E402

# Recordings without any mistake.
SOUND = ('clean', *POOR)
# The size of all torques cannot be told from inertias that are none.
NEEDS_INERTIAS = ('torque_unit', 'motor_side', 'currents', 'gear_ratio', 'milliamps')


def run_case(seed: int, number: int, clean: bool, args: argparse.Namespace) -> dict[str, Any]:
    """Return what was planted and what the check says, through a file as a user has it."""
    rng = np.random.default_rng([seed, number, int(clean)])
    arm = list(ARMS)[int(rng.integers(len(ARMS)))]
    kinds = tuple(POOR) if args.poor else ('clean',) if clean else ALL
    mistake = kinds[int(rng.integers(len(kinds)))]
    conditions = (poor if args.poor else hard if args.hard else usual)(rng)
    while mistake in NEEDS_INERTIAS and conditions.placeholders:
        conditions = hard(rng)
    if args.long:
        conditions = replace(conditions, seconds=float(rng.uniform(30.0, 90.0)))
    if args.only and mistake != args.only:
        return {}
    case = {'seed': seed, 'number': number, 'mistake': mistake, 'arm': arm}
    with tempfile.TemporaryDirectory() as folder:
        planted = plant(mistake, arm, Path(folder), rng, conditions)
        case |= {'detail': planted.detail, **asdict(conditions)}
        file = data.save(planted.dataset, Path(folder) / 'recording.npz')
        start = time.process_time()
        try:
            robot = load_robot(planted.robot_file)
            dataset = replace(load_for(robot, [file]), units=planted.units)
            findings = check(robot, dataset)
        except RobotIdError as error:
            return case | {'outcome': 'refused', 'said': [str(error)], 'codes': []}
        case['seconds'] = round(time.process_time() - start, 3)
        case['codes'] = list(findings.codes)
        case['said'] = [finding.line() for finding in findings]
        case['outcome'] = outcome(planted, findings, robot.joint_names)
        if args.verdicts:
            case |= verdict(robot, dataset)
    return case


def outcome(planted: Planted, findings: Any, names: tuple[str, ...]) -> str:
    """Return named, missed, misnamed (another code), beside (another joint) or false alarm."""
    if not planted.codes:
        return 'false alarm' if findings else 'silent'
    if not findings:
        return 'missed'
    if not set(findings.codes) <= set(planted.codes):
        return 'misnamed'
    if planted.joints and not {f.joint for f in findings} <= {names[j] for j in planted.joints}:
        return 'beside'
    return 'named'


def verdict(robot: Any, dataset: Any) -> dict[str, Any]:
    """Return the verdict on a fit of the data, and that without the gate."""
    found: dict[str, Any] = {}
    for key, gate in (('verdict', True), ('verdict_without_check', False)):
        try:
            result = identify(Request(robot, dataset, check=gate)).result
        except RobotIdError as error:
            found |= {key: 'refused', f'{key}_reasons': [str(error)]}
            continue
        found |= {key: result.verdict, f'{key}_reasons': list(result.reasons)}
        found['errors'] = [result.relative_error_percent, result.holdout_error_percent]
    return found


def report(cases: list[dict[str, Any]]) -> str:
    """Return the table by mistake, the totals, and the cases that went wrong."""
    lines = ['| mistake | cases | named | missed | named otherwise | refused |', '|' + '---|' * 6]
    planted = [c for c in cases if c['mistake'] not in SOUND]
    for mistake in ALL:
        mine = [c for c in planted if c['mistake'] == mistake]
        if not mine:
            continue
        count = Counter(c['outcome'] for c in mine)
        other = count['misnamed'] + count['beside']
        lines.append(
            f'| {mistake} | {len(mine)} | {count["named"]} | {count["missed"]} | {other} | '
            f'{count["refused"]} |'
        )
    lines.append('')
    if planted:
        named = sum(c['outcome'] == 'named' for c in planted)
        lines.append(f'named: {named} of {len(planted)}, {100 * named / len(planted):.1f} %')
    sound = [c for c in cases if c['mistake'] in SOUND]
    for kind in SOUND:
        if mine := [c for c in sound if c['mistake'] == kind]:
            alarms = sum(c['outcome'] != 'silent' for c in mine)
            share = 100 * alarms / len(mine)
            lines.append(f'false alarms, {kind}: {alarms} of {len(mine)}, {share:.1f} %')
    lines += _verdicts(planted, sound)
    lines.append('')
    for c in cases:
        if c['outcome'] not in ('named', 'silent'):
            said = '; '.join(text[:230] for text in c['said'][:3])
            lines.append(
                f'{c["number"]} {c["mistake"]} {c["arm"]} {c["detail"]} {c["rate"]:g} Hz: '
                f'{c["outcome"]}: {said}'
            )
    return '\n'.join(lines)


def _verdicts(planted: list[dict[str, Any]], sound: list[dict[str, Any]]) -> list[str]:
    """Return how the fits of the same data were judged."""
    judged = [c for c in planted if 'verdict' in c]
    if not judged:
        return []
    fatal = [c for c in judged if set(EXPECTED[c['mistake']]) & set(FATAL)]
    lines = []
    for key in ('verdict', 'verdict_without_check'):
        lines.append(f'{key}: fatal mistakes {dict(Counter(c[key] for c in fatal))}')
        lines.append(f'{key}: clean {dict(Counter(c[key] for c in sound if key in c))}')
    lines += [
        f'usable: {c["number"]} {c["mistake"]} {c["arm"]} {c["detail"]} {c["errors"]}'
        for c in fatal
        if c['verdict'] == 'usable'
    ]
    return lines


# What the verdict is counted for: mistakes that make the parameters those of another robot.
EXPECTED = {
    mistake: {
        'all_flipped': ('torque_sign',),
        'one_flipped': ('torque_sign',),
        'swapped': ('joint_swap',),
        'motor_side': ('gear_ratio',),
        'currents': ('gear_ratio',),
        'noise': ('torque_sign',),
        'unsigned': ('unsigned_torque',),
        'one_unsigned': ('unsigned_torque',),
        'radians': ('position_unit',),
        'position_factor': ('gear_ratio',),
        'motor_positions': ('gear_ratio',),
        'milliamps': ('torque_unit',),
    }.get(mistake, (mistake,))
    for mistake in ALL
}


def main() -> None:
    """Run the cases that are not there yet, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--planted', type=int, default=500)
    parser.add_argument('--clean', type=int, default=200)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--first', type=int, default=0, help='number of the first case')
    parser.add_argument('--only', choices=(*ALL, *SOUND), help='cases of this mistake alone')
    parser.add_argument('--hard', action='store_true', help='one difficulty in every case')
    parser.add_argument('--poor', action='store_true', help='sound, of robots that fit no model')
    parser.add_argument('--long', action='store_true', help='recordings of 30 to 90 s')
    parser.add_argument('--verdicts', action='store_true', help='identify too')
    parser.add_argument('--out', type=Path, help='JSON lines, one for each case')
    args = parser.parse_args()
    cases: list[dict[str, Any]] = []
    if args.out and args.out.exists():
        cases = [json.loads(line) for line in args.out.read_text().splitlines()]
    done = {(c['seed'], c['number'], c['mistake'] in SOUND) for c in cases}
    wanted = [(args.first + k, False) for k in range(args.planted)]
    wanted += [(args.first + k, True) for k in range(args.clean)]
    for number, clean in wanted:
        if (args.seed, number, clean) in done:
            continue
        case = run_case(args.seed, number, clean, args)
        if not case:
            continue
        cases.append(case)
        if args.out:
            with args.out.open('a') as file:
                file.write(json.dumps(case, default=float) + '\n')
        print(number, case['mistake'], case['arm'], case['outcome'], file=sys.stderr, flush=True)
    print(report(cases))


if __name__ == '__main__':
    main()
