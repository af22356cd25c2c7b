"""One measured figure, and how to measure it against something else in the same run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from robot_id.dynamics.generated.library import SWITCH


@dataclass(frozen=True)
class Figure:
    """
    One line of the table, or one point of a curve.

    :param name: what was measured.
    :param value: in the unit.
    :param unit: such as 'us/sample'; 'x' for a plain ratio.
    :param against: what it is compared with, if anything.
    :param ratio: how many times faster (or smaller) than that.
    :param target: the ratio (or, for a figure with no comparison, the value) to reach.
    :param curve: what the figures of one name are drawn over, such as 'samples'.
    :param at: where on the curve this one stands.
    """

    name: str
    value: float
    unit: str = ''
    against: str = ''
    ratio: float | None = None
    target: float | None = None
    curve: str = ''
    at: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.target is None:
            return None
        return (self.value if self.ratio is None else self.ratio) >= self.target


def in_turns(works: Mapping[str, Callable[[], object]], repeats: int = 9) -> dict[str, float]:
    """
    Return the median processor seconds of each work, taken in turns after a warm-up.

    Processor time, since other programs may hold the cores; in turns, so that what they do to the
    caches falls on all works alike.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(repeats):
        for name, work in works.items():
            taken[name].append(processor_seconds(work))
    return {name: float(np.median(times)) for name, times in taken.items()}


def generic(work: Callable[[], object]) -> Callable[[], object]:
    """Return the same work by the generic kernels."""

    def run() -> object:
        before = os.environ.get(SWITCH)
        os.environ[SWITCH] = '0'
        try:
            return work()
        finally:
            del os.environ[SWITCH]
            if before is not None:
                os.environ[SWITCH] = before

    return run


def processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(
    name: str,
    ours: Callable[[], object],
    others: Mapping[str, Callable[[], object]],
    samples: int,
    targets: Mapping[str, float] | None = None,
    repeats: int = 9,
) -> list[Figure]:
    """Return microseconds per sample of ours, then of the others with the ratio to ours."""
    seconds = in_turns({name: ours, **others}, repeats)
    scale = 1e6 / samples
    figures = [Figure(name, scale * seconds[name], 'us/sample')]
    for other in others:
        ratio = seconds[other] / seconds[name]
        target = (targets or {}).get(other)
        label = f'{name}: {other}'
        figures.append(Figure(label, scale * seconds[other], 'us/sample', name, ratio, target))
    return figures
