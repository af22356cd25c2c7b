"""Panel 'Payload': mass, centre and inertia of a load from recordings with and without it."""

from __future__ import annotations

from nicegui import ui

from robot_id.studio.workspace import Row, Workspace

STRATEGIES = {'': 'by the data', 'subtract': 'subtract', 'known_arm': 'known arm',
              'joint': 'both together'}  # fmt: skip


class PayloadPanel:
    """A load."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.row: Row | None = None
        with ui.row().classes('w-full items-end gap-4'):
            self.loaded = ui.select([], label='with the load').classes('w-64')
            self.unloaded = ui.select([], label='without it', clearable=True).classes('w-64')
            self.arm = ui.select([], label='or fit of the arm', clearable=True).classes('w-64')
            self.tool = ui.input('link that carries it').classes('w-48')
            self.strategy = ui.select(STRATEGIES, value='', label='strategy').classes('w-40')
            ui.button('Identify the load', on_click=self._start)
        self.answer = ui.label().classes('whitespace-pre-wrap font-mono text-sm')

    def refresh(self) -> None:
        """Show the recordings, and the load once it is there."""
        names = [name for name, _ in self.workspace.recordings]
        self.loaded.set_options(names)
        self.unloaded.set_options(names)
        self.arm.set_options([name for name in self.workspace.results() if 'identify-' in name])
        if self.row is not None and self.row.summary is not None:
            found = self.row.summary
            lines = found.get('lines', [found.get('error', '')])
            self.answer.set_text('\n'.join([*lines, *found.get('warnings', [])]))

    def progress(self) -> None:
        """Show how far the work is."""
        if self.row is not None and self.row.job.running:
            self.answer.set_text(f'{100 * self.row.job.fraction:.0f} % {self.row.job.text}')

    def _start(self) -> None:
        loaded, unloaded, arm = self.loaded.value, self.unloaded.value, self.arm.value
        if not loaded or not (unloaded or arm):
            ui.notify('choose a recording with the load, and one without it or a fit of the arm',
                      type='warning')  # fmt: skip
            return
        named = dict(zip([name for name, _ in self.workspace.recordings],
                         self.workspace.named_recordings()))  # fmt: skip
        self.row = self.workspace.start('payload', 'payload', {
            'robot': self.workspace.robot_argument(), 'loaded': [named[loaded]],
            'unloaded': [named[unloaded]] if unloaded else [],
            'arm': str(self.workspace.path(arm)) if arm else '', 'tool': self.tool.value,
            'strategy': self.strategy.value,
        })  # fmt: skip
