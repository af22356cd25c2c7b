"""Panel 'Payload': mass, centre and inertia of a load from recordings with and without it."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from robot_id.exceptions import DataError
from robot_id.studio.panel import Panel
from robot_id.studio.workspace import Workspace

STRATEGIES = {'': 'by the data', 'subtract': 'subtract', 'known_arm': 'known arm',
              'joint': 'both together'}  # fmt: skip


class PayloadPanel(Panel):
    """A load."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        with ui.row().classes('w-full items-end gap-4'):
            self.loaded = ui.select([], label='with the load').classes('w-64')
            self.unloaded = ui.select([], label='without it', clearable=True).classes('w-64')
            self.arm = ui.select([], label='or fit of the arm', clearable=True).classes('w-64')
            self.tool = ui.input('link that carries it').classes('w-48')
            self.strategy = ui.select(STRATEGIES, value='', label='strategy').classes('w-40')
            ui.button('Identify the load', on_click=self._start)
        self.load = self.work(self._draw)
        self.answer = ui.label().classes('whitespace-pre-wrap font-mono text-sm')

    def refresh(self) -> None:
        """Show the recordings and fits that are there."""
        names = [name for name, _ in self.workspace.recordings]
        for select, options in (
            (self.loaded, names), (self.unloaded, names), (self.arm, self.workspace.fits())
        ):  # fmt: skip
            select.set_options(options)

    def _draw(self, found: dict[str, Any]) -> None:
        self.answer.set_text('\n'.join([*found['lines'], *found['warnings']]))

    def _start(self) -> None:
        loaded, unloaded, arm = self.loaded.value, self.unloaded.value, self.arm.value
        if not loaded or not (unloaded or arm):
            raise DataError(
                'choose a recording with the load, and one without it or a fit of the arm'
            )
        self.answer.set_text('')
        self.load.start(
            'payload', robot=self.workspace.robot_argument(),
            loaded=self.workspace.full_paths([loaded]),
            unloaded=self.workspace.full_paths([unloaded]) if unloaded else [],
            arm=str(self.workspace.path(arm)) if arm else '', tool=self.tool.value,
            strategy=self.strategy.value,
        )  # fmt: skip
