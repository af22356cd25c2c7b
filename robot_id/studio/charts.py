"""Charts of signals that ask for the window they show: the browser never holds all samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from nicegui import events, ui
from numpy.typing import ArrayLike

from robot_id.api.view import Envelope, joint_units

COLOURS = ('#1f77b4', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7f7f7f', '#8c564b')
# Height of one channel, of the zoom bar, and of what stands above, in pixels.
HEIGHT, BAR, ABOVE = 150, 60, 64
INTERVALS = 300
# What the check found.
FOUND = '#d62728'
# Milliseconds between two cursor events that are sent.
CURSOR_MS = 60
# Title, and lines: legend, envelope, channel, column, dashed.
Track = tuple[str, Sequence[tuple[str, Envelope, str, int, bool]]]


class Signals:
    """
    Channels below each other on one time axis, with linked cursors, zoom and pan.

    :param tracks: from top to bottom.
    :param duration: seconds of the axis.
    :param marks: seconds where a line is drawn, with a text.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        duration: float,
        marks: Sequence[tuple[float, str]] = (),
        on_cursor: Callable[[float], None] | None = None,
        on_window: Callable[[float, float], None] | None = None,
    ) -> None:
        self.tracks, self.duration = tracks, duration or 1.0
        self.marks, self.on_window = marks, on_window
        self.areas: list[tuple[float, float, str]] = []
        self.start, self.end = 0.0, self.duration
        height = ABOVE + HEIGHT * len(tracks) + BAR
        self.chart = ui.echart(self._options()).classes('w-full').style(f'height: {height}px')
        self.chart.on('chart:datazoom', self._zoomed, throttle=0.15, leading_events=False)
        if on_cursor is not None:
            self._follow(on_cursor)

    def _options(self) -> dict[str, Any]:
        count = len(self.tracks)
        grids = [
            {'left': 70, 'right': 24, 'top': ABOVE + HEIGHT * k, 'height': HEIGHT - 36}
            for k in range(count)
        ]
        axis = {'type': 'value', 'min': 0, 'max': self.duration, 'axisLabel': {'show': False}}
        x = [axis | {'gridIndex': k} for k in range(count)]
        x[-1] |= {'axisLabel': {'show': True}, 'name': 's', 'nameLocation': 'end'}
        y = [
            {'type': 'value', 'scale': True, 'gridIndex': k, 'name': title, 'splitNumber': 3,
             'nameTextStyle': {'align': 'left'}}
            for k, (title, _) in enumerate(self.tracks)
        ]  # fmt: skip
        every = list(range(count))
        zoom = {'xAxisIndex': every, 'filterMode': 'none', 'throttle': 80}
        return {
            'animation': False,
            'grid': grids, 'xAxis': x, 'yAxis': y, 'series': self._series(),
            'legend': {'top': 4, 'type': 'scroll', 'left': 70, 'right': 24},
            'axisPointer': {'link': [{'xAxisIndex': 'all'}], 'snap': False},
            'tooltip': {'trigger': 'axis', 'confine': True},
            'dataZoom': [zoom | {'type': 'inside'}, zoom | {'type': 'slider', 'bottom': 8}],
        }  # fmt: skip

    def _series(self) -> list[dict[str, Any]]:
        found = []
        names = list(dict.fromkeys(name for _, lines in self.tracks for name, *_ in lines))
        for k, (_, lines) in enumerate(self.tracks):
            for name, envelope, channel, column, dashed in lines:
                x, y = envelope.window(channel, column, self.start, self.end, INTERVALS)
                colour = COLOURS[names.index(name) % len(COLOURS)]
                style = {'width': 1.2, 'type': 'dashed' if dashed else 'solid', 'color': colour}
                found.append({
                    'type': 'line', 'name': name, 'xAxisIndex': k, 'yAxisIndex': k,
                    'showSymbol': False, 'data': pairs(x, y), 'lineStyle': style,
                    'itemStyle': {'color': colour}, 'silent': True,
                })  # fmt: skip
            if lines:
                found[-len(lines)] |= self._marked(labelled=k == 0)
        return found

    def _marked(self, labelled: bool) -> dict[str, Any]:
        """Return marks and areas as a series of the chart carries them."""
        label = {'show': labelled}
        instants = [(first, text) for first, last, text in self.areas if first == last]
        return {
            'markLine': {
                'symbol': 'none', 'silent': True, 'animation': False,
                'data': [
                    {'xAxis': at, 'lineStyle': {'color': colour},
                     'label': label | {'formatter': text}}
                    for marks, colour in ((self.marks, '#888'), (instants, FOUND))
                    for at, text in marks
                ],
            },
            'markArea': {
                'silent': True, 'animation': False,
                'itemStyle': {'color': FOUND, 'opacity': 0.25},
                'data': [
                    [{'xAxis': first, 'name': text, 'label': label}, {'xAxis': last}]
                    for first, last, text in self.areas if first < last
                ],
            },
        }  # fmt: skip

    def mark(self, areas: Sequence[tuple[float, float, str]]) -> None:
        """
        Mark where something was found.

        :param areas: first and last second, equal for an instant, and a text.
        """
        self.areas = list(areas)
        self.draw()

    def show(self, first: float, last: float) -> None:
        """Zoom to a part of the axis."""
        window = {'startValue': max(first, 0.0), 'endValue': min(last, self.duration)}
        self.chart.run_chart_method('dispatchAction', {'type': 'dataZoom', **window})

    def _zoomed(self, event: events.GenericEventArguments) -> None:
        """Send what the new window shows."""
        zoom = (event.args.get('batch') or [event.args])[0]
        if 'startValue' in zoom and zoom['startValue'] is not None:
            self.start, self.end = float(zoom['startValue']), float(zoom['endValue'])
        else:
            self.start = self.duration * float(zoom.get('start', 0.0)) / 100.0
            self.end = self.duration * float(zoom.get('end', 100.0)) / 100.0
        self.draw()

    def draw(self) -> None:
        """Send the series of the window."""
        if self.on_window is not None:
            self.on_window(self.start, self.end)
        self.chart.run_chart_method('setOption', {'series': self._series()})

    def _follow(self, on_cursor: Callable[[float], None]) -> None:
        """Call back with the seconds below the pointer."""
        name = f'cursor_{self.chart.id}'
        ui.on(name, lambda event: on_cursor(float(event.args)))
        # The library sends no event of the pointer; the chart is there once it was rendered.
        self.chart.on(
            'chart:rendered',
            js_handler=f"""() => {{
            const chart = getElement({self.chart.id}).chart;
            if (chart.told !== undefined) return;
            chart.told = 0;
            chart.on('updateAxisPointer', (event) => {{
                const now = Date.now(), axis = (event.axesInfo || [])[0];
                if (!axis || now - chart.told < {CURSOR_MS}) return;
                chart.told = now;
                emitEvent('{name}', axis.value);
            }});
        }}""",
        )


