"""
Run the benchmarks: one table on the terminal, one JSON file with the machine in bench/results.

    python -m bench                 all of them
    python -m bench regressor       those of bench/bench_regressor.py
    python -m bench --page doc/studies/performance.md
    python -m bench ros_loop --add bench/results/RUN.json --page doc/studies/performance.md

A benchmark is a function `bench_<what>` of a file `bench/bench_<topic>.py` that returns a list of
Figures, or a dictionary of names and values. Nothing else is to be registered. What was measured
is written after each of them: a run that is interrupted goes on with --add and the topics left.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench.figure import Figure
from bench.page import write_page
from robot_id.exceptions import did_you_mean
from robot_id.files import write_text

FOLDER = Path(__file__).resolve().parent
# Topics that import these are left out where there is no ROS 2.
ROS = ('rclpy', 'robot_id_msgs')
PACKAGES = ('numpy', 'scipy', 'numba', 'pin', 'figaroh', 'rosbags', 'rclpy')


def topics() -> list[str]:
    """Return the names of the benchmark files."""
    return sorted(path.stem.removeprefix('bench_') for path in FOLDER.glob('bench_*.py'))


def benchmarks(topic: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the functions of one file that need no arguments, in their order."""
    module = importlib.import_module(f'bench.bench_{topic}')
    for name, function in vars(module).items():
        if name.startswith('bench_') and inspect.isfunction(function):
            yield name, function


def figures(topic: str, name: str, found: object) -> list[Figure]:
    """Return what a benchmark gave as a list of figures."""
    if isinstance(found, dict):
        return [Figure(str(key), float(value)) for key, value in found.items()]
    if isinstance(found, list) and all(isinstance(item, Figure) for item in found):
        return found
    raise TypeError(f'{topic}: {name} must return Figures or a dictionary of values')


def machine() -> dict[str, object]:
    """Describe where the figures come from."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        'time': time.strftime('%Y-%m-%dT%H:%M:%S%z'),
        'processor': _processor(),
        'cores': os.cpu_count(),
        'load': [round(x, 2) for x in os.getloadavg()],
        'system': f'{platform.system()} {platform.release()}',
        'python': platform.python_version(),
        'versions': versions,
    }


def _processor() -> str:
    try:
        lines = Path('/proc/cpuinfo').read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(':', 1)[1].strip() for x in lines if x.startswith('model name')), '')


def table_of(found: dict[str, list[Figure]]) -> Table:
    """Return one table, a section per topic; a curve is one line."""
    table = Table(title='robot_id benchmarks (ratios within this run)')
    for header in ('figure', 'value', 'unit', 'times', 'against', 'target'):
        table.add_column(header, justify='right' if header in ('value', 'times') else 'left')
    for items in found.values():
        for item in items:
            if item.curve:
                continue
            ratio = '' if item.ratio is None else f'{item.ratio:.2f}'
            target, style = '', None
            if item.target is not None:
                target = f'{item.target:g} ' + ('met' if item.met else 'MISSED')
                style = 'green' if item.met else 'bold red'
            row = (item.name, f'{item.value:.4g}', item.unit, ratio, item.against, target)
            table.add_row(*row, style=style)
        for (name, curve), points in curves(items).items():
            values = ', '.join(f'{p.at:g}: {p.value:.3g}' for p in points)
            table.add_row(f'{name} against {curve}', values, points[0].unit, '', '', '')
        table.add_section()
    return table


def curves(items: list[Figure]) -> dict[tuple[str, str], list[Figure]]:
    """Return the figures that are points of curves, by name and what they are drawn over."""
    found: dict[tuple[str, str], list[Figure]] = {}
    for item in items:
        if item.curve:
            found.setdefault((item.name, item.curve), []).append(item)
    return found


class Collected:
    """
    The figures so far; after each benchmark they are written, so that an interruption loses none.

    :param path: of the JSON file.
    :param page: of the page, or None.
    :param before: JSON file of an earlier run whose other topics are kept, or None.
    """

    def __init__(self, path: Path, page: Path | None, before: Path | None) -> None:
        self.path, self.page = path, page
        self.machine = machine()
        self.found: dict[str, list[Figure]] = {}
        if before is not None:
            topics = json.loads(before.read_text())['figures']
            self.found = {key: [Figure(**item) for item in own] for key, own in topics.items()}

    def add(self, topic: str, items: list[Figure]) -> None:
        """Add figures of a topic and write all."""
        self.found.setdefault(topic, []).extend(items)
        self.found = dict(sorted(self.found.items()))
        content = {
            'schema': 1,
            'machine': self.machine,
            'figures': {key: [asdict(item) for item in own] for key, own in self.found.items()},
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path, json.dumps(content, indent=1) + '\n')
        if self.page is not None:
            write_page(self.page, self.machine, self.found)


def chosen_benchmarks(
    names: tuple[str, ...], messages: Console
) -> list[tuple[str, str, Callable[[], object]]]:
    """Return (topic, name, function) of what is to run; topics without their packages are told."""
    found = []
    for topic in names or topics():
        try:
            own = list(benchmarks(topic))
        except ModuleNotFoundError as error:
            if error.name not in ROS:
                raise
            messages.print(f'{topic}: left out, it needs ROS 2 ({error})', markup=False)
            continue
        if not own:
            messages.print(
                f'bench_{topic}.py has no bench_ function: python bench/bench_{topic}.py'
            )
        found += [(topic, name.removeprefix('bench_'), function) for name, function in own]
    return found


@click.command()
@click.argument('names', nargs=-1, metavar='[TOPIC]...')
@click.option('--json', 'json_file', metavar='FILE', help='Instead of a file in bench/results.')
@click.option('--page', metavar='FILE.md', help='Also write a page with pictures, as doc/ has it.')
@click.option(
    '--add',
    'before',
    metavar='FILE.json',
    type=click.Path(exists=True, dir_okay=False),
    help='Keep the other topics of an earlier run, such as one that was interrupted.',
)
def main(
    names: tuple[str, ...], json_file: str | None, page: str | None, before: str | None
) -> None:
    """Run all benchmarks, or those of the TOPICs."""
    for name in names:
        if name not in topics():
            click.echo(f"bench: no topic '{name}', {did_you_mean(name, topics())}", err=True)
            sys.exit(2)
    console, messages = Console(highlight=False), Console(stderr=True, highlight=False)
    stamped = FOLDER / 'results' / f'{time.strftime("%Y%m%d-%H%M%S")}.json'
    collected = Collected(
        Path(json_file) if json_file else stamped,
        Path(page) if page else None,
        Path(before) if before else None,
    )
    works = chosen_benchmarks(names, messages)
    for topic in {topic for topic, _, _ in works}:
        collected.found.pop(topic, None)
    begun, failed = time.monotonic(), 0
    for k, (topic, name, function) in enumerate(works, 1):
        start = time.monotonic()
        messages.print(f'{k}/{len(works)} {topic}: {name} ...', style='dim', end=' ')
        try:
            collected.add(topic, figures(topic, f'bench_{name}', function()))
        except Exception as error:
            # The others still count; the exit code says that one is missing.
            failed += 1
            messages.print(f'failed: {type(error).__name__}: {error}', style='red', markup=False)
            continue
        now = time.monotonic()
        messages.print(f'{now - start:.0f} s, {now - begun:.0f} s in all', style='dim')
    console.print(table_of(collected.found))
    for path in (collected.path, collected.page):
        if path is not None:
            console.print(f'written to {path}', markup=False, soft_wrap=True)
    sys.exit(1 if failed else 0)
