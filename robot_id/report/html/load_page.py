"""The pages of loads and of drive gains: values with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

import numpy as np

from robot_id import files
from robot_id.report.html import markup
from robot_id.report.html.markup import number
from robot_id.robot import Robot
from robot_id.tasks.drive_gains import DriveGains
from robot_id.tasks.payload import PayloadIdentification, PayloadResult
from robot_id.tasks.payload.result import NAMES, UNITS
from robot_id.texts import STRATEGIES

# Half width of a 95 % interval in deviations.
HALF = 1.96
HEADS = ('', 'value', 'from', 'to', 'unit', 'determined')


def write_load_report(path: str | Path, robot: Robot, found: PayloadIdentification) -> None:
    """Write the page of an identified payload."""
    first = found.loads[0]
    cards = [
        markup.card('mass', f'{number(first.values[0])} kg', _half(first.deviations[0], 'kg')),
        markup.card('strategy', found.strategy, STRATEGIES[found.strategy]),
        markup.card('determined', f'{len(first.determined)} of 10', 'parameters of the load'),
    ]
    parts = [
        markup.section(
            f'load-{k + 1}',
            f'Load {k + 1}' if len(found.loads) > 1 else 'Load',
            _load_table(load),
            escape(f'In {load.frame}; {load.recording}. Inertia about the centre.'),
        )
        for k, load in enumerate(found.loads)
    ]
    notes = [
        f'{STRATEGIES[found.strategy]}: {found.reason}',
        *(n for load in found.loads for n in load.notes),
    ]
    parts.append(markup.section('strategy', 'How it was found', markup.lines(notes)))
    _write(path, f'{robot.name}, load', cards, found.warnings, parts)


def write_gain_report(path: str | Path, robot: Robot, found: DriveGains) -> None:
    """Write the page of drive gains."""
    rows = [
        (
            escape(name), number(g), number(g - HALF * s), number(g + HALF * s), number(t),
            '–' if w is None else number(w),
        )
        for name, g, s, t, w in zip(
            found.joint_names, found.gains, found.deviations, found.total, found.written
        )
    ]  # fmt: skip
    heads = ('joint', 'gain', 'from', 'to', 'total least squares', 'drive_gain')
    cards = [
        markup.card('known load', f'{number(found.mass)} kg'),
        markup.card('worst interval', f'{number(found.worst_percent, 3)} %', 'half width'),
    ]
    lead = 'Factor that the recorded torque is to be multiplied by, with its 95 % interval.'
    parts = [markup.section('gains', 'Drive gains', markup.table(heads, rows), lead)]
    _write(path, f'{robot.name}, drive gains', cards, found.warnings, parts)


def _load_table(load: PayloadResult) -> str:
    rows = [
        (
            escape(name), number(value), number(value - HALF * std), number(value + HALF * std),
            unit, 'yes' if name in load.determined else 'no',
        )
        for name, value, std, unit in zip(NAMES, load.values, load.deviations, UNITS)
    ]  # fmt: skip
    return markup.table(HEADS, rows)


def _half(std: float, unit: str) -> str:
    return f'+- {number(HALF * std, 2)} {unit}' if np.isfinite(std) else 'not determined'


def _write(
    path: str | Path,
    title: str,
    cards: Sequence[str],
    warnings: Sequence[str],
    parts: Sequence[str],
) -> None:
    style = (resources.files('robot_id.report.html') / 'report.css').read_text('utf-8')
    box = f'<aside class="warnings">{markup.lines(warnings)}</aside>' if warnings else ''
    files.write_text(
        path,
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><style>\n{style}</style></head>\n<body>'
        f'<header><h1>{escape(title)}</h1><div class="cards">{"".join(cards)}</div>{box}</header>'
        f'<main>{"".join(parts)}</main></body></html>\n',
    )
