"""What the panels share: work in a process or thread beside the page, and tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from nicegui import run, ui

from robot_id.studio.job import Job
from robot_id.studio.workspace import Workspace

T = TypeVar('T')
# Rows of a page of a table.
ROWS = 20
# Order of two cells, which are texts, in the browser.
BY_NUMBER = '(a, b) => a - b || `${a}`.localeCompare(b)'


class Work:
    """
    A piece of work: its progress with a button that ends it, its mistake, its answer.

    :param done: takes the answer, once.
    :param job: work that runs already, or has ended.
    """

    def __init__(
        self,
        workspace: Workspace,
        done: Callable[[dict[str, Any]], object] = lambda answer: None,
        job: Job | None = None,
    ) -> None:
        self.workspace, self.done = workspace, done
        with ui.row().classes('w-full items-center no-wrap') as self.running:
            self.bar = ui.linear_progress(value=0, show_value=False).classes('w-64')
            self.text = ui.label().classes('text-sm grow truncate')
            ui.button('Cancel', on_click=self._cancel).props('flat')
        self.mistake = ui.label().classes('text-sm text-red-8 whitespace-pre-wrap')
        self.show(job)

    def start(self, verb: str, **settings: Any) -> None:
        """Begin; what began before goes on without being shown."""
        self.show(self.workspace.start(verb, settings))

    def show(self, job: Job | None, mistake: str = '') -> None:
        """Show what goes on, None for nothing, or why it did not."""
        self.job = job
        self.running.set_visibility(job is not None)
        self.mistake.set_text(mistake)
        self.mistake.set_visibility(bool(mistake))

    def _cancel(self) -> None:
        if self.job is not None:
            self.workspace.cancel(self.job)

    def poll(self) -> None:
        """Show how far it is, or what came of it."""
        job = self.job
        if job is None:
            return
        title = f'{job.verb} {job.number}'
        if job.answer is None:
            self.bar.set_value(job.fraction)
            self.text.set_text(f'{title}, {100 * job.fraction:.0f} %: {job.text}')
            return
        mistake = job.answer.get('error', '')
        self.show(None, f'{title}: {mistake}' if mistake else '')
        if not mistake:
            self.done(job.answer)


class Panel:
    """
    One step of the page.

    :ivar works: what it has asked for.
    :ivar active: whether it is the one that is looked at.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.works: list[Work] = []
        self.active = False

    def work(self, done: Callable[[dict[str, Any]], object]) -> Work:
        """Return work of this panel, shown here."""
        self.works.append(Work(self.workspace, done))
        return self.works[-1]

    def refresh(self) -> Any:
        """Show what the workspace holds now."""

    def progress(self) -> None:
        """Show how far the work is."""
        for each in self.works:
            each.poll()


async def beside(work: Callable[..., T], *arguments: Any) -> T:
    """Return what a function gives that runs in a thread; the server's end cancels it."""
    found = await run.io_bound(work, *arguments)
    if found is None:
        raise asyncio.CancelledError
    return found


def table(
    keys: Sequence[str],
    rows: Sequence[Mapping[str, Any]] = (),
    labels: Mapping[str, str] = {},
) -> ui.table:
    """
    Return a table.

    :param keys: of its rows, from left to right; the first one names a row.
    :param labels: heads that are not the key.
    """
    columns = [
        {'name': key, 'label': labels.get(key, key), 'field': key, 'align': 'left',
         'sortable': True, ':sort': BY_NUMBER}
        for key in keys
    ]  # fmt: skip
    pages = ROWS if len(rows) > ROWS else None
    made = ui.table(columns=columns, rows=[*map(dict, rows)], row_key=keys[0], pagination=pages)
    return made.classes('w-full')
