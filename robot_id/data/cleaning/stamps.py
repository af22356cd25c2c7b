"""Time stamps in nanoseconds, and the gaps, late and lost samples that they show."""

from __future__ import annotations

import struct
from enum import Enum
from typing import Protocol

from robot_id.exceptions import DataError

SECOND = 1_000_000_000
# A step of more than this many periods is a gap: the one rule for streams and for recordings.
GAP = 1.5
_STAMPED = 12
_STAMP = {0: struct.Struct('>iI'), 1: struct.Struct('<iI')}


class Stamp(Protocol):
    """The fields of builtin_interfaces/Time and Duration."""

    sec: int
    nanosec: int


def to_ns(stamp: Stamp) -> int:
    """Return a stamp in nanoseconds."""
    return stamp.sec * SECOND + stamp.nanosec


def header_stamp_ns(data: bytes) -> int:
    """
    Return the stamp of a serialised message that begins with a std_msgs/Header [ns].

    :raises DataError: on bytes that are too short for one.
    """
    if len(data) < _STAMPED:
        raise DataError(f'{len(data)} bytes that are not a message with a header')
    seconds, nanoseconds = _STAMP[data[1] & 1].unpack_from(data, 4)
    return seconds * SECOND + nanoseconds


class Order(Enum):
    """How a stamp follows the previous ones."""

    FIRST = 'first'
    NEXT = 'next'
    GAP = 'gap'
    DUPLICATE = 'duplicate'
    LATE = 'late'
    RESTART = 'restart'


class StampWatch:
    """
    Judges stamps one by one and counts what went wrong.

    A gap is a step of more than 1.5 periods; the samples that are missing in it count as lost. An
    older stamp is a late (reordered) message, unless time was reset: it is zero, over a second
    older, or the third older one in a row.

    :param period_ns: expected step; None learns it from the first steps.
    """

    BACK_NS = SECOND
    PATIENCE = 3

    def __init__(self, period_ns: int | None = None) -> None:
        self._given = period_ns
        self.clear()
        self.duplicates = self.late = self.gaps = self.lost = self.restarts = 0

    def clear(self) -> None:
        """Forget the last stamp; the counts stay."""
        self.last: int | None = None
        self.period_ns = self._given
        self._older: list[int] = []

    def judge(self, ns: int) -> Order:
        """Take in the next stamp."""
        last = self.last
        if last is None:
            self.last = ns
            return Order.FIRST
        step = ns - last
        if step > 0:
            self.last = ns
            self._older.clear()
            return self._forward(step)
        if step == 0:
            self.duplicates += 1
            return Order.DUPLICATE
        self._older.append(ns)
        rising = all(a < b for a, b in zip(self._older, self._older[1:]))
        if not rising:
            self._older = [ns]
        if ns == 0 or step < -self.BACK_NS or len(self._older) >= self.PATIENCE:
            self.restarts += 1
            self.last = ns
            self._older.clear()
            return Order.RESTART
        self.late += 1
        return Order.LATE

    def _forward(self, step: int) -> Order:
        if self.period_ns is None or step < 0.6 * self.period_ns:
            # The smallest step seen is the period; gaps only make steps longer.
            self.period_ns = step if self._given is None else self._given
            return Order.NEXT
        if step > GAP * self.period_ns:
            self.gaps += 1
            self.lost += round(step / self.period_ns) - 1
            return Order.GAP
        return Order.NEXT

    def counts(self) -> dict[str, int]:
        """Return the counts for diagnostics."""
        return {
            'gaps': self.gaps,
            'lost': self.lost,
            'duplicates': self.duplicates,
            'late': self.late,
            'restarts': self.restarts,
        }


class RateWatch:
    """
    Compares the rate of joint states, by their stamps, with the one that was given.

    :param wanted_hz: the given rate.
    """

    TOLERANCE = 0.2

    def __init__(self, wanted_hz: float) -> None:
        self.wanted_hz = wanted_hz
        self.clear()

    def clear(self) -> None:
        """Restart the count."""
        self._count = 0
        self._since: int | None = None

    def tick(self) -> None:
        """Count one joint state."""
        self._count += 1

    def warning(self, last: int | None) -> str:
        """
        Return what is wrong with the rate since the last call, '' if it is right.

        :param last: stamp of the last joint state [ns].
        """
        count, begun = self._count, self._since
        self._count, self._since = 0, last
        if begun is None or last is None or last <= begun or not count:
            return ''
        rate = SECOND * count / (last - begun)
        if abs(rate - self.wanted_hz) <= self.TOLERANCE * self.wanted_hz:
            return ''
        return f'joint states come at {rate:.4g} Hz, rate_hz is {self.wanted_hz:.4g}'
