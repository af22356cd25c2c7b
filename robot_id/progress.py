"""How long work reports its progress: a callback that the doors supply."""

import re
from typing import Protocol

_ITERATIONS = re.compile(r'iterations done: (\d+)(?:, error (\S+) %)?')


class Progress(Protocol):
    """Called with the fraction done (0 to 1) and a short text; may raise to cancel the work."""

    def __call__(self, fraction: float, text: str = '') -> None: ...


class Cancelled(Exception):
    """Raised by a progress callback when the user no longer wants the result."""


def silent(fraction: float, text: str = '') -> None:
    """Report nothing."""


def iteration_text(done: int, error_percent: float | None = None) -> str:
    """
    Return the text of an iterative method's progress, which `read_iteration` understands.

    :param done: iterations so far.
    :param error_percent: relative error of the last one.
    """
    text = f'iterations done: {done}'
    return text if error_percent is None else f'{text}, error {error_percent:.4g} %'


def read_iteration(text: str) -> tuple[int, float] | None:
    """Return iterations and error [%] (NaN before the first) of a text, None if it has none."""
    found = _ITERATIONS.search(text)
    if found is None:
        return None
    return int(found[1]), float(found[2] or 'nan')


def part_of(progress: Progress, start: float, end: float, part: str = '') -> Progress:
    """Return a callback that maps the fractions 0 to 1 of a part to start to end of the whole."""

    def report(fraction: float, text: str = '') -> None:
        progress(start + (end - start) * fraction, text or part)

    return report
