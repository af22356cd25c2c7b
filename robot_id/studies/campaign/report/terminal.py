"""One condition as a table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from robot_id.studies.campaign.report.columns import HEADS, cells
from robot_id.studies.campaign.summary import Group


def to_table(groups: Sequence[Group]) -> Table:
    """Return the table of one condition, one line per method."""
    table = Table(title=groups[0].title, title_justify='left')
    for k, head in enumerate(HEADS):
        table.add_column(head, justify='right' if k else 'left')
    for group in groups:
        table.add_row(*cells(group))
    return table
