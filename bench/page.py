"""The figures as a page of the documentation, with pictures of the curves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.figure import Figure

HEAD = """# Performance

Written by `python -m bench --page doc/studies/performance.md`, benchmark after benchmark; nothing
on this page is typed by hand.

Every figure comes from one machine. What carries over to other machines are the ratios:
both sides of a ratio were taken in turns in the same run. Times are processor time of one core
after a warm-up (the compiled kernels are in numba's cache), medians of several turns; DIDIM,
the search for a motion and the ROS loop are wall time. `target` is the ratio (or the value, where
nothing is compared) that the project wants to reach.
"""


def write_page(path: Path, machine: Mapping[str, Any], found: Mapping[str, list[Figure]]) -> None:
    """Write the Markdown file, and a picture of every family of curves into images/ beside it."""
    versions = ', '.join(f'{k} {v}' for k, v in machine['versions'].items())
    lines = [
        HEAD,
        f'Machine: {machine["processor"]}, {machine["cores"]} cores, '
        f'{machine["system"].split()[0]}, Python {machine["python"]}; {versions}. '
        f'Load before: {machine["load"][0]}.',
        '',
    ]
    for topic, items in found.items():
        plain = [item for item in items if not item.curve]
        if plain:
            lines += [f'## {topic.replace("_", " ").capitalize()}', '', *_table(plain), '']
    points = [item for items in found.values() for item in items if item.curve]
    for curve in dict.fromkeys(item.curve for item in points):
        own = [item for item in points if item.curve == curve]
        lines += [f'## Against the number of {curve}', '', *_curves(own), '']
        picture = path.parent / 'images' / f'performance_{curve}.png'
        if len({item.at for item in own}) > 1:
            picture.parent.mkdir(parents=True, exist_ok=True)
            _draw(picture, curve, own)
            name = f'images/{picture.name}'
            lines += [f'![Cost against the number of {curve}]({name})', '']
    path.write_text('\n'.join(lines).rstrip() + '\n')


def _table(items: list[Figure]) -> list[str]:
    lines = ['| figure | value | times | target |', '|---|---|---|---|']
    for item in items:
        ratio = '' if item.ratio is None else f'{item.ratio:.3g}'
        if item.ratio is not None and item.against:
            ratio += f' ({item.against})'
        target = ''
        if item.target is not None:
            target = f'{item.target:g}, ' + ('met' if item.met else '**missed**')
        lines.append(f'| {item.name} | {item.value:.3g} {item.unit} | {ratio} | {target} |')
    return lines


def _by_name(items: list[Figure]) -> dict[str, dict[float, Figure]]:
    found: dict[str, dict[float, Figure]] = {}
    for item in items:
        found.setdefault(item.name, {})[float(item.at or 0.0)] = item
    return found


def _curves(items: list[Figure]) -> list[str]:
    places = sorted({float(item.at or 0.0) for item in items})
    head = ' | '.join(f'{place:,.0f}'.replace(',', ' ') for place in places)
    lines = [f'| | unit | {head} |', '|---|---|' + '---|' * len(places)]
    for name, points in _by_name(items).items():
        unit = next(iter(points.values())).unit
        values = ' | '.join(f'{points[p].value:.3g}' if p in points else '' for p in places)
        lines.append(f'| {name} | {unit} | {values} |')
    return lines


def _draw(path: Path, curve: str, items: list[Figure]) -> None:
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(7.0, 4.2), layout='constrained')
    axes = drawing.subplots()
    for name, points in _by_name([item for item in items if item.unit]).items():
        places = sorted(points)
        axes.loglog(places, [points[p].value for p in places], 'o-', label=name)
    units = dict.fromkeys(item.unit for item in items if item.unit)
    axes.set(xlabel=curve, ylabel=', '.join(units))
    axes.grid(True, which='both', alpha=0.3)
    axes.legend(fontsize='small')
    drawing.savefig(path, dpi=110)
