"""Panel 'Live': a running robot, on-line estimates and the logger; it commands no motion."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from nicegui import run, ui

from robot_id.api.view import INTERVAL, Envelope
from robot_id.exceptions import DataError
from robot_id.studio.charts import Signals, by_channel
from robot_id.studio.live import SPAN_S, Live, without_ros
from robot_id.studio.panel import Panel, table
from robot_id.studio.scene import Figure
from robot_id.studio.workspace import Workspace

# Seconds between two drawings of the signals.
DRAW_S = 1.0
ESTIMATES = ('name', 'estimate', '95 % interval', 'state', 'reason')


class LivePanel(Panel):
    """What the robot does now."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.figure: Figure | None = None
        self.signals: Signals | None = None
        self.of: tuple[Any, ...] = ()
        self.drawn = 0.0
        self.asked = False
        self.missing = without_ros()
        if self.missing:
            ui.label(self.missing)
            return
        with ui.row().classes('w-full items-end gap-4'):
            self.topic = ui.input('joint states', value='joint_states').classes('w-40')
            self.namespace = ui.input('namespace').classes('w-32')
            self.mapping = ui.select([], label='mapping of the driver', clearable=True)
            self.mapping.classes('w-48')
            self.estimator = ui.input('estimator', value='online_identifier').classes('w-44')
            self.logger = ui.input('logger', value='data_logger').classes('w-36')
            ui.button('Listen', on_click=self._listen)
            ui.button('End listening', on_click=self._leave).props('flat')
        self.state = ui.label().classes('text-sm whitespace-pre-wrap')
        with ui.row().classes('w-full items-end gap-4'):
            self.bag = ui.input('bag', placeholder='date and time').classes('w-48')
            ui.button('Start recording', on_click=lambda: self._ask('start'))
            ui.button('Stop recording', on_click=lambda: self._ask('stop')).props('outline')
            self.recording = ui.label().classes('text-sm')
        with ui.element('div').classes('w-full grid grid-cols-1 lg:grid-cols-3 gap-4'):
            self.charts = ui.column().classes('lg:col-span-2 min-w-0')
            self.scene = ui.column().classes('min-w-0')
        self.supervision = ui.label().classes('text-sm')
        self.table = table(ESTIMATES)
        self.table.set_visibility(False)

    def refresh(self) -> None:
        """Show the mappings that are there."""
        if not self.missing:
            self.mapping.set_options(self.workspace.mappings())

    def progress(self) -> None:
        """Show what was heard."""
        live = self.workspace.live
        if self.missing or live is None or not self.active:
            return
        self.state.set_text(_stream(live))
        if self.asked and (answer := live.told.get('answer')):
            self.asked = False
            kind: Any = 'negative' if answer['wrong'] else 'positive'
            ui.notify(answer['text'], type=kind, multi_line=True)
        self.recording.set_text(_recording(live))
        envelope = Envelope(*live.window())
        if (live, *envelope.channels) != self.of:
            self.of = (live, *envelope.channels)
            self._build(live, envelope)
        if self.figure is not None and (states := live.told.get('states')):
            self.figure.show(np.array(states['now']))
        if time.monotonic() - self.drawn >= DRAW_S:
            self.drawn = time.monotonic()
            if self.signals is not None:
                self.signals.tracks = by_channel(envelope, live.robot, envelope.channels)
                self.signals.draw()
            self._show_estimates(live)

    def _build(self, live: Live, envelope: Envelope) -> None:
        """Make empty charts of what is heard."""
        self.charts.clear()
        self.scene.clear()
        self.figure = self.signals = None
        if not envelope.channels:
            return
        with self.charts:
            self.signals = Signals(by_channel(envelope, live.robot, envelope.channels), SPAN_S)
        with self.scene:
            self.figure = Figure(live.robot)

    def _show_estimates(self, live: Live) -> None:
        """Show the estimates with their intervals, and what supervises them."""
        found, status = live.told.get('estimate'), live.told.get('status', {})
        self.table.set_visibility(found is not None)
        if found is None:
            return
        alive = dict(zip(status.get('names', ()), status.get('states', ())))
        why = dict(zip(status.get('names', ()), status.get('reasons', ())))
        self.table.rows = [
            {
                'name': name, 'estimate': f'{value:.5g}', '95 % interval': _interval(value, std),
                'state': alive.get(name, ''), 'reason': why.get(name, ''),
            }
            for name, value, std in zip(found['names'], found['values'], found['std'])
        ]  # fmt: skip
        self.table.update()
        if status:
            self.supervision.set_text(
                f'{found["method"]} on {found["robot"]}: error of the last seconds '
                f'{status["error_percent"]:.3g} %, condition number '
                f'{status["condition_number"]:.3g}, {status["samples"]} samples used, '
                f'{status["rejected"]} rejected, {status["gaps"]} gaps'
            )

    async def _listen(self) -> None:
        mapping = self.mapping.value
        settings = {
            'robot': self.workspace.robot_argument(),
            'mapping': str(self.workspace.path(mapping)) if mapping else '',
            'estimator': self.estimator.value, 'logger': self.logger.value,
        }  # fmt: skip
        robot = self.workspace.load_robot()
        await self._leave()
        topic, namespace = self.topic.value, self.namespace.value
        self.workspace.live = Live(robot, settings, topic, namespace)

    async def _leave(self) -> None:
        live, self.workspace.live = self.workspace.live, None
        if live is not None:
            await run.io_bound(live.close)
        self.state.set_text('')

    def _ask(self, what: str) -> None:
        if self.workspace.live is None:
            raise DataError('listen to the robot first')
        self.asked = True
        self.workspace.live.ask(what, self.bag.value)


def _interval(value: float, std: float) -> str:
    """Return the interval of an estimate, '' where its standard deviation is unknown."""
    if not math.isfinite(std):
        return ''
    return f'{value - INTERVAL * std:.4g} to {value + INTERVAL * std:.4g}'


def _stream(live: Live) -> str:
    """Return how the joint states come."""
    if live.error:
        return f'the listening process has ended: {live.error}'
    stream, ready = live.told.get('stream'), live.told.get('ready')
    if stream is None or ready is None:
        return 'starting'
    where = ready['topic']
    if 'states' not in live.told and not stream['refused']:
        return f'{where}: {stream["publishers"]} publishers, nothing heard yet'
    counts = ', '.join(
        f'{stream[key]} {key}' for key in ('gaps', 'lost', 'duplicates', 'late', 'refused')
        if stream[key]
    )  # fmt: skip
    text = f'{where}: {stream["rate_hz"]:.4g} Hz' + (f', {counts}' if counts else '')
    return text + (f'\n{stream["last_refusal"]}' if stream['refused'] else '')


def _recording(live: Live) -> str:
    """Return what the logger does."""
    found = live.told.get('recording')
    if found is None:
        return ''
    what = 'recording' if found['recording'] else 'last recording'
    return (
        f'{what} {found["bag"]}: {found["samples"]} joint states, {found["lost"]} lost, '
        f'{found["size_mb"]:.1f} MB'
    )
