"""Between seconds or nanoseconds and the durations and stamps of messages."""

from __future__ import annotations

import math

from builtin_interfaces.msg import Duration, Time

from robot_id.data.cleaning.stamps import SECOND

_LARGEST = 2**31 - 1


def to_stamp(ns: int) -> Time:
    """Return nanoseconds as a stamp."""
    return Time(sec=ns // SECOND, nanosec=ns % SECOND)


def to_duration(seconds: float) -> Duration:
    """Return a duration; zero where the time is not known, the longest one where it is longer."""
    if math.isnan(seconds):
        return Duration()
    if abs(seconds) >= _LARGEST:
        return Duration(sec=int(math.copysign(_LARGEST, seconds)))
    sec, nanosec = divmod(round(seconds * SECOND), SECOND)
    return Duration(sec=sec, nanosec=nanosec)


def to_seconds(duration: Duration) -> float:
    """Return the seconds of a duration."""
    return float(duration.sec) + float(duration.nanosec) / SECOND
