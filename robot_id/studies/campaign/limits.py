"""
The time and the memory that one cell may take; compiling is not counted.

Which cell compiles a kernel is chance, so its cost belongs to none; and a compiler that meets the
memory limit does not raise MemoryError, it ends the process.
"""

from __future__ import annotations

import resource
import signal
import threading
import time
from typing import Any

import numpy as np
import scipy.linalg
from numba.core import event

from robot_id.dynamics.generated.library import COMPILING

# numba's own event, and that of the generated code.
# Small matrices need no buffers of the BLAS.
BLAS_SIZE = 300
EVENTS = ('numba:compile', COMPILING)


class Limits(event.Listener):  # type: ignore[misc]
    """
    The limits of this process; the alarm and the memory limit of the system hold them.

    :ivar compiling_s: seconds that the present cell has waited for compilers.
    """

    def __init__(self) -> None:
        self.compiling_s = 0.0
        self._depth, self._lock = 0, threading.RLock()
        self._seconds_left, self._room, self._began = 0.0, 0, 0.0
        _use_blas()
        for name in EVENTS:
            event.register(name, self)

    def begin(self, seconds: float, memory: int) -> None:
        """
        Let a cell begin.

        :param memory: bytes that it may take above what the process has now.
        """
        self.compiling_s = 0.0
        _limit_data(_data_bytes() + memory)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def end(self) -> None:
        """Lift the limits."""
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        _limit_data(resource.RLIM_INFINITY)

    def on_start(self, event: Any) -> None:
        """Stop the clock and lift the memory limit while a compiler works."""
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return
            self._seconds_left = signal.setitimer(signal.ITIMER_REAL, 0.0)[0]
            limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
            self._room = limit - _data_bytes() if limit != resource.RLIM_INFINITY else limit
            self._began = time.perf_counter()
            _limit_data(resource.RLIM_INFINITY)

    def on_end(self, event: Any) -> None:
        """Go on with the time and the memory that were left."""
        with self._lock:
            self._depth -= 1
            if self._depth:
                return
            self.compiling_s += time.perf_counter() - self._began
            if self._room != resource.RLIM_INFINITY:
                _limit_data(_data_bytes() + max(self._room, 0))
            signal.setitimer(signal.ITIMER_REAL, self._seconds_left)


def _use_blas() -> None:
    """Let numpy's and scipy's BLAS take their buffers now: without them they end the process."""
    one = np.eye(BLAS_SIZE)
    np.linalg.solve(one @ one, one)
    scipy.linalg.solve(scipy.linalg.blas.dgemm(1.0, one, one), one)


def _data_bytes() -> int:
    """Return what counts for the limit: private memory that can be written."""
    with open('/proc/self/statm', encoding='ascii') as file:
        return int(file.read().split()[5]) * resource.getpagesize()


def _limit_data(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (size, resource.RLIM_INFINITY))
