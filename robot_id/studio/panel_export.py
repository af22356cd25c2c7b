"""Panel 'Export': a fit for other programs, and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nicegui import ui

from robot_id.api.view import FORMATS
from robot_id.studio.workspace import Row, Workspace

ENDINGS = {'yaml': '.yaml', 'ros-params': '.yaml', 'urdf': '.urdf', 'mjcf': '.xml', 'sdf': '.sdf',
           'ros2_control': '.urdf', 'c': '', 'joints': '.csv', 'csv': '.csv'}  # fmt: skip


class ExportPanel:
    """Files of a fit."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.row: Row | None = None
        with ui.row().classes('w-full items-end gap-4'):
            self.fit = ui.select([], label='fit').classes('w-64')
            formats = {name: f'{name}: {each.help}' for name, each in FORMATS.items()}
            self.format = ui.select(formats, value='urdf', label='format').classes('w-96')
            self.force = ui.checkbox('although the verdict is do not use')
            ui.button('Export', on_click=self._export)
            ui.button('Report', on_click=self._report).props('outline')
        self.answer = ui.label().classes('whitespace-pre-wrap text-sm')

    def refresh(self) -> None:
        """Show the fits, and what was written."""
        self.fit.set_options([name for name in self.workspace.results() if 'identify' in name])
        if self.row is not None and self.row.summary is not None:
            found = self.row.summary
            files = [f'written: {path}' for path in found.get('files', [])]
            self.answer.set_text('\n'.join([*files, *found.get('lines', []),
                                            found.get('error', '')]))  # fmt: skip

    def _chosen(self) -> tuple[Path, str] | None:
        if not self.fit.value:
            ui.notify('choose a fit first', type='warning')
            return None
        return self.workspace.path(self.fit.value), self.workspace.robot_argument()

    def _export(self) -> None:
        chosen = self._chosen()
        if chosen is None:
            return
        path, robot = chosen
        kind = self.format.value
        out = path.with_name(f'{path.stem}-{kind}{ENDINGS.get(kind, "")}')
        self._start('export', {'fit': str(path), 'path': str(out), 'format': kind, 'robot': robot,
                               'force': self.force.value})  # fmt: skip

    def _report(self) -> None:
        chosen = self._chosen()
        if chosen is None:
            return
        path, robot = chosen
        own = [row for row in self.workspace.rows if row.settings.get('json') == str(path)]
        recordings = own[0].settings['recordings'] if own else self.workspace.named_recordings()
        if not recordings:
            ui.notify('add the recording of this fit first (Data)', type='warning')
            return
        self._start('report', {'fit': str(path), 'path': str(path.with_suffix('.html')),
                               'recordings': recordings, 'robot': robot})  # fmt: skip

    def _start(self, verb: str, settings: dict[str, Any]) -> None:
        self.answer.set_text('working')
        self.row = self.workspace.start(verb, verb, settings)
