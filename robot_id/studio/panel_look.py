"""Panel 'Look': all channels, the robot at the cursor, and what the check finds."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from robot_id.api.view import Recorded
from robot_id.exceptions import RobotIdError
from robot_id.studio.charts import Signals, by_channel
from robot_id.studio.panel import Panel, beside
from robot_id.studio.scene import Figure
from robot_id.studio.workspace import Workspace

SHOWN = ('position', 'velocity', 'torque', 'control', 'temperature')
# Seconds between two pictures while the motion plays.
FRAME_S = 0.08
# Seconds shown before and after a finding.
AROUND_S = 1.0


class LookPanel(Panel):
    """What was recorded."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.at, self.index = 0.0, 0
        self.found: Recorded | None = None
        self.figure: Figure | None = None
        self.signals: Signals | None = None
        self.drawn: tuple[Any, ...] = ()
        with ui.row().classes('w-full items-center'):
            self.choice = ui.select({}, label='recording', on_change=self._chosen).classes('w-64')
            self.play = ui.button(icon='play_arrow', on_click=self._toggle).props('flat round')
            self.place = ui.label('0.00 s')
            ui.button('Check', on_click=self._check)
            self.waiting = ui.spinner(size='sm')
            self.waiting.set_visibility(False)
        self.check, self.correction = self.work(self._show_findings), self.work(_tell_correction)
        with ui.element('div').classes('w-full grid grid-cols-1 lg:grid-cols-3 gap-4'):
            self.charts = ui.column().classes('lg:col-span-2 min-w-0')
            with ui.column().classes('min-w-0'):
                self.scene = ui.column().classes('w-full')
                self.findings = ui.column().classes('w-full gap-1')
        self.timer = ui.timer(FRAME_S, self._step, active=False)

    async def refresh(self) -> None:
        """Show the recordings that are chosen now."""
        options = {k: name for k, (name, _) in enumerate(self.workspace.recordings)}
        self.choice.set_options(options, value=self.index if self.index in options else None)
        if options and self.choice.value is None:
            self.choice.set_value(0)
        key = (self.workspace.robot, tuple(self.workspace.recordings), self.index)
        if key != self.drawn:
            self.drawn = key
            await self._draw()

    def _chosen(self) -> Awaitable[None] | None:
        if self.choice.value is None or self.choice.value == self.index:
            return None
        self.index = self.choice.value  # At once: a refresh in between would take it back.
        return self.refresh()

    async def _draw(self) -> None:
        for area in (self.charts, self.scene, self.findings):
            area.clear()
        self.check.show(None)
        self.found = self.figure = self.signals = None
        if not self.workspace.recordings or not self.workspace.robot:
            with self.charts:
                ui.label('Choose a robot and add a recording first (Data).')
            return
        self.waiting.set_visibility(True)
        mine = self.drawn
        try:
            found = await beside(self.workspace.data, self.index)
            robot = self.workspace.load_robot()
        except (RobotIdError, OSError, IndexError) as error:
            with self.charts:
                ui.label(str(error)).classes('text-red-8')
            return
        finally:
            self.waiting.set_visibility(False)
        if mine != self.drawn:  # Another one was chosen meanwhile.
            return
        self.found = found
        with self.charts:
            self.signals = self._signals(found, robot)
        with self.scene:
            self.figure = Figure(robot)
        self._cursor(0.0)

    def _signals(self, found: Recorded, robot: Any) -> Signals:
        """Draw all channels, and tell which part of them is shown."""
        envelope = found.envelope
        count, end = len(envelope.time), float(envelope.time[-1])
        shown = ui.label(f'{count} samples, {end:.4g} s').classes('text-sm')

        def told(first: float, last: float) -> None:
            shown.set_text(f'{count} samples, {first:.4g} to {last:.4g} of {end:.4g} s')

        return Signals(by_channel(envelope, robot, SHOWN), end, found.borders, self._cursor, told)

    def _cursor(self, seconds: float) -> None:
        """Move the robot to a place of the recording."""
        self.at = seconds
        self.place.set_text(f'{seconds:.2f} s')
        if self.figure is not None and self.found is not None:
            self.figure.show(self.found.at(seconds))

    def _toggle(self) -> None:
        self.timer.active = not self.timer.active
        self.play.props(f'icon={"pause" if self.timer.active else "play_arrow"}')

    def _step(self) -> None:
        """Play on, and again from the start."""
        if self.found is None:
            self._toggle()
            return
        after, end = self.at + FRAME_S, float(self.found.envelope.time[-1])
        self._cursor(after if after < end else 0.0)

    def _settings(self) -> dict[str, Any]:
        chosen = self.workspace.full_paths()[self.index : self.index + 1]
        return {'robot': self.workspace.robot_argument(), 'recordings': chosen}

    def _check(self) -> None:
        self.findings.clear()
        self.check.start('check', **self._settings())

    def _show_findings(self, answer: dict[str, Any]) -> None:
        found = answer['findings']
        if self.signals is not None:
            self.signals.mark([place for one in found for place in self._places(one)])
        with self.findings:
            ui.label('no findings' if not found else f'{len(found)} finding(s)').classes('text-lg')
            for one in found:
                with ui.card().classes('w-full'):
                    where = f" of joint '{one['joint']}'" if one['joint'] else ''
                    ui.label(f'{one["code"]}{where} ({100 * one["certainty"]:.0f} % sure)')
                    ui.label(one['message']).classes('text-sm')
                    ui.label(f'fix: {one["fix"]}').classes('text-sm font-mono')
                    if self.signals is not None and (places := self._places(one)):
                        first, last = places[0][0] - AROUND_S, places[0][1] + AROUND_S
                        ui.button('Show', on_click=partial(self.signals.show, first, last)).props(
                            'flat'
                        )
                    if one['fixable']:
                        ui.button('Write the corrected recording', on_click=self._fix).props(
                            'flat'
                        )

    def _places(self, one: dict[str, Any]) -> list[tuple[float, float, str]]:
        """Return where a finding is on the common axis."""
        starts = self.found.starts if self.found is not None else ()
        text = f'{one["code"]} {one["joint"] or ""}'
        return [
            (starts[each['run']] + each['first_s'], starts[each['run']] + each['last_s'], text)
            for each in one['intervals'] if each['run'] < len(starts)
        ]  # fmt: skip

    def _fix(self) -> None:
        name = self.workspace.recordings[self.index][0]
        folder = self.workspace.path(f'{name.split(".")[0]}_corrected')
        self.correction.start('fix', folder=str(folder), **self._settings())


def _tell_correction(found: dict[str, Any]) -> None:
    files = ', '.join('/'.join(Path(each).parts[-2:]) for each in found['files'])
    ui.notify(f'written: {files}' if files else 'nothing to correct', type='positive')
