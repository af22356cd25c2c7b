"""The page: one tab a step, all on the same folder."""

from __future__ import annotations

import inspect

from nicegui import ui

from robot_id.exceptions import RobotIdError
from robot_id.studio.panel import Panel
from robot_id.studio.panel_compare import ComparePanel
from robot_id.studio.panel_data import DataPanel
from robot_id.studio.panel_excite import ExcitePanel
from robot_id.studio.panel_export import ExportPanel
from robot_id.studio.panel_fit import FitPanel
from robot_id.studio.panel_live import LivePanel
from robot_id.studio.panel_look import LookPanel
from robot_id.studio.panel_payload import PayloadPanel
from robot_id.studio.workspace import Workspace

# Seconds between two looks at what the workers have sent.
POLL_S = 0.3
# A mistake of a user, as opposed to a bug; milliseconds that it is shown.
MISTAKES = RobotIdError, OSError
TOLD_MS = 15_000
PANELS: dict[str, type[Panel]] = {
    'Data': DataPanel, 'Look': LookPanel, 'Fit': FitPanel, 'Compare': ComparePanel,
    'Excite': ExcitePanel, 'Payload': PayloadPanel, 'Export': ExportPanel,
    'Live': LivePanel,
}  # fmt: skip


def tell(error: Exception) -> None:
    """Show why what was asked for was not done: every mistake ends here."""
    bug = f'{type(error).__name__}: {error} (a bug: the terminal has more)'
    text = str(error) if isinstance(error, MISTAKES) else bug
    ui.notify(text, type='negative', multi_line=True, timeout=TOLD_MS)


def build(workspace: Workspace) -> None:
    """Build the page of one tab of the browser; all tabs show the same workspace."""
    ui.on_exception(tell)
    ui.colors(primary='#2f5d8a')
    with ui.header().classes('items-center gap-6 py-1'):
        ui.label('robot-id studio').classes('text-lg')
        ui.label(workspace.folder.name).classes('text-sm opacity-80 truncate').tooltip(
            str(workspace.folder)
        )
        status = ui.label().classes('text-sm ml-auto')
    with ui.tabs().classes('w-full').props('dense align=left outside-arrows') as tabs:
        for name in PANELS:
            ui.tab(name)
    with ui.tab_panels(tabs, value='Data', keep_alive=True).classes('w-full'):
        built: dict[str, Panel] = {}
        for name, panel in PANELS.items():
            with ui.tab_panel(name).classes('px-1'):
                built[name] = panel(workspace)
    seen = -1

    async def poll() -> None:
        nonlocal seen
        workspace.poll()
        running = sum(job.answer is None for job in workspace.jobs)
        status.set_text(f'{running} running' if running else '')
        for name, panel in built.items():
            panel.active = tabs.value == name
            panel.progress()
        if seen != workspace.version:
            seen = workspace.version
            for panel in built.values():
                try:
                    answer = panel.refresh()
                    if inspect.isawaitable(answer):
                        await answer
                except MISTAKES as error:
                    tell(error)

    ui.timer(POLL_S, poll)
