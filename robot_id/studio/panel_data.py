"""Panel 'Data': the robots and recordings of the folder, and the columns of unknown tables."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import events, ui

import robot_id as rid
from robot_id.api.view import CHANNELS, UNITS, Guess, joint_units, write_guess
from robot_id.exceptions import DataError, RobotIdError
from robot_id.studio.charts import small
from robot_id.studio.panel import Panel, beside
from robot_id.studio.workspace import Workspace

# Files that are dropped, bytes.
LARGEST_DROP = 2 << 30
NOTHING = '(not used)'


class DataPanel(Panel):
    """What is worked on."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.guess: Guess | None = None
        with ui.row().classes('w-full gap-6 items-start'):
            with ui.card().classes('w-80 grow'):
                ui.label('Robot').classes('text-lg')
                self.robot = ui.select(
                    workspace.robots(), label='URDF or robot file', value=workspace.robot or None,
                    on_change=lambda event: self._choose_robot(event.value),
                ).classes('w-full')  # fmt: skip
                self.about = ui.label().classes('text-sm whitespace-pre-wrap')
            with ui.card().classes('w-80 grow'):
                ui.label('Recordings').classes('text-lg')
                self.table = ui.select([], label='recording').classes('w-full')
                self.mapping = ui.select([], label='mapping', clearable=True).classes('w-full')
                with ui.row():
                    ui.button('Add', on_click=self._add)
                    ui.button('Guess its columns', on_click=self._guess).props('flat')
                self.chosen = ui.column().classes('w-full gap-1')
            with ui.card().classes('w-80 grow'):
                ui.label('Drop files here').classes('text-lg')
                ui.upload(
                    multiple=True, auto_upload=True, max_file_size=LARGEST_DROP,
                    on_upload=self._dropped,
                    on_rejected=lambda: ui.notify('a file is too large', type='negative'),
                ).classes('w-full').props('flat bordered')  # fmt: skip
                ui.label(f'They are copied into {workspace.folder.name}.').classes('text-sm')
        self.columns = ui.column().classes('w-full')
        self.refresh()

    def refresh(self) -> None:
        """Show what is in the folder now."""
        self.robot.set_options(self.workspace.robots(), value=self.workspace.robot or None)
        self.table.set_options(self.workspace.tables())
        self.mapping.set_options(self.workspace.mappings())
        if self.workspace.robot:
            self._describe()
        self.chosen.clear()
        with self.chosen:
            for name, mapping in self.workspace.recordings:
                with ui.row().classes('items-center no-wrap'):
                    ui.label(name + (f' by {mapping}' if mapping else '')).classes('text-sm')
                    ui.button(
                        icon='close', on_click=lambda n=name: self.workspace.remove(n)
                    ).props('flat dense size=sm')

    def _choose_robot(self, name: str | None) -> None:
        if not name or name == self.workspace.robot:
            return
        before, self.workspace.robot = self.workspace.robot, name
        try:
            self._describe()
        except RobotIdError:
            self.workspace.robot = before
            self.robot.set_value(before or None)
            raise
        self.workspace.changed()

    def _describe(self) -> None:
        """Tell what the robot is."""
        robot = self.workspace.load_robot()
        limits = robot.limits
        rows = [
            f'{joint}: {low:.3g} to {high:.3g} {unit}, {speed:.3g} {unit}/s'
            for joint, low, high, speed, unit in zip(
                robot.joint_names, limits.lower, limits.upper, limits.velocity,
                joint_units(robot, 'position'),
            )
        ]  # fmt: skip
        self.about.set_text('\n'.join([f'{robot.n} joints, {len(robot.base)} parameters', *rows]))

    def _chosen(self) -> str:
        if not self.table.value:
            raise DataError('choose a recording first')
        return str(self.table.value)

    async def _add(self) -> None:
        """Take a recording, after reading it once; unknown columns are guessed."""
        name = self._chosen()
        index = self.workspace.add(name, self.mapping.value or '')
        try:
            found = await beside(self.workspace.data, index)
        except RobotIdError as error:
            self.workspace.remove(name)
            if error.code != 'unknown_columns':
                raise
            await self._guess()
            return
        for note in found.notes:
            ui.notify(note)

    async def _guess(self) -> None:
        """Guess the columns of the chosen table and show them to be corrected."""
        name = self._chosen()
        robot, path = self.workspace.robot_argument(), self.workspace.path(name)
        self.guess = await beside(rid.guess, robot, path)
        self._show_guess(name)

    def _show_guess(self, name: str) -> None:
        guess = self.guess
        assert guess is not None
        self.columns.clear()
        channels = [NOTHING, 'time', *CHANNELS]
        joints = ['', *guess.robot.joint_names]
        with self.columns, ui.card().classes('w-full'):
            ui.label(f'Columns of {name}').classes('text-lg')
            for key, why in guess.not_sure.items():
                ui.label(f'not sure: {key}: {why}').classes('text-orange-8 text-sm')
            for note in guess.notes:
                ui.label(note).classes('text-sm')
            with ui.scroll_area().classes('w-full').style('height: 420px'):
                for k, each in enumerate(guess.assignments):
                    self._show_column(k, each, channels, joints)
            with ui.row().classes('items-center'):
                self.rate = ui.number('Hz without a time column', value=guess.rate_hz)
                if guess.rate_hz is None:
                    self.rate.set_visibility(False)
                for joint, at in guess.locked.items():
                    ui.label(f'locked: {joint} at {at:.3g}').classes('text-sm')
            with ui.row().classes('items-center'):
                ui.button('Write robot file and mapping, and use them', on_click=self._write)
                self.replace = ui.checkbox('replace those that are there')

    def _show_column(self, k: int, each: Any, channels: list[str], joints: list[str]) -> None:
        known = ['', *UNITS.get(each.channel, ())]
        colour = 'text-orange-8' if each.doubt else ''
        with ui.row().classes('w-full items-center gap-2'):
            ui.label(each.column.label).classes(f'w-36 truncate text-sm {colour}')
            small(each.column.values)
            fields: dict[str, Any] = {
                'channel': ui.select(channels, value=each.channel or NOTHING).classes('w-40'),
                'joint': ui.select(joints, value=each.joint).classes('w-36'),
                'unit': ui.input(value=each.unit, autocomplete=known).classes('w-20'),
            }
            for key, field in fields.items():
                field.props('dense outlined')
                field.on_value_change(partial(self._correct, k, key))
            ui.label(each.doubt or each.reason).classes(f'text-xs {colour}')

    def _correct(self, k: int, key: str, event: events.ValueChangeEventArguments) -> None:
        """Take what a person says about a column: it is sure then."""
        assert self.guess is not None
        each = self.guess.assignments[k]
        content = '' if event.value == NOTHING else event.value
        said: dict[str, Any] = {key: content, 'doubt': '', 'reason': 'chosen by hand'}
        changed = replace(each, **said)
        before, after = self.guess.assignments[:k], self.guess.assignments[k + 1 :]
        doubts = {name: why for name, why in self.guess.doubts.items() if name != changed.channel}
        self.guess = replace(self.guess, assignments=(*before, changed, *after), doubts=doubts)

    def _write(self) -> None:
        assert self.guess is not None
        guess = replace(self.guess, rate_hz=self.rate.value) if self.guess.rate_hz else self.guess
        robot, mapping = write_guess(guess, self.workspace.folder, self.replace.value)
        self.workspace.robot = self.workspace.name(robot)
        self.workspace.add(self.workspace.name(guess.path), self.workspace.name(mapping))
        ui.notify(f'written: {robot.name}, {mapping.name}', type='positive')
        self.columns.clear()

    async def _dropped(self, event: events.UploadEventArguments) -> None:
        """Copy a dropped file into the folder; one that is there is not replaced."""
        path = self.workspace.path(event.file.name.replace('/', '_'))
        if path.exists():
            raise DataError(f'{path.name}: exists already in the folder')
        await event.file.save(path)
        ui.notify(f'{path.name} is in the folder', type='positive')
        self.workspace.changed()
