"""Verb `campaign`: runs a grid of methods and conditions, or reports on one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from robot_id import files
from robot_id.cli.compiling import compile_first
from robot_id.cli.console import output, print_whole, progress_bar, save
from robot_id.exceptions import DataError, OptionError

if TYPE_CHECKING:
    from robot_id.studies.campaign import Summary


@click.command()
@click.argument('what', metavar='CAMPAIGN.yaml | report')
@click.argument('folder', required=False, metavar='[DIR]')
@click.option('--out', metavar='DIR', help='Folder of the campaign; an unfinished one is resumed.')
@click.option('--workers', type=int, metavar='N', help='Number of processes.  [default: cores]')
@click.option(
    '--scheduler',
    metavar='tcp://HOST:PORT',
    help='Use a running Dask scheduler instead of local processes.',
)
def command(
    what: str, folder: str | None, out: str | None, workers: int | None, scheduler: str | None
) -> None:
    """
    Run each method of a campaign file under each of its conditions, with its repetitions.

    `robot-id campaign report DIR` writes DIR/report.html and DIR/report.md, also of a campaign
    that is not done yet.
    """
    from robot_id.studies.campaign import summarise
    from robot_id.studies.campaign.engine import run_campaign
    from robot_id.studies.campaign.store import SUMMARY

    if what == 'report':
        if folder is None:
            raise OptionError(
                'campaign report: no folder given, write robot-id campaign report DIR'
            )
        _report(Path(folder))
        return
    if folder is not None:
        raise OptionError(f"campaign: '{folder}' is one argument too many, write --out {folder}")
    if out is None:
        raise OptionError('campaign: --out DIR is missing')
    if workers is not None and scheduler is not None:
        raise OptionError('campaign: give --workers or --scheduler, not both')
    compile_first('inertia_matrix', 'simulate', 'regressor', 'inverse_dynamics', in_child=True)
    with progress_bar() as progress:
        store = run_campaign(what, out, workers, scheduler, progress)
        progress(1.0, 'summing up')
        summary = summarise(store.rows(), Path(what).stem)
    files.write_text(store.folder / SUMMARY, summary.to_json())
    _print(summary)
    failed = sum(n for group in summary.groups for n in group.failures.values())
    output().print(
        f'{summary.runs} runs in {out}, {failed} of them failed; robot-id campaign report {out}',
        markup=False, soft_wrap=True,
    )  # fmt: skip


def _report(folder: Path) -> None:
    from robot_id.studies.campaign import summarise
    from robot_id.studies.campaign.report import advice, to_html, to_markdown
    from robot_id.studies.campaign.store import Store

    store = Store(folder)
    if not store.is_campaign():
        raise DataError(f'{folder}: not a campaign folder, it has no runs')
    with progress_bar() as progress:
        progress(0.0, 'reading the runs')
        summary = summarise(store.rows(), folder.resolve().name)
    if not summary.runs:
        raise DataError(f'{folder}: no run is done yet')
    pages = {'report.html': to_html(summary), 'report.md': to_markdown(summary)}
    for name, text in pages.items():
        save(lambda path, text=text: files.write_text(path, text), folder / name)  # type: ignore[misc]
    _print(summary)
    for line in advice(summary):
        output().print(line, markup=False, soft_wrap=True)
    output().print(f'-> {folder / "report.html"}, {folder / "report.md"}', soft_wrap=True)


def _print(summary: Summary) -> None:
    from robot_id.studies.campaign.report.columns import to_table

    console = output()
    for groups in summary.conditions():
        print_whole(console, to_table(groups))
