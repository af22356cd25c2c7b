"""One thread for the BLAS while the library works, given back afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

# Held by the call that set the limit: the number of BLAS threads belongs to the whole process.
_LIMITED = threading.Lock()


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """
    Return the BLAS of numpy and the one of scipy, two libraries with threads of their own.

    None in a ROS workspace without threadpoolctl, whose work is then as slow as the BLAS makes it.
    """
    import scipy.linalg  # noqa: F401

    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return None
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """
    Work with one BLAS thread, as a `with` block or as a decorator of an entry point.

    Factorisations here are small or cut into chunks that stay in the cache: more threads would
    wait for each other, up to forty times longer than the work itself. The first call sets the
    limit and gives back what was there; calls within it or beside it leave the limit to it.
    """
    if _libraries() is None or not _LIMITED.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api='blas'):
            yield
    finally:
        _LIMITED.release()
