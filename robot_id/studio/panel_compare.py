"""Panel 'Compare': any fits of the folder side by side."""

from __future__ import annotations

import math
from typing import Any

from nicegui import ui

from robot_id.api.work import compare
from robot_id.studio.background import beside
from robot_id.studio.workspace import Workspace

# Distances in standard deviations beyond which two estimates differ by more than chance.
FAR = 3.0


class ComparePanel:
    """Fits side by side."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        with ui.row().classes('w-full items-end'):
            self.fits = (
                ui.select([], multiple=True, label='fits').classes('w-96').props('use-chips')
            )
            ui.button('Compare', on_click=self._compare)
        self.area = ui.column().classes('w-full')

    def refresh(self) -> None:
        """Show the fits that are there."""
        names = [name for name in self.workspace.results() if 'identify' in name]
        self.fits.set_options(names)

    async def _compare(self) -> None:
        chosen = list(self.fits.value or [])
        self.area.clear()
        paths = [str(self.workspace.path(name)) for name in chosen]
        found = await beside(compare, paths, self.workspace.robot_argument())
        with self.area:
            _draw(found)


def _draw(found: dict[str, Any]) -> None:
    labels = found['labels']
    keys = ['name', *labels, *(f'{label} apart' for label in labels[1:])]
    columns = [{'name': key, 'label': key, 'field': key, 'align': 'left'} for key in keys]
    rows = []
    for k, name in enumerate(found['names']):
        row: dict[str, Any] = {'name': name}
        for i, label in enumerate(labels):
            value, std = found['values'][i, k], found['std'][i, k]
            row[label] = '' if math.isnan(value) else f'{value:.4g} ± {1.96 * std:.2g}'
            apart = found['apart'][i, k]
            if i and not math.isnan(apart):
                row[f'{label} apart'] = f'{apart:.1f}' + (' !' if apart > FAR else '')
        rows.append(row)
    errors = ', '.join(f'{n}: {e:.4g} %' for n, e in zip(labels, found['errors']))
    ui.label(f'training errors: {errors}; apart: in standard deviations of both').classes(
        'text-sm'
    )
    ui.table(columns=columns, rows=rows, row_key='name', pagination=40).classes('w-full')
