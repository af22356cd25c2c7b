"""The parts of a recording that a mapping takes: rows, or seconds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.data.io.raw import Raw
from robot_id.data.mapping import Mapping
from robot_id.exceptions import DataError


def cut(
    raw: Raw,
    mapping: Mapping,
    file: str,
    notes: list[str],
    own: list[list[int]] | None = None,
) -> list[Raw]:
    """
    Return one Raw for each range of the mapping; all of it without ranges.

    :param file: name that `rows` and `seconds` may be given for.
    :param notes: receives a note if ranges are given for other files only.
    :param own: row ranges of the file itself, which count where the mapping has none.
    """
    for key in ('rows', 'seconds'):
        given = getattr(mapping, key)
        if isinstance(given, dict) and file not in given:
            notes.append(
                f"{raw.source}: all of it is used, the mapping's '{key}' belong to "
                f'{", ".join(given)}'
            )
    ranges = mapping.rows_of(file) or _rows_of_seconds(raw, mapping.seconds_of(file)) or own
    if not ranges:
        return [raw]
    samples = raw.time.shape[0]
    pieces = []
    for first, last in ranges:
        if not 1 <= first < last <= samples:
            raise DataError(
                f'{raw.source}: rows {first} to {last} are not within the rows 1 to {samples}',
                code='rows_outside',
            )
        rows = slice(first - 1, last)
        channels = {name: values[rows] for name, values in raw.channels.items()}
        pieces.append(replace(raw, time=raw.time[rows], channels=channels, first_row=first))
    return pieces


def _rows_of_seconds(raw: Raw, ranges: list[list[float]] | None) -> list[list[int]]:
    """Return first and last row of each time range; times count from the first stamp."""
    if not ranges:
        return []
    finite = np.isfinite(raw.time)
    start = float(raw.time[finite][0]) if finite.any() else 0.0
    time = np.where(finite, raw.time - start, np.nan)
    found = []
    for first, last in ranges:
        inside = np.flatnonzero((time >= first) & (time <= last))
        if inside.size < 2:
            end = float(np.nanmax(time)) if finite.any() else 0.0
            raise DataError(
                f'{raw.source}: fewer than two samples in the seconds {first:g} to {last:g}; '
                f'the recording has 0 to {end:.6g} s',
                code='seconds_outside',
            )
        found.append([int(inside[0]) + 1, int(inside[-1]) + 1])
    return found
