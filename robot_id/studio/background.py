"""Reading and guessing beside the event loop, so that other tabs stay alive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from nicegui import run

T = TypeVar('T')


async def beside(work: Callable[..., T], *arguments: Any) -> T:
    """Return what a function gives that runs in a thread; the server's end cancels it."""
    found = await run.io_bound(work, *arguments)
    if found is None:
        raise asyncio.CancelledError
    return found
