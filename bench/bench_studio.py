"""
An hour of seven joints at 1 kHz as the studio draws it.

A window of the hour against thinning all of its samples, and the memory that drawing adds.
"""

from __future__ import annotations

import tracemalloc

import numpy as np

from bench.figure import Figure, in_turns
from robot_id.data.signals.envelope import Envelope

SAMPLES, JOINTS, INTERVALS = 3_600_000, 7, 300


def hour() -> Envelope:
    """Return positions of an hour."""
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(SAMPLES, JOINTS)), axis=0)
    return Envelope(np.arange(SAMPLES) / 1000.0, {'position': walk})


def every_sample(envelope: Envelope) -> None:
    """Take the extremes of all samples, as a page without levels would."""
    edges = np.linspace(0, SAMPLES, INTERVALS + 1).astype(np.int64)[:-1]
    values = envelope.channels['position']
    np.minimum.reduceat(values, edges)
    np.maximum.reduceat(values, edges)


def window(envelope: Envelope, start: float, end: float) -> None:
    """Take what one redraw sends."""
    for joint in range(JOINTS):
        envelope.window('position', joint, start, end, INTERVALS)


def bench_hour() -> list[Figure]:
    """Return milliseconds of a redraw, and megabytes of the levels."""
    envelope = hour()
    tracemalloc.start()
    window(envelope, 0.0, SAMPLES / 1000.0)
    levels = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    found = []
    for name, start, end in (('hour', 0.0, 3600.0), ('minute', 1800.0, 1860.0)):
        seconds = in_turns(
            {
                'ours': lambda start=start, end=end: window(envelope, start, end),
                'all': lambda: every_sample(envelope),
            },
            repeats=3,
        )
        found.append(
            Figure(
                f'studio: redraw a {name} of an hour, 7 joints',
                1e3 * seconds['ours'],
                'ms',
                'extremes of all samples',
                seconds['all'] / seconds['ours'],
            )
        )
    whole = envelope.channels['position'].nbytes / 1e6
    found.append(Figure('studio: levels of an hour', levels, 'MB', 'samples', whole / levels))
    return found
