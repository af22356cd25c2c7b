"""Panel 'Export': a fit for other programs, and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nicegui import ui

from robot_id.api.view import FORMATS
from robot_id.exceptions import DataError
from robot_id.studio.panel import Panel
from robot_id.studio.workspace import Workspace


class ExportPanel(Panel):
    """Files of a fit."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        with ui.row().classes('w-full items-end gap-4'):
            self.fit = ui.select([], label='fit').classes('w-64')
            formats = {name: f'{name}: {each.help}' for name, each in FORMATS.items()}
            self.format = ui.select(formats, value='urdf', label='format').classes('w-96')
            self.force = ui.checkbox('although the verdict is do not use')
            ui.button('Export', on_click=self._export)
            ui.button('Report', on_click=self._report).props('outline')
        self.writing = self.work(self._draw)
        self.answer = ui.label().classes('whitespace-pre-wrap text-sm')

    def refresh(self) -> None:
        """Show the fits that are there."""
        self.fit.set_options(self.workspace.fits())

    def _draw(self, found: dict[str, Any]) -> None:
        files = [f'written: {path}' for path in found['files']]
        lines = '\n'.join([*files, *found.get('lines', [])])
        self.answer.set_text(lines.replace(f'{self.workspace.folder}/', ''))

    def _start(self, verb: str, ending: str, **settings: Any) -> None:
        """Write `<fit><ending>` beside the fit."""
        self.answer.set_text('')
        path = self._path()
        out = path.with_name(path.stem + ending)
        robot = self.workspace.robot_argument()
        self.writing.start(verb, fit=str(path), path=str(out), robot=robot, **settings)

    def _path(self) -> Path:
        if not self.fit.value:
            raise DataError('choose a fit first')
        return self.workspace.path(self.fit.value)

    def _export(self) -> None:
        kind = self.format.value
        ending = f'-{kind}{FORMATS[kind].ending}'
        self._start('export', ending, format=kind, force=self.force.value)

    def _report(self) -> None:
        fit = str(self._path())
        own = [job for job in self.workspace.jobs if job.settings['json'] == fit]
        recordings = own[0].settings['recordings'] if own else self.workspace.full_paths()
        self._start('report', '.html', recordings=recordings)
