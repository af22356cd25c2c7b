"""
What the verdict says of recordings of hard-friction arms with one planted effect each.

    python -m tools.verdict_study --first 603 --seeds 2
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants.hard_arm import Effects, make  # noqa: E402
from plants.mujoco_recordings import Motion  # noqa: E402

from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.robot import load_robot  # noqa: E402
from robot_id.tasks.identify import Request, identify  # noqa: E402

PLANTED = {
    'none': Effects(),
    'smooth friction': Effects(smooth=1000.0),
    'payload from half on': Effects(payload_kg=1.0),
    'friction falls by 40 %': Effects(warming=0.4),
    'load friction 10 %': Effects(load=0.1),
    'Stribeck 50 %': Effects(stribeck=0.5),
    'spring': Effects(spring=0.3),
    'cogging 30 %': Effects(cogging=0.3),
    'elastic 12 Hz': Effects(elastic_hz=12.0),
    'backlash 3 mrad': Effects(backlash=3e-3),
    'first torque x 1.2': Effects(scale=1.2),
}


def said(seed: int, effects: Effects) -> list[str]:
    """Return the verdict on a recording of 16 s, and the codes of the suggestions."""
    with tempfile.TemporaryDirectory() as folder:
        arm = make(Path(folder), seed, Motion(16.0, 250.0), effects)
        try:
            result = identify(Request(load_robot(arm.robot_file), arm.dataset)).result
        except RobotIdError:
            return ['refused']
    return [result.verdict or 'not judged', *(one['code'] for one in result.suggestions)]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--first', type=int, default=0, help='the first seed')
    parser.add_argument('--seeds', type=int, default=2)
    args = parser.parse_args()
    print('| planted | recordings | verdicts and suggestions |\n|---|---:|---|')
    for name, effects in PLANTED.items():
        counts: Counter[str] = Counter()
        for seed in range(args.first, args.first + args.seeds):
            counts.update(said(seed, effects))
        listed = ', '.join(f'{code} {count}' for code, count in counts.items())
        print(f'| {name} | {args.seeds} | {listed} |', flush=True)


if __name__ == '__main__':
    main()
