"""Panel 'Look': all channels, the robot at the cursor, and what the check finds."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from robot_id.exceptions import RobotIdError
from robot_id.studio.background import beside
from robot_id.studio.charts import Signals
from robot_id.studio.scene import Figure
from robot_id.studio.workspace import Row, Workspace

SHOWN = ('position', 'velocity', 'torque', 'control', 'temperature')
REFERENCE = {'position': 'reference_position', 'velocity': 'reference_velocity'}
# Seconds between two pictures while the motion plays.
FRAME_S = 0.08
# Seconds shown before and after a finding.
AROUND_S = 1.0


class LookPanel:
    """What was recorded."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.at, self.index = 0.0, 0
        self.row: Row | None = None
        self.correction: Row | None = None
        self.figure: Figure | None = None
        self.signals: Signals | None = None
        self.drawn: tuple[Any, ...] = ()
        self.findings_of: Row | None = None
        with ui.row().classes('w-full items-center'):
            self.choice = ui.select({}, label='recording', on_change=self._chosen).classes('w-64')
            self.play = ui.button(icon='play_arrow', on_click=self._toggle).props('flat round')
            self.place = ui.label('0.00 s')
            ui.button('Check', on_click=self._check)
            self.waiting = ui.spinner(size='sm')
            self.waiting.set_visibility(False)
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
        self._show_findings()
        self._tell_correction()

    async def _chosen(self) -> None:
        if self.choice.value is not None and self.choice.value != self.index:
            self.index = self.choice.value
            await self.refresh()

    async def _draw(self) -> None:
        for area in (self.charts, self.scene, self.findings):
            area.clear()
        self.row = self.findings_of = None
        self.figure = self.signals = None
        if not self.workspace.recordings or not self.workspace.robot:
            with self.charts:
                ui.label('Choose a robot and add a recording first (Data).')
            return
        self.waiting.set_visibility(True)
        try:
            found = await beside(self.workspace.data, self.index)
            robot = self.workspace.load_robot()
        except (RobotIdError, OSError, IndexError) as error:
            with self.charts:
                ui.label(str(error)).classes('text-red-8')
            return
        finally:
            self.waiting.set_visibility(False)
        envelope, tracks = found.envelope, []
        for channel in SHOWN:
            if channel not in envelope.channels:
                continue
            lines = [
                (name, envelope, channel, j, False) for j, name in enumerate(robot.joint_names)
            ]
            other = REFERENCE.get(channel, '')
            if other in envelope.channels:
                lines += [(name, envelope, other, j, True)
                          for j, name in enumerate(robot.joint_names)]  # fmt: skip
            tracks.append((channel, lines))
        with self.charts:
            end = float(envelope.time[-1])
            shown = ui.label(f'{len(envelope.time)} samples, {end:.4g} s').classes('text-sm')

            def told(first: float, last: float) -> None:
                shown.set_text(
                    f'{len(envelope.time)} samples, {first:.4g} to {last:.4g} of {end:.4g} s'
                )

            self.signals = Signals(tracks, end, found.borders, self._cursor, told)
        with self.scene:
            self.figure = Figure(robot)
        self._cursor(0.0)

    def _cursor(self, seconds: float) -> None:
        """Move the robot to a place of the recording."""
        self.at = seconds
        self.place.set_text(f'{seconds:.2f} s')
        if self.figure is not None and self.workspace.recordings:
            self.figure.show(self.workspace.data(self.index).at(seconds))

    def _toggle(self) -> None:
        self.timer.active = not self.timer.active
        self.play.props(f'icon={"pause" if self.timer.active else "play_arrow"}')

    def _step(self) -> None:
        if not self.workspace.recordings:
            self._toggle()
            return
        try:
            end = float(self.workspace.envelope(self.index).time[-1])
        except (RobotIdError, OSError):
            self._toggle()
            raise
        self._cursor(self.at + FRAME_S if self.at + FRAME_S < end else 0.0)

    def _settings(self) -> dict[str, Any]:
        name, mapping = self.workspace.recordings[self.index]
        one = (
            str(self.workspace.path(name)),
            str(self.workspace.path(mapping)) if mapping else '',
        )
        return {'robot': self.workspace.robot_argument(), 'recordings': [one]}

    def _check(self) -> None:
        if not self.workspace.recordings or not self.workspace.robot:
            ui.notify('choose a robot and add a recording first')
            return
        name = self.workspace.recordings[self.index][0]
        self.row = self.workspace.start(f'check of {name}', 'check', self._settings())

    def _show_findings(self) -> None:
        row = self.row
        if row is None or row.summary is None or row is self.findings_of:
            return
        self.findings_of = row
        self.findings.clear()
        with self.findings:
            if 'error' in row.summary:
                ui.label(row.summary['error']).classes('text-red-8')
                return
            found = row.summary['findings']
            if self.signals is not None:
                self.signals.mark([place for one in found for place in self._places(one)])
            ui.label('no findings' if not found else f'{len(found)} finding(s)').classes('text-lg')
            for one in found:
                with ui.card().classes('w-full'):
                    where = f" of joint '{one['joint']}'" if one['joint'] else ''
                    ui.label(f'{one["code"]}{where} ({100 * one["certainty"]:.0f} % sure)')
                    ui.label(one['message']).classes('text-sm')
                    ui.label(f'fix: {one["fix"]}').classes('text-sm font-mono')
                    if places := self._places(one):
                        ui.button('Show', on_click=partial(self._zoom, places[0])).props('flat')
                    if one['fixable']:
                        ui.button('Write the corrected recording', on_click=self._fix).props(
                            'flat'
                        )

    def _places(self, one: dict[str, Any]) -> list[tuple[float, float, str]]:
        """Return where a finding is on the common axis."""
        starts = self.workspace.data(self.index).starts
        text = f'{one["code"]} {one["joint"] or ""}'
        return [
            (starts[each['run']] + each['first_s'], starts[each['run']] + each['last_s'], text)
            for each in one['intervals']
        ]

    def _zoom(self, place: tuple[float, float, str]) -> None:
        if self.signals is not None:
            self.signals.show(place[0] - AROUND_S, place[1] + AROUND_S)

    def _fix(self) -> None:
        name = self.workspace.recordings[self.index][0]
        folder = f'{name.split(".")[0]}_corrected'
        settings = self._settings() | {'folder': str(self.workspace.path(folder))}
        self.correction = self.workspace.start(f'correction of {name}', 'fix', settings)

    def _tell_correction(self) -> None:
        """Tell what was written, once."""
        if self.correction is None or self.correction.summary is None:
            return
        found, self.correction = self.correction.summary, None
        if 'error' in found:
            ui.notify(found['error'], type='negative', multi_line=True)
            return
        files = ', '.join(self.workspace.name(Path(each)) for each in found['files'])
        ui.notify(f'written: {files}' if files else 'nothing to correct', type='positive')
