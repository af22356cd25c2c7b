"""CSV: one line for each parameter; an empty cell where a number is not known."""

from __future__ import annotations

import csv
import io

from robot_id.export.parts import Exported, Request, rows
from robot_id.json_numbers import finite_or_none
from robot_id.texts import csv_cell


def write(request: Request) -> Exported:
    """Return the table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(('name', 'value', 'std', 'percent_std', 'essential'))
    for name, value, std, percent, flag in rows(request.result):
        known = (finite_or_none(x) for x in (value, std, percent))
        cells = ('' if x is None else repr(x) for x in known)
        writer.writerow((csv_cell(name), *cells, 'true' if flag else 'false'))
    return Exported(text.getvalue())
