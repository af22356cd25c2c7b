"""Nanoseconds as the stamps of messages."""

from __future__ import annotations

from builtin_interfaces.msg import Time

from robot_id.data.cleaning.stamps import SECOND


def to_stamp(ns: int) -> Time:
    """Return nanoseconds as a stamp."""
    return Time(sec=ns // SECOND, nanosec=ns % SECOND)
