"""How long work reports its progress: a callback that the doors supply."""

from typing import Protocol


class Progress(Protocol):
    """Called with the fraction done (0 to 1) and a short text; may raise to cancel the work."""

    def __call__(self, fraction: float, text: str = '') -> None: ...


class Cancelled(Exception):
    """Raised by a progress callback when the user no longer wants the result."""


def silent(fraction: float, text: str = '') -> None:
    """Report nothing."""
