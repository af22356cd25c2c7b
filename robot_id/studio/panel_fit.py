"""Panel 'Fit': settings with defaults, one row for each fit, and its details."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from nicegui import events, ui

from robot_id.api.view import methods
from robot_id.studio.details import show_details
from robot_id.studio.workspace import Row, Workspace

FRICTION = {'': "the robot file's", 'auto': 'auto (cross-validation)',
            'viscous,coulomb': 'viscous, coulomb',
            'viscous,coulomb,load': 'viscous, coulomb, load',
            'viscous,coulomb,stribeck': 'viscous, coulomb, Stribeck'}  # fmt: skip
PHYSICAL = {'auto': 'where M(q) needs it', 'yes': 'always', 'no': 'never'}
COLOURS = {'usable': 'positive', 'caution': 'warning', 'do_not_use': 'negative'}
COLUMNS = (
    ('number', '#'), ('recordings', 'recordings'), ('method', 'method'), ('friction', 'friction'),
    ('verdict', 'verdict'), ('error', 'training error %'), ('holdout', 'hold-out error %'),
    ('errors', 'by joint %'), ('seconds', 's'),
)  # fmt: skip


class FitPanel:
    """What is identified."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.shown: Row | None = None
        with ui.row().classes('w-full items-end gap-4'):
            known = [one.name for one in methods()]
            self.method = ui.select(known, value='idim_wls', label='method').classes('w-44')
            self.friction = ui.select(FRICTION, value='', label='friction').classes('w-56')
            self.physical = ui.select(PHYSICAL, value='auto', label='physically consistent')
            self.physical.classes('w-48')
            self.holdout = ui.number('hold-out', value=0.2, min=0, max=0.9, step=0.05)
            ui.button('Fit', on_click=self._start)
        self.running = ui.column().classes('w-full gap-1')
        columns = [{'name': key, 'label': text, 'field': key, 'align': 'left', 'sortable': True}
                   for key, text in COLUMNS]  # fmt: skip
        self.table = ui.table(columns=columns, rows=[], row_key='number').classes('w-full')
        self.table.on('rowClick', self._clicked)
        self.table.add_slot('body-cell-verdict', _BADGE)
        self.details = ui.column().classes('w-full')
        self._bars: dict[int, tuple[Any, Any]] = {}

    @property
    def rows(self) -> list[Row]:
        """The rows of fits."""
        return [row for row in self.workspace.rows if row.job.verb == 'identify']

    def refresh(self) -> None:
        """Show all rows."""
        self.table.rows = [_cells(row) for row in self.rows]
        self.table.update()
        self.running.clear()
        self._bars = {}
        with self.running:
            for row in self.rows:
                if row.job.running:
                    with ui.row().classes('w-full items-center no-wrap'):
                        text = ui.label().classes('text-sm w-80 truncate')
                        bar = ui.linear_progress(value=0, show_value=False).classes('grow')
                        ui.button('Cancel', on_click=partial(self.workspace.cancel, row)).props(
                            'flat'
                        )
                        self._bars[row.number] = (bar, text)
        done = [row for row in self.rows if row.summary and 'error' in row.summary]
        with self.running:
            for row in done:
                ui.label(f'{row.number}: {_mistake(row)}').classes('text-sm text-red-8')

    def progress(self) -> None:
        """Show how far the running fits are."""
        for row in self.rows:
            if row.job.running and row.number in self._bars:
                bar, text = self._bars[row.number]
                bar.set_value(row.job.fraction)
                text.set_text(f'{row.number}: {row.job.text}')

    def _start(self) -> None:
        if not self.workspace.recordings:
            ui.notify('add a recording first (Data)', type='warning')
            return
        physical = {'auto': None, 'yes': True, 'no': False}[self.physical.value]
        self.workspace.start('fit', 'identify', {
            'robot': self.workspace.robot_argument(),
            'recordings': self.workspace.named_recordings(),
            'method': self.method.value, 'friction': self.friction.value or None,
            'physical': physical, 'holdout': float(self.holdout.value or 0.0),
        })  # fmt: skip

    def _clicked(self, event: events.GenericEventArguments) -> None:
        number = event.args[1]['number']
        row = next((each for each in self.rows if each.number == number), None)
        if row is None or not row.summary or 'error' in row.summary:
            return
        self.details.clear()
        with self.details:
            show_details(row.summary)


def _mistake(row: Row) -> str:
    return str((row.summary or {}).get('error', ''))


def _cells(row: Row) -> dict[str, Any]:
    """Return the cells of a row."""
    settings, summary = row.settings, row.summary or {}
    files = ', '.join(path.rpartition('/')[2] for path, _ in settings['recordings'])
    cells: dict[str, Any] = {
        'number': row.number, 'recordings': files, 'method': settings['method'],
        'friction': settings['friction'] or 'robot file', 'verdict': 'running', 'error': '',
        'holdout': '', 'errors': '', 'seconds': '',
    }  # fmt: skip
    if 'error' in summary and 'verdict' not in summary:
        return cells | {'verdict': 'cancelled' if summary['error'] == 'cancelled' else 'failed'}
    if summary:
        each = ', '.join(f'{value:.3g}' for value in summary['errors'].values())
        held = summary['holdout']
        cells |= {
            'verdict': summary['verdict'], 'error': f'{summary["error_percent"]:.4g}',
            'holdout': f'{held:.4g}' if math.isfinite(held) else '', 'errors': each,
            'seconds': f'{summary["seconds"]:.1f}',
        }  # fmt: skip
    return cells


_BADGE = """
<q-td :props="props"><q-badge :color="{usable: 'positive', caution: 'warning',
do_not_use: 'negative', failed: 'negative'}[props.value] || 'grey'">
{{ props.value.replaceAll('_', ' ') }}</q-badge></q-td>
"""
