"""Panel 'Compare': any fits of the folder side by side."""

from __future__ import annotations

import math
from typing import Any

from nicegui import ui

from robot_id.api.view import INTERVAL, number
from robot_id.api.work import compare
from robot_id.studio.panel import Panel, beside, table
from robot_id.studio.workspace import Workspace

# Distances in standard deviations beyond which two estimates differ by more than chance.
FAR = 3.0


class ComparePanel(Panel):
    """Fits side by side."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        with ui.row().classes('w-full items-end'):
            self.fits = (
                ui.select([], multiple=True, label='fits').classes('w-96').props('use-chips')
            )
            ui.button('Compare', on_click=self._compare)
        self.area = ui.column().classes('w-full')

    def refresh(self) -> None:
        """Show the fits that are there."""
        self.fits.set_options(self.workspace.fits())

    async def _compare(self) -> None:
        self.area.clear()
        paths = [str(self.workspace.path(name)) for name in self.fits.value or []]
        found = await beside(compare, paths, self.workspace.robot_argument())
        with self.area:
            _draw(found)


def _draw(found: dict[str, Any]) -> None:
    labels, rows = found['labels'], []
    for k, name in enumerate(found['names']):
        row: dict[str, Any] = {'name': name}
        for i, label in enumerate(labels):
            value, std = found['values'][i, k], found['std'][i, k]
            row[label] = '' if math.isnan(value) else f'{value:.4g} ± {INTERVAL * std:.2g}'
            apart = found['apart'][i, k]
            if i and not math.isnan(apart):
                row[f'{label} apart'] = f'{apart:.1f}' + (' !' if apart > FAR else '')
        rows.append(row)
    errors = ', '.join(f'{n}: {number(e, 4)} %' for n, e in zip(labels, found['errors']))
    ui.label(f'training errors: {errors}; apart: in standard deviations of both').classes(
        'text-sm'
    )
    table(['name', *labels, *(f'{label} apart' for label in labels[1:])], rows)
