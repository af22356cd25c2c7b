"""Short texts for the entries of a cell, for tables and groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Columns of a condition, in the order of the tables; the method stands last.
CONDITIONS = ('robot', 'motion', 'noise', 'rate', 'start', 'controller', 'friction')


def labels_of(cell: dict[str, Any]) -> dict[str, str]:
    """Return the condition and the method of a cell in words."""
    rate, start, terms = cell['rates'], cell['starts'], cell['friction']
    return {
        'robot': _robot(cell['robots']),
        'motion': _motion(cell['motions']),
        'noise': _noise(cell['noise']),
        'rate': 'controller' if rate is None else f'{rate:g} Hz',
        'start': 'method' if start is None else f'{100.0 * start:g} % off',
        'controller': _controller(cell['controller']),
        'friction': 'same' if terms is None else '+'.join(terms) or 'none',
        'method': cell['methods']['label'],
    }


def _robot(entry: dict[str, Any]) -> str:
    if 'random' in entry:
        return f'random{entry["joints"]}_{entry["random"]}'
    loop = '' if entry['loop'] == 'default' else f' ({entry["loop"]})'
    return Path(entry['robot']).stem + loop


def _motion(entry: dict[str, Any]) -> str:
    if entry['motion'] is None:
        return 'default'
    if entry['seconds'] is None:
        return Path(entry['motion']).stem
    return f'random {entry["seconds"]:g} s, seed {entry["seed"]}'


def _noise(entry: dict[str, Any]) -> str:
    factors = {k: entry[k] for k in ('encoder_step', 'position_std', 'torque_std')}
    parts = [f'{k} x{v:g}' for k, v in factors.items() if v is not None]
    parts += [f'{k} {entry[k]:g}' for k in ('colour', 'missed') if entry[k]]
    return ', '.join(parts) or 'file'


def _controller(entry: dict[str, Any]) -> str:
    if entry['knowledge'] != 'partial':
        return entry['knowledge']
    parts = [f'bandwidth x{entry["bandwidth"]:g}'] if entry['bandwidth'] != 1.0 else []
    parts += [f'delay {entry["delay"]}'] if entry['delay'] else []
    return ', '.join(parts) or 'exact'
