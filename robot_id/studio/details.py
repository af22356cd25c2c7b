"""What is behind one fit: torques, residuals, friction, parameters, correlation, suggestions."""

from __future__ import annotations

import math
from typing import Any

from nicegui import ui

from robot_id.api.view import Envelope
from robot_id.studio.charts import COLOURS, Signals, curve, pairs

PARAMETERS = ('name', 'value', '95 % interval', 'unit', 'URDF', 'essential')


def show_details(found: dict[str, Any]) -> None:
    """Draw all of a fit into the present container."""
    with ui.row().classes('items-baseline gap-4'):
        ui.label(f'{found["method"]}: {found["verdict"].replace("_", " ")}').classes('text-lg')
        ui.label(f'condition number {found["condition"]:.3g}').classes('text-sm')
    for reason in found['reasons']:
        ui.label(f'because {reason}').classes('text-sm')
    for line in found['suggestions']:
        ui.label(f'to improve it: {line}').classes('text-sm text-blue-9')
    for line in found['warnings']:
        ui.label(line).classes('text-sm text-orange-9')
    with ui.tabs().props('dense align=left') as tabs:
        names = [ui.tab(name) for name in ('Torques', 'Friction', 'Parameters', 'Correlation')]
    with ui.tab_panels(tabs, value=names[0]).classes('w-full'):
        for tab, show in zip(names, (_torques, _friction, _parameters, _correlation)):
            with ui.tab_panel(tab):
                show(found)


def _torques(found: dict[str, Any]) -> None:
    torques = found['torques']
    measured, predicted = torques['measured'], torques['predicted']
    envelope = Envelope(
        torques['time'],
        {'measured': measured, 'predicted': predicted, 'residual': measured - predicted},
    )
    tracks = [
        (name, [(channel, envelope, channel, j, False)
                for channel in ('measured', 'predicted', 'residual')])
        for j, name in enumerate(torques['joints'])
    ]  # fmt: skip
    Signals(tracks, float(torques['time'][-1]))


def _friction(found: dict[str, Any]) -> None:
    with ui.element('div').classes('w-full grid grid-cols-1 md:grid-cols-2 xl:grid-cols-3'):
        for each in found['friction']:
            velocity, torque = each['units']
            curve(each['joint'], velocity, torque, [
                {'type': 'scatter', 'symbolSize': 2, 'data':
                    pairs(each['velocity'], each['measured']),
                 'itemStyle': {'color': '#b8c4d0'}, 'silent': True},
                {'type': 'line', 'showSymbol': False, 'data': pairs(each['grid'], each['fitted']),
                 'lineStyle': {'color': COLOURS[1]}, 'silent': True},
            ])  # fmt: skip


def _parameters(found: dict[str, Any]) -> None:
    rows = [
        {
            'name': name, 'value': f'{value:.5g}', '95 % interval': f'{low:.4g} to {high:.4g}',
            'unit': unit, 'URDF': '' if math.isnan(prior) else f'{prior:.4g}',
            'essential': 'yes' if essential else 'no',
        }
        for name, value, unit, _, low, high, prior, essential in found['parameters']
    ]  # fmt: skip
    columns = [{'name': key, 'label': key, 'field': key, 'align': 'left'} for key in PARAMETERS]
    ui.table(columns=columns, rows=rows, row_key='name', pagination=20).classes('w-full')


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
