"""
How much memory and time a piece of work may take: set by the command line and the nodes, checked
in the rooms.

Memory: reading a file may take the budget (`--memory`), or 16 times the length of the file where
that is more, so a large recording is read and a small file that expands to gigabytes is not.
"""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from robot_id.exceptions import DataError, OptionError, TimeLimitError
from robot_id.progress import Progress

MEGABYTE = 1 << 20
DEFAULT_MEMORY = 512 * MEGABYTE
# Numbers take more memory than their text or their compressed form, up to about this factor.
UNFOLDING = 16
_UNITS = {'': MEGABYTE, 'K': 1 << 10, 'M': MEGABYTE, 'G': 1 << 30, 'T': 1 << 40}
# A week, more than any command needs.
LONGEST_S = 7 * 86400.0

_memory = DEFAULT_MEMORY
_doing = ''


def parse_memory(text: str) -> int:
    """Return the bytes of `512M`, `4GB` or `2000` (megabytes)."""
    found = re.fullmatch(r'\s*(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT]?)I?B?\s*', text.upper())
    if found is None or float(found[1]) <= 0.0:
        raise OptionError(f"memory: '{text}' is not a size, write for example 4GB")
    return int(float(found[1]) * _UNITS[found[2]])


def set_memory(size: int = DEFAULT_MEMORY) -> None:
    """Set the budget of this process [bytes]."""
    global _memory
    _memory = size


def memory_for(length: int = 0) -> int:
    """
    Return how many bytes reading a file may take.

    :param length: of the file [bytes].
    """
    return max(_memory, UNFOLDING * length)


def check_memory(wanted: int, length: int, what: str) -> None:
    """
    Refuse work before it takes too much memory.

    :param wanted: bytes it would take.
    :param length: of the file it comes from [bytes].
    :param what: the file and its part, the start of the message.
    """
    allowed = memory_for(length)
    if wanted > allowed:
        raise DataError(
            f'{what} takes {_size(wanted)} of memory, the limit is {_size(allowed)}; the file '
            'may be damaged, otherwise raise --memory'
        )


def _size(number: int) -> str:
    if number >= 1 << 50:
        return f'{number:.2g} bytes' if number < 10**300 else 'any amount'
    return f'{number / MEGABYTE:.0f} MB' if number < 1 << 33 else f'{number / (1 << 30):.0f} GB'


def doing(text: str) -> None:
    """Note the current step, for the message about work that took too long."""
    global _doing
    _doing = text


class Deadline:
    """
    A progress callback that ends the work when its time is over.

    Every method that reports its progress is bounded by it, in any thread.

    :param progress: called as before.
    :param seconds: from now.
    """

    def __init__(self, progress: Progress, seconds: float) -> None:
        self._progress, self.seconds = progress, seconds
        self._end = time.monotonic() + seconds

    def __call__(self, fraction: float, text: str = '') -> None:
        if time.monotonic() > self._end:
            raise TimeLimitError(time_is_over(self.seconds, text), code='time_limit')
        self._progress(fraction, text)


def time_is_over(seconds: float, text: str = '') -> str:
    """Return the message about work that took too long."""
    where = f' ({text})' if text else ''
    return f'no answer within the time limit of {seconds:g} s{where}; raise --time-limit'


class _Alarm(BaseException):
    """Raised in the middle of any work; no `except Exception` keeps it."""


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """
    End a block after a time [s] wherever it is, in the main thread of a process.

    :param seconds: None for no limit.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    over = False

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal over
        over = True
        raise _Alarm

    reported = sys.unraisablehook

    def lost(unraisable: Any) -> None:
        """A callback of C code, such as the compiler's, swallows the alarm: it rings again."""
        if not isinstance(unraisable.exc_value, _Alarm):
            reported(unraisable)

    before, sys.unraisablehook = signal.signal(signal.SIGALRM, ring), lost
    signal.setitimer(signal.ITIMER_REAL, min(seconds, LONGEST_S), 1.0)
    try:
        yield
    except BaseException as error:
        if over:
            raise TimeLimitError(time_is_over(seconds, _doing), code='time_limit') from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = reported
