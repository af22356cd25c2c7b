"""
What the verdict says of hard-friction arms, beside the true error of each model.

    python -m tools.verdict_study --first 7000 --seeds 25 --out verdicts.jsonl

Each recording (16 s at 250 Hz) has one planted effect or defect; its model then predicts another
motion of the same arm without noise, which gives its true error. What is in `--out` already is not
computed again; several commands with other seeds may share the work. By the true error

- a model is good below 5 %, fair below 15 % where that is at most twice what was stated, useless
  from 40 % on, and else poor;
- usable is right for a good or fair model, wrong for others (wrongly usable);
- caution is right for a fair or poor one, and for a good one if it names what was planted (else
  a false caution; too mild for a useless one);
- do_not_use is right above 15 %, and where what was planted is named (else too strict).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants.hard_arm import Effects, HardArm, make  # noqa: E402
from plants.mujoco_recordings import Motion  # noqa: E402

from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402
from robot_id.tasks.identify import Request, identify  # noqa: E402
from robot_id.tasks.validation import validate  # noqa: E402

# True errors in percent below which a model is good, and poor, and above which it is useless.
GOOD, POOR, USELESS = 5.0, 15.0, 40.0
# A model may err by this many times what was stated.
STATED = 2.0
USUAL, NONE = Motion(16.0, 250.0), Effects()
# Words of a reason or suggestion that name what was planted, by what was planted.
NAMES = {
    'payload from half on': ('another load', 'gain changed'),
    'friction falls by 40 %': ('friction changes',),
    'load friction 10 %': ("'load'",),
    'Stribeck 50 %': ("'stribeck'",),
    'spring': ('spring',),
    'cogging 30 %': ('cogging',),
    'elastic 12 Hz': ('elastic',),
    'elastic 4 Hz': ('elastic',),
    'backlash 3 mrad': ('backlash',),
    'backlash 30 mrad': ('backlash',),
    'first torque x 1.2': ('wrong torque gain',),
    'two arms': ('torques differ', 'another load', 'gain changed'),
    'another tool in the second file': ('torques differ', 'another load', 'gain changed'),
    '1 % of the motion': ('longer or richer', 'excitation'),
    '1.5 s': ('longer or richer', 'excitation'),
}


def _plain(effects: Effects = NONE, motion: Motion = USUAL) -> Callable[[Path, int], HardArm]:
    return lambda folder, seed: make(folder, seed, motion, effects, fresh=True)


def _with_file(other: int, effects: Effects = NONE) -> Callable[[Path, int], HardArm]:
    """Return an arm with a second file, of the arm of another seed and with other effects."""

    def made(folder: Path, seed: int) -> HardArm:
        first = make(folder, seed, USUAL, joints=3, fresh=True)
        second = make(folder, seed + other, USUAL, effects, joints=3).dataset.runs[0]
        if not other:
            second = second.rows(len(second) // 2, len(second))
        runs = (*first.dataset.runs, second)
        return replace(first, dataset=replace(first.dataset, runs=runs))

    return made


PLANTED: dict[str, Callable[[Path, int], HardArm]] = {
    'none': _plain(),
    'none, 6 s at 100 Hz': _plain(motion=Motion(6.0, 100.0)),
    'none, 30 s at 1 kHz': _plain(motion=Motion(30.0, 1000.0)),
    'smooth friction': _plain(Effects(smooth=1000.0)),
    'payload from half on': _plain(Effects(payload_kg=1.0)),
    'friction falls by 40 %': _plain(Effects(warming=0.4)),
    'load friction 10 %': _plain(Effects(load=0.1)),
    'Stribeck 50 %': _plain(Effects(stribeck=0.5)),
    'spring': _plain(Effects(spring=0.3)),
    'cogging 30 %': _plain(Effects(cogging=0.3)),
    'elastic 12 Hz': _plain(Effects(elastic_hz=12.0)),
    'elastic 4 Hz': _plain(Effects(elastic_hz=4.0)),
    'backlash 3 mrad': _plain(Effects(backlash=3e-3)),
    'backlash 30 mrad': _plain(Effects(backlash=3e-2)),
    'first torque x 1.2': _plain(Effects(scale=1.2)),
    'two arms': _with_file(5000),
    'another tool in the second file': _with_file(0, Effects(payload_kg=1.0)),
    '1 % of the motion': _plain(motion=replace(USUAL, amplitude=0.01)),
    '1.5 s': _plain(motion=Motion(1.5, 250.0)),
}


def case(planted: str, seed: int) -> dict[str, Any]:
    """Return what is said of one recording, and the true error."""
    found: dict[str, Any] = {'planted': planted, 'seed': seed}
    with tempfile.TemporaryDirectory() as folder:
        arm = PLANTED[planted](Path(folder), seed)
        started = time.process_time()
        try:
            robot = load_robot(arm.robot_file)
            result = identify(Request(robot, arm.dataset)).result
        except RobotIdError as error:
            return found | {'verdict': 'refused', 'said': [str(error)], 'true': float('inf')}
        found['seconds'] = time.process_time() - started
        assert arm.fresh is not None
        true = validate(robot, result, arm.fresh)
    stated = result.holdout_error_percent
    return found | {
        'verdict': result.verdict or 'not judged',
        'said': [*result.reasons, *(one['text'] for one in result.suggestions)],
        'stated': stated if stated == stated else result.relative_error_percent,
        'true': true.torque_relative_error_percent,
        'per_joint': [float(x) for x in true.per_joint],
    }


def quality(one: dict[str, Any]) -> str:
    """Return what a model is worth by its true error."""
    true = one['true']
    if true < GOOD:
        return 'good'
    if true < POOR and true < STATED * one['stated']:
        return 'fair'
    return 'poor' if true < USELESS else 'useless'


def named(one: dict[str, Any]) -> bool:
    """Whether what was planted is named."""
    words = NAMES.get(one['planted'], ())
    return any(word in text for word in words for text in one['said'])


def judged(one: dict[str, Any]) -> str:
    """Return right, wrongly usable, false caution, too mild or too strict."""
    worth, verdict = quality(one), one['verdict']
    if verdict == 'usable':
        return 'right' if worth in ('good', 'fair') else 'wrongly usable'
    if verdict == 'caution':
        if worth == 'useless':
            return 'too mild'
        return 'right' if worth != 'good' or named(one) else 'false caution'
    return 'right' if one['true'] > POOR or named(one) else 'too strict'


def tables(cases: list[dict[str, Any]]) -> list[str]:
    """Return the confusion table, and a row for each effect."""
    verdicts = ('usable', 'caution', 'do_not_use', 'refused')
    lines = ['| true model | recordings | ' + ' | '.join(verdicts) + ' |', '|---|' + '---:|' * 5]
    for worth in ('good', 'fair', 'poor', 'useless'):
        own = Counter(one['verdict'] for one in cases if quality(one) == worth)
        counts = ' | '.join(str(own[verdict]) for verdict in verdicts)
        lines.append(f'| {worth} | {sum(own.values())} | {counts} |')
    lines += ['', '| planted | recordings | median true error % | verdicts | judged | named |',
              '|---|---:|---:|---|---|---:|']  # fmt: skip
    for planted in [*PLANTED, 'all']:
        own_cases = [one for one in cases if planted in (one['planted'], 'all')]
        if not own_cases:
            continue
        true = sorted(one['true'] for one in own_cases)[len(own_cases) // 2]
        counted = [
            ', '.join(f'{name} {count}' for name, count in Counter(each).most_common())
            for each in ([one['verdict'] for one in own_cases], map(judged, own_cases))
        ]
        hits = sum(map(named, own_cases))
        lines.append(
            f'| {planted} | {len(own_cases)} | {true:.3g} | {counted[0]} | {counted[1]} | {hits} |'
        )
    return lines


def main() -> None:
    """Compute the cases that are not there yet, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--first', type=int, default=0, help='the first seed')
    parser.add_argument('--seeds', type=int, default=2)
    parser.add_argument('--only', action='append', choices=PLANTED, help='several with several')
    parser.add_argument('--out', type=Path, help='file of cases, one line each')
    parser.add_argument('--tables', action='store_true', help='print what is in --out alone')
    args = parser.parse_args()
    cases: list[dict[str, Any]] = []
    if args.out and args.out.exists():
        cases = [json.loads(line) for line in args.out.read_text().splitlines()]
    done = {(one['planted'], one['seed']) for one in cases}
    seeds = range(args.first, args.first + args.seeds)
    for seed in () if args.tables else seeds:
        for planted in args.only or PLANTED:
            if (planted, seed) in done:
                continue
            cases.append(case(planted, seed))
            if args.out:
                with args.out.open('a') as file:
                    file.write(json.dumps(cases[-1]) + '\n')
    print('\n'.join(tables(cases)))


if __name__ == '__main__':
    main()
