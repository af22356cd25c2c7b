"""Panel 'Excite': a motion within the limits, seen in 3-D before anything moves."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from robot_id.api.view import CRITERION_TEXTS, Envelope, number
from robot_id.studio.charts import Signals, by_channel
from robot_id.studio.panel import Panel, table
from robot_id.studio.scene import Figure
from robot_id.studio.workspace import Workspace

# Settings: label, value, least, largest, step; an empty field is the default of the work.
NUMBERS = {
    'seconds': ('seconds', 10.0, 1.0, 600.0, 1.0),
    'budget_s': ('search, s', 30.0, 1.0, 3600.0, 1.0),
    'fraction': ('share of limits', 0.9, 0.05, 1.0, 0.05),
    'clearance_m': ('clearance, m', 0.02, 0.0, 1.0, 0.01),
}
PARAMETERS = ('name', 'expected', 'std', 'percent_std')
LABELS = {'percent_std': 'std %'}


class ExcitePanel(Panel):
    """A motion to identify with."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        with ui.row().classes('w-full items-end gap-4'):
            self.numbers = {
                key: ui.number(label, value=value, min=low, max=high, step=step).classes('w-32')
                for key, (label, value, low, high, step) in NUMBERS.items()
            }
            criteria = {name: f'{name}: {text}' for name, text in CRITERION_TEXTS.items()}
            self.criterion = ui.select(criteria, value='determinant', label='criterion')
            self.criterion.classes('w-96')
            self.floor = ui.checkbox('floor', value=True)
            ui.button('Search', on_click=self._start)
        self.search = self.work(self._draw)
        self.area = ui.column().classes('w-full')

    def _start(self) -> None:
        self.area.clear()
        self.search.start(
            'excite', robot=self.workspace.robot_argument(), criterion=self.criterion.value,
            floor=self.floor.value,
            **{key: float(field.value) for key, field in self.numbers.items()
               if field.value is not None},
        )  # fmt: skip

    def _draw(self, found: dict[str, Any]) -> None:
        distance, pair = found['closest']
        near = f'closest links: {pair}, {distance:.3f} m' if pair else 'no collision geometry'
        time, position = found['time'], found['position']
        robot = self.workspace.load_robot()
        tracks = by_channel(Envelope(time, {'position': position}), robot, ['position'])
        with self.area:
            condition = _text(found['condition_number'])
            ui.label(f'{found["seconds"]:.3g} s, condition number {condition}; {near}')
            ui.label('written: ' + ', '.join(each.rpartition('/')[2] for each in found['files']))
            ui.label('\n'.join(found['notes'])).classes('text-sm whitespace-pre-line')
            with ui.element('div').classes('w-full grid grid-cols-1 lg:grid-cols-2 gap-4'):
                left = ui.column().classes('min-w-0')
                with ui.column().classes('min-w-0'):
                    figure = Figure(robot)
                    figure.show(position[0])
            with left:
                Signals(tracks, float(time[-1]), on_cursor=lambda seconds: (
                    figure.show(position[min(max(int(seconds * 100.0), 0), len(position) - 1)])
                ))  # fmt: skip
            rows = [{key: _text(each[key]) for key in PARAMETERS} for each in found['parameters']]
            table(PARAMETERS, rows, LABELS)


def _text(value: Any) -> str:
    """Return a cell: names, and numbers that may be unknown."""
    return value if isinstance(value, str) else '' if value is None else number(value, 4)
