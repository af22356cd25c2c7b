"""Verb `reproduce`: the papers' tables beside ours."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from robot_id import files
from robot_id.cli.console import check_writable, output, print_whole, progress_bar, save
from robot_id.exceptions import OptionError, did_you_mean

if TYPE_CHECKING:
    from robot_id.studies.papers import Comparison


@click.command()
@click.argument('tables', nargs=-1, metavar='[TABLE]...')
@click.option('--list', 'listing', is_flag=True, help='List the tables and stop.')
@click.option('--markdown', metavar='FILE', help='Write the comparison to a Markdown file.')
@click.option('--json', 'json_file', metavar='FILE', help='Write the figures to a JSON file.')
def command(
    tables: tuple[str, ...], listing: bool, markdown: str | None, json_file: str | None
) -> None:
    """Compute the tables of the papers beside their published values (default: all)."""
    from robot_id.studies.papers import TABLES, reproduce
    from robot_id.studies.papers.comparison import to_markdown

    console = output()
    if listing:
        table = Table('table', 'what it shows')
        for name, text in TABLES.items():
            table.add_row(name, text)
        console.print(table)
        return
    for name in tables:
        if name not in TABLES:
            raise OptionError(f"no table '{name}': {did_you_mean(name, TABLES)}")
    check_writable(json_file, markdown)
    started = time.perf_counter()
    done: dict[str, Comparison] = {}
    for name in dict.fromkeys(tables or TABLES):
        with progress_bar() as progress:
            done[name] = reproduce(name, progress)
        console.print(f'{name}: {done[name].source}', markup=False, soft_wrap=True)
        for section in done[name].sections:
            print_whole(console, section.to_table())
        if done[name].claims:
            print_whole(console, done[name].claims_table())
        for note in done[name].notes:
            console.print(f'note: {note}', markup=False, soft_wrap=True)
    seconds = time.perf_counter() - started
    claims = [claim for comparison in done.values() for claim in comparison.claims]
    held = sum(claim.holds for claim in claims)
    console.print(f'{held} of {len(claims)} claims reproduced, {seconds:.0f} s')
    if markdown:
        text = to_markdown(done.values(), seconds)
        save(lambda path: files.write_text(path, text), markdown)
    if json_file:
        figures = {name: comparison.to_dict() for name, comparison in done.items()}
        content = {'schema': 1, 'tables': figures}

        def write(path: Path) -> None:
            files.write_text(path, json.dumps(content, indent=1) + '\n')

        save(write, json_file)
