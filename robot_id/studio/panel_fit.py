"""Panel 'Fit': settings with defaults, one row for each fit, and its details."""

from __future__ import annotations

import math
from typing import Any

from nicegui import events, ui

from robot_id.api.view import methods
from robot_id.studio.details import show_details
from robot_id.studio.job import Job
from robot_id.studio.panel import Panel, Work, table
from robot_id.studio.workspace import FIT, Workspace

FRICTION = {'': "the robot file's", 'auto': 'auto (cross-validation)',
            'viscous,coulomb': 'viscous, coulomb',
            'viscous,coulomb,load': 'viscous, coulomb, load',
            'viscous,coulomb,stribeck': 'viscous, coulomb, Stribeck'}  # fmt: skip
PHYSICAL = {'auto': 'where M(q) needs it', 'yes': 'always', 'no': 'never'}
LABELS = {
    'number': '#', 'recordings': 'recordings', 'method': 'method', 'friction': 'friction',
    'verdict': 'verdict', 'error': 'training error %', 'holdout': 'hold-out error %',
    'errors': 'by joint %', 'seconds': 's',
}  # fmt: skip


class FitPanel(Panel):
    """What is identified."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        with ui.row().classes('w-full items-end gap-4'):
            known = [one.name for one in methods()]
            self.method = ui.select(known, value='idim_wls', label='method').classes('w-44')
            self.friction = ui.select(FRICTION, value='', label='friction').classes('w-56')
            self.physical = ui.select(PHYSICAL, value='auto', label='physically consistent')
            self.physical.classes('w-48')
            self.holdout = ui.number('hold-out', value=0.2, min=0, max=0.9, step=0.05)
            ui.button('Fit', on_click=self._start)
        self.running = ui.column().classes('w-full gap-1')
        self.table = table(list(LABELS), labels=LABELS)
        self.table.on('rowClick', self._clicked)
        self.table.add_slot('body-cell-verdict', _BADGE)
        self.details = ui.column().classes('w-full')

    @property
    def fits(self) -> list[Job]:
        """Those of all tabs."""
        return [job for job in self.workspace.jobs if job.verb == FIT]

    def refresh(self) -> None:
        """Show all rows."""
        self.table.rows = [_cells(fit) for fit in self.fits]
        self.table.update()
        with self.running:
            for fit in self.fits[len(self.works) :]:
                self.works.append(Work(self.workspace, job=fit))

    def _start(self) -> None:
        physical = {'auto': None, 'yes': True, 'no': False}[self.physical.value]
        self.workspace.start(FIT, {
            'robot': self.workspace.robot_argument(), 'recordings': self.workspace.full_paths(),
            'method': self.method.value, 'friction': self.friction.value or None,
            'physical': physical, 'holdout': float(self.holdout.value or 0.0),
        })  # fmt: skip

    def _clicked(self, event: events.GenericEventArguments) -> None:
        number = event.args[1]['number']
        found = next(each for each in self.fits if each.number == number).answer
        if found and 'error' not in found:
            self.details.clear()
            with self.details:
                show_details(found)


def _cells(fit: Job) -> dict[str, Any]:
    """Return the cells of a row."""
    settings, found = fit.settings, fit.answer
    files = ', '.join(path.rpartition('/')[2] for path, _ in settings['recordings'])
    cells: dict[str, Any] = {
        'number': fit.number, 'recordings': files, 'method': settings['method'],
        'friction': settings['friction'] or 'robot file',
    }  # fmt: skip
    if found is None:
        return cells | {'verdict': 'running'}
    if 'error' in found:
        return cells | {'verdict': 'cancelled' if found['error'] == 'cancelled' else 'failed'}
    held = found['holdout']
    return cells | {
        'verdict': found['verdict'], 'error': f'{found["error_percent"]:.4g}',
        'holdout': f'{held:.4g}' if math.isfinite(held) else '',
        'errors': ', '.join(f'{value:.3g}' for value in found['errors'].values()),
        'seconds': f'{found["seconds"]:.1f}',
    }  # fmt: skip


_BADGE = """
<q-td :props="props"><q-badge :color="{usable: 'positive', caution: 'warning',
do_not_use: 'negative', failed: 'negative'}[props.value] || 'grey'">
{{ props.value.replaceAll('_', ' ') }}</q-badge></q-td>
"""
