"""Panel 'Excite': a motion within the limits, seen in 3-D before anything moves."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from robot_id.api.view import CRITERION_TEXTS, Envelope
from robot_id.studio.charts import Signals
from robot_id.studio.scene import Figure
from robot_id.studio.workspace import Row, Workspace


class ExcitePanel:
    """A motion to identify with."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.row: Row | None = None
        self.shown: Row | None = None
        with ui.row().classes('w-full items-end gap-4'):
            self.seconds = ui.number('seconds', value=10, min=1, max=600).classes('w-24')
            self.budget = ui.number('search, s', value=30, min=1, max=3600).classes('w-24')
            criteria = {name: f'{name}: {text}' for name, text in CRITERION_TEXTS.items()}
            self.criterion = ui.select(criteria, value='determinant', label='criterion').classes(
                'w-64'
            )
            self.fraction = ui.number(
                'share of limits', value=0.9, min=0.05, max=1, step=0.05
            ).classes('w-32')
            self.clearance = ui.number(
                'clearance, m', value=0.02, min=0, max=1, step=0.01
            ).classes('w-28')
            self.floor = ui.checkbox('floor', value=True)
            ui.button('Search', on_click=self._start)
            ui.button('Cancel', on_click=self._cancel).props('flat')
        self.state = ui.label().classes('text-sm')
        self.area = ui.column().classes('w-full')
        self.figure: Figure | None = None

    def _start(self) -> None:
        self.row = self.workspace.start('motion', 'excite', {
            'robot': self.workspace.robot_argument(), 'seconds': float(self.seconds.value),
            'budget_s': float(self.budget.value), 'criterion': self.criterion.value,
            'fraction': float(self.fraction.value), 'clearance_m': float(self.clearance.value),
            'floor': self.floor.value,
        })  # fmt: skip

    def _cancel(self) -> None:
        if self.row is not None:
            self.workspace.cancel(self.row)

    def progress(self) -> None:
        """Show how far the search is."""
        if self.row is not None and self.row.job.running:
            self.state.set_text(f'{100 * self.row.job.fraction:.0f} % {self.row.job.text}')

    def refresh(self) -> None:
        """Show the motion once it is there."""
        row = self.row
        if row is None or row.summary is None or row is self.shown:
            return
        self.shown = row
        self.area.clear()
        if 'error' in row.summary:
            self.state.set_text(row.summary['error'])
            return
        self.state.set_text('')
        with self.area:
            self._draw(row.summary)

    def _draw(self, found: dict[str, Any]) -> None:
        robot = self.workspace.load_robot()
        distance, pair = found['closest']
        near = f'closest links: {pair}, {distance:.3f} m' if pair else 'no collision geometry'
        condition = _text(found['condition_number'])
        ui.label(f'{found["seconds"]:.3g} s, condition number {condition}; {near}')
        ui.label('written: ' + ', '.join(each.rpartition('/')[2] for each in found['files']))
        ui.label('\n'.join(found['notes'])).classes('text-sm whitespace-pre-line')
        names = [each['name'] for each in found['joints']]
        time, position = found['time'], found['position']
        envelope = Envelope(time, {'position': position})
        lines = [(name, envelope, 'position', j, False) for j, name in enumerate(names)]

        def follow(seconds: float) -> None:
            if self.figure is not None:
                k = min(int(seconds * 100.0), len(position) - 1)
                self.figure.show(position[max(k, 0)])

        with ui.element('div').classes('w-full grid grid-cols-1 lg:grid-cols-2 gap-4'):
            with ui.column().classes('min-w-0'):
                Signals([('position', lines)], float(time[-1]), on_cursor=follow)
                keys = ('name', 'expected', 'std', 'percent_std')
                columns = [{'name': key, 'label': key, 'field': key, 'align': 'left'}
                           for key in keys]  # fmt: skip
                rows = [{key: _text(each[key]) for key in keys} for each in found['parameters']]
                ui.table(columns=columns, rows=rows, row_key='name', pagination=15)
            with ui.column().classes('min-w-0'):
                self.figure = Figure(robot)
                self.figure.show(position[0])


def _text(value: Any) -> str:
    return f'{value:.4g}' if isinstance(value, float) else str(value if value is not None else '')
