"""
Coverage of the printed intervals over many simulated experiments.

    python -m bench.truth                                    the tables of doc/studies/coverage.md
    python -m bench.truth --robot scara --method idim_wls --experiments 40 --dry
    python -m bench.truth --robot tx40 --experiments 1 --noiseless --dry       pure bias

Rows are kept in build/truth, and experiments that are there already are not run again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import click

from bench.truth.experiments import read, rows
from bench.truth.page import tables, write
from robot_id.methods import registry

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / 'doc' / 'studies' / 'coverage.md'
SHORT = ('idim_ols', 'idim_wls', 'idim_iv', 'didim', 'ekf')
# Robot, methods, experiments.
CASES: tuple[tuple[str, Sequence[str] | None, int], ...] = (
    ('scara', None, 200),
    ('emps', None, 200),
    ('tx40', SHORT, 60),
)
# Experiments of one task.
CHUNK = 5


def run(task: tuple[str, Sequence[str], Sequence[int], bool, dict[str, Any]]) -> list[Any]:
    """Run the experiments of one task."""
    return list(rows(*task))


@click.command()
@click.option('--robot', 'robots', multiple=True, help='Only this robot.')
@click.option('--method', 'methods', multiple=True, help='Only this method.')
@click.option('--experiments', type=int, help='Experiments of each case.')
@click.option('--first', default=0, show_default=True, help='Seed of the first experiment.')
@click.option('--noiseless', is_flag=True, help='No noise at all: what is left is bias.')
@click.option('--set', 'settings', multiple=True, help='key=value of every method.')
@click.option('--processes', default=1, show_default=True)
@click.option('--folder', default=str(ROOT / 'build' / 'truth'), help='Where the rows are kept.')
@click.option('--dry', is_flag=True, help='Print only; keep nothing, write no page.')
def main(
    robots: Sequence[str],
    methods: Sequence[str],
    experiments: int | None,
    first: int,
    noiseless: bool,
    settings: Sequence[str],
    processes: int,
    folder: str,
    dry: bool,
) -> None:
    """Run the experiments, print the tables and write them into doc/studies/coverage.md."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    options = dict(text.split('=', 1) for text in settings)
    kept = [] if dry else read(place)
    done = {(row['robot'], row['method'], row['seed']) for row in kept}
    tasks = []
    for robot, names, count in CASES:
        if robots and robot not in robots:
            continue
        for low in range(first, first + (experiments or count), CHUNK):
            seeds = range(low, min(low + CHUNK, first + (experiments or count)))
            wanted = list(methods or names or registry.with_torques())
            for seed in seeds:
                left = [m for m in wanted if (robot, m, seed) not in done]
                if left:
                    tasks.append((robot, left, [seed], not noiseless, options))
    found = list(kept)
    with ProcessPoolExecutor(processes) as pool:
        parts = map(run, tasks) if processes == 1 else pool.map(run, tasks)
        started = time.monotonic()
        for number, part in enumerate(parts, start=1):
            found += part
            _say(number, len(tasks), time.monotonic() - started, part)
            if not dry:
                with (place / f'rows_{first}.jsonl').open('a') as file:
                    file.writelines(json.dumps(row) + '\n' for row in part)
    click.echo(tables(found))
    if not dry:
        write(PAGE, found)


def _say(number: int, total: int, seconds: float, part: Sequence[dict[str, Any]]) -> None:
    """Tell how far the study is, how long the rest may take, and what failed."""
    left = seconds / number * (total - number)
    where = f'{part[0]["robot"]} {part[0]["seed"]}' if part else ''
    click.echo(f'{number} of {total} ({where}), {left / 60.0:.0f} min left', err=True)
    for row in part:
        if 'failure' in row:
            click.echo(
                f'  {row["robot"]} {row["seed"]} {row["method"]}: {row["failure"]}', err=True
            )


if __name__ == '__main__':
    main()
