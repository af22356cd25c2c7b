"""
Guess the columns of drawn layouts and print how many are right, marked, and silently wrong.

    python -m tools.guess_study --layouts 200 --seed 1
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from plants.table_layouts import judged, make_layout  # noqa: E402

from robot_id.exceptions import RobotIdError  # noqa: E402
from robot_id.tasks.guessing.guess import guess  # noqa: E402


def main() -> None:
    """Draw, guess, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--layouts', type=int, default=200)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    count: Counter[str] = Counter()
    for number in range(arguments.first, arguments.first + arguments.layouts):
        with tempfile.TemporaryDirectory() as folder:
            layout = make_layout(Path(folder), arguments.seed, number)
            try:
                found = guess(layout.robot.urdf or '', layout.path)
            except RobotIdError as error:
                count['refused'] += 1
                print(number, 'refused:', error, layout.kind)
                continue
            judgement = judged(layout, found)
            count['right and sure' if judgement.right and not found.not_sure else
                  'right, with marks' if judgement.right else
                  'wrong and silent' if judgement.silent else 'wrong and marked'] += 1  # fmt: skip
            if not judgement.right:
                print(number, 'SILENT' if judgement.silent else 'marked', judgement.wrong,
                      found.not_sure, layout.kind, layout.robot.name)  # fmt: skip
    print('\n'.join(f'| {key} | {value} |' for key, value in sorted(count.items())))


if __name__ == '__main__':
    main()
