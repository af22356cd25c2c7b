"""Cache of values computed from data that do not change, kept as long as the data."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar('T')
# Bytes that one run or data set keeps; the rest is computed again when needed. One cut-off of 400
# 000 samples of six joints takes 58 MB.
LARGEST = 64_000_000


class Kept:
    """
    Values by key, each computed when first asked for.

    :param largest: bytes of arrays that are kept at most.
    """

    def __init__(self, largest: int = LARGEST) -> None:
        self._largest = largest
        self._size = 0
        self._values: dict[Hashable, Any] = {}

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """
        Return the value of a key; whoever gets it must not change it.

        :param key: all that the value depends on besides the data.
        :param compute: gives the value; a tuple of arrays counts with its size.
        """
        if key in self._values:
            found: T = self._values[key]
            return found
        value = compute()
        parts = value if isinstance(value, tuple) else (value,)
        size = sum(getattr(part, 'nbytes', 0) for part in parts)
        if self._size + size <= self._largest:
            self._values[key] = value
            self._size += size
        return value

    def __reduce__(self) -> tuple[type[Kept], tuple[int]]:
        """Copies and other processes start empty."""
        return Kept, (self._largest,)
