"""
The process that runs cells one after another, and may be killed by one.

`python -m robot_id.experiment.campaign.runner` reads one JSON line a cell from its input and
answers with one JSON line a row. The time limit is the alarm of the system, which ends the process
wherever it is, and so also ends a process that nobody waits for any more; the memory limit is that
of the system too (`limits`). What talks to it is `robot_id.guarded`.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TextIO

from robot_id.experiment.campaign.cell import Row, empty_row, run_cell
from robot_id.experiment.campaign.grid import Cell
from robot_id.experiment.campaign.limits import Limits
from robot_id.guarded import Answer, Request

NAME = 'robot_id.experiment.campaign.runner'


def request_of(cell: Cell, seconds: float, memory: int) -> Request:
    """Return the request for a cell that may take so many seconds and bytes."""
    return {'cell': cell, 'seconds': seconds, 'memory': memory}


def row_of(cell: Cell, answer: Answer) -> Row:
    """Return the row of a cell; the end of its process is the row of a failure."""
    row, cause = answer
    return empty_row(cell) | {'failure': cause} if row is None else row


def main() -> None:
    """Answer requests until the input ends."""
    limits = Limits()
    with _answers() as answers:
        print('ready', file=answers, flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            limits.begin(request['seconds'], request['memory'])
            row = run_cell(request['cell'])
            limits.end()
            row['cell_seconds'] -= limits.compiling_s
            print(json.dumps(row), file=answers, flush=True)


def _answers() -> TextIO:
    """Return a file on the standard output; what a library prints goes to the errors."""
    channel = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(2, 1)
    return channel


if __name__ == '__main__':
    main()