def by_channel(envelope: Envelope, robot: Any, channels: Iterable[str]) -> list[Track]:
    """Return a track for each channel that is there with a line a joint, its reference dashed."""
    return [
        (', '.join([channel, *filter(None, dict.fromkeys(joint_units(robot, channel)))]), [
            (name, envelope, each, j, each != channel)
            for each in (channel, f'reference_{channel}') if each in envelope.channels
            for j, name in enumerate(robot.joint_names)
        ])
        for channel in channels if channel in envelope.channels
    ]  # fmt: skip


def pairs(x: ArrayLike, y: ArrayLike) -> list[list[float | None]]:
    """Return points of a series; what is not finite is a gap."""
    table = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    rounded = [[float(f'{a:.7g}'), float(f'{b:.5g}')] for a, b in table]
    return [[a, b if np.isfinite(b) else None] for a, b in rounded]


def small(y: ArrayLike, colour: str = COLOURS[0]) -> ui.html:
    """Return a small plot of a column, as a line without axes."""
    values = np.asarray(y, float)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return ui.html('', sanitize=False)
    column = Envelope(np.arange(len(values), dtype=float), {'': values[:, None]})
    x, drawn = column.window('', 0, 0.0, column.time[-1], 60)
    span = float(np.ptp(drawn)) or 1.0
    points = ' '.join(
        f'{118 * a / x[-1]:.1f},{26 - 24 * (b - drawn.min()) / span:.1f}' for a, b in zip(x, drawn)
    )
    return ui.html(
        f'<svg width="120" height="28"><polyline points="{points}" fill="none" '
        f'stroke="{colour}" stroke-width="1"/></svg>', sanitize=False,
    )  # fmt: skip
