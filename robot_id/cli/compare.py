"""Verb `compare`: results side by side."""

from __future__ import annotations

import json

import click

from robot_id.cli.console import check_writable, command_line, output, print_whole, save, warn
from robot_id.exceptions import OptionError
from robot_id.files import write_text

PICTURES = ('.png', '.svg', '.pdf')


@click.command()
@click.argument('files', nargs=-1, required=True, metavar='A.json B.json ...')
@click.option(
    '--plot', 'picture', metavar='FILE.png', help='Plot the comparison (.png, .svg or .pdf).'
)
@click.option('--json', 'json_file', metavar='FILE', help='Write the comparison to a JSON file.')
@click.option('--report', 'report_file', metavar='FILE.html', help='Write an HTML report.')
def command(
    files: tuple[str, ...], picture: str | None, json_file: str | None, report_file: str | None
) -> None:
    """
    Compare results; "apart" is the distance from the first one in standard deviations.

    A difference beyond 3 standard deviations is marked with `!`.
    """
    from robot_id.methods.result import Result
    from robot_id.report.compare import comparison_table, side_by_side
    from robot_id.report.html.compare_page import write_comparison
    from robot_id.report.html.provenance import provenance
    from robot_id.report.plots import plot_comparison
    from robot_id.report.tables import judged_unfit

    check_writable(picture, json_file, report_file)
    if picture and not picture.lower().endswith(PICTURES):
        raise OptionError(f"--plot: '{picture}' must end in one of {', '.join(PICTURES)}")
    comparison = side_by_side([Result.load(file) for file in files], files)
    print_whole(output(), comparison_table(comparison))
    for file, result in zip(files, comparison.results):
        warn(judged_unfit(file, result))
    if json_file:
        text = json.dumps(comparison.to_dict(), indent=1) + '\n'
        save(lambda path: write_text(path, text), json_file)
    if picture:
        save(lambda path: plot_comparison(comparison, path), picture)
    if report_file:
        source = provenance(command_line(), files)
        save(lambda path: write_comparison(path, comparison, source), report_file)
