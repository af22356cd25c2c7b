"""What is behind one fit: torques, residuals, friction, parameters, correlation, suggestions."""

from __future__ import annotations

import math
from typing import Any

from nicegui import ui

from robot_id.api.view import Envelope
from robot_id.studio.charts import COLOURS, Signals, pairs
from robot_id.studio.panel import table

PARAMETERS = ('name', 'value', '95 % interval', 'unit', 'URDF', 'essential')


def show_details(found: dict[str, Any]) -> None:
    """Draw all of a fit into the present container."""
    with ui.row().classes('items-baseline gap-4'):
        ui.label(f'{found["method"]}: {found["verdict"].replace("_", " ")}').classes('text-lg')
        ui.label(f'condition number {found["condition"]:.3g}').classes('text-sm')
    with ui.column().classes('gap-1 text-sm'):
        for reason in found['reasons']:
            ui.label(f'because {reason}')
        for line in found['suggestions']:
            ui.label(f'to improve it: {line}').classes('text-blue-9')
        for line in found['warnings']:
            ui.label(line).classes('text-orange-9')
    with ui.tabs().props('dense align=left') as tabs:
        names = [ui.tab(name) for name in ('Torques', 'Friction', 'Parameters', 'Correlation')]
    with ui.tab_panels(tabs, value=names[0]).classes('w-full'):
        for tab, show in zip(names, (_torques, _friction, _parameters, _correlation)):
            with ui.tab_panel(tab):
                show(found)


def _torques(found: dict[str, Any]) -> None:
    torques = found['torques']
    envelope = Envelope(torques['time'], torques['channels'])
    Signals(
        [
            (name, [(channel, envelope, channel, j, False) for channel in envelope.channels])
            for j, name in enumerate(torques['joints'])
        ],
        float(torques['time'][-1]),
    )


def _friction(found: dict[str, Any]) -> None:
    with ui.element('div').classes('w-full grid grid-cols-1 md:grid-cols-2 xl:grid-cols-3'):
        for each in found['friction']:
            velocity, torque = each['units']
            title = {'text': each['joint'], 'textStyle': {'fontSize': 13}, 'left': 'center'}
            axis = {'type': 'value', 'scale': True, 'axisLine': {'onZero': False}}
            middle = {'nameLocation': 'middle', 'nameGap': 24}
            ui.echart({
                'animation': False, 'title': title,
                'grid': {'left': 60, 'right': 16, 'top': 40, 'bottom': 40},
                'xAxis': axis | middle | {'name': velocity},
                'yAxis': axis | {'name': torque},
                'series': [
                    {'type': 'scatter', 'symbolSize': 2, 'silent': True,
                     'itemStyle': {'color': '#b8c4d0'},
                     'data': pairs(each['velocity'], each['measured'])},
                    {'type': 'line', 'showSymbol': False, 'silent': True,
                     'lineStyle': {'color': COLOURS[1]},
                     'data': pairs(each['grid'], each['fitted'])},
                ],
            }).classes('w-full').style('height: 260px')  # fmt: skip


def _parameters(found: dict[str, Any]) -> None:
    rows = [
        {
            'name': name, 'value': f'{value:.5g}', '95 % interval': f'{low:.4g} to {high:.4g}',
            'unit': unit, 'URDF': '' if math.isnan(prior) else f'{prior:.4g}',
            'essential': 'yes' if essential else 'no',
        }
        for name, value, unit, _, low, high, prior, essential in found['parameters']
    ]  # fmt: skip
    table(PARAMETERS, rows)


def _correlation(found: dict[str, Any]) -> None:
    names = [each[0] for each in found['parameters']]
    table = found['correlation']
    cells = [[i, j, round(float(table[j, i]), 3)] for j in range(len(names))
             for i in range(len(names))]  # fmt: skip
    ui.echart({
        'animation': False, 'tooltip': {},
        'grid': {'left': 80, 'right': 20, 'top': 10, 'bottom': 110},
        'xAxis': {'type': 'category', 'data': names, 'axisLabel': {'rotate': 90}},
        'yAxis': {'type': 'category', 'data': names, 'inverse': True},
        'visualMap': {'min': -1, 'max': 1, 'orient': 'horizontal', 'left': 'center', 'bottom': 0,
                      'inRange': {'color': ['#2166ac', '#f7f7f7', '#b2182b']}},
        'series': [{'type': 'heatmap', 'data': cells}],
    }).classes('w-full').style('height: 560px')  # fmt: skip
