"""Progress of long work: a callback given by the command line or a node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Protocol


class Progress(Protocol):
    """Called with the fraction done (0 to 1) and a short text; may raise to cancel the work."""

    def __call__(self, fraction: float, text: str = '') -> None: ...


class Cancelled(Exception):
    """Raised by a progress callback when the user cancels the work."""


class IterationText(str):
    """
    The text of an iterative method's progress, with its numbers.

    :param iteration: iterations done.
    :param error_percent: relative error of the last one, NaN before the first.
    """

    iteration: int
    error_percent: float

    def __new__(cls, iteration: int, error_percent: float = math.nan) -> IterationText:
        """Write the numbers out."""
        text = f'iterations done: {iteration}'
        if math.isfinite(error_percent):
            text += f', error {error_percent:.4g} %'
        made = super().__new__(cls, text)
        made.iteration, made.error_percent = iteration, error_percent
        return made


def to_message(fraction: float, text: str) -> dict[str, Any]:
    """Return a report as a JSON object, for another process."""
    message: dict[str, Any] = {'at': fraction, 'text': str(text)}
    if isinstance(text, IterationText):
        message['iteration'] = text.iteration
        if math.isfinite(text.error_percent):
            message['error_percent'] = text.error_percent
    return message


def from_message(message: dict[str, Any]) -> tuple[float, str]:
    """Return the fraction and the text of a report that came as a JSON object."""
    if 'iteration' not in message:
        return message['at'], message['text']
    return message['at'], IterationText(
        message['iteration'], message.get('error_percent', math.nan)
    )


def silent(fraction: float, text: str = '') -> None:
    """Report nothing."""


def part_of(progress: Progress, start: float, end: float, part: str = '') -> Progress:
    """Return a callback that maps the fractions 0 to 1 of a part to start to end of the whole."""

    def report(fraction: float, text: str = '') -> None:
        progress(start + (end - start) * fraction, text or part)

    return report


def attempts(progress: Progress) -> Iterator[Progress]:
    """Yield a callback for each attempt, for half of what is left: their number is unknown."""
    start = 0.0
    while True:
        end = 0.5 * (start + 1.0)
        yield part_of(progress, start, end)
        start = end
