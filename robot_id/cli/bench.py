"""Verb `bench`: the benchmarks of the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from robot_id.exceptions import OptionError

ROOT = Path(__file__).resolve().parents[2]


@click.command()
@click.argument('topics', nargs=-1, metavar='[TOPIC]...')
@click.option('--json', 'json_file', metavar='FILE', help='Write the figures to a JSON file.')
@click.option('--page', metavar='FILE.md', help='Write them as a page with pictures.')
@click.option('--add', metavar='FILE.json', help='Keep the other topics of an earlier run.')
def command(
    topics: tuple[str, ...], json_file: str | None, page: str | None, add: str | None
) -> None:
    """Measure the speed of everything, or of the TOPICs, as ratios within one run."""
    if not (ROOT / 'bench/run.py').is_file():
        raise OptionError(
            'bench: the benchmarks are not installed; run it from a clone of the '
            'repository (make bench)'
        )
    words = [sys.executable, '-m', 'bench', *topics]
    for option, value in (('--json', json_file), ('--page', page), ('--add', add)):
        if value:
            words += [option, str(Path(value).resolve())]
    sys.exit(subprocess.run(words, cwd=ROOT, check=False).returncode)
