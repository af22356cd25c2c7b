"""Stamps one by one and in blocks: order, gaps, what is missing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from robot_id.data.cleaning.stamps import Order, StampWatch, header_stamp_ns
from robot_id.data.io.bags.logging_thread import StampStatistics

MS = 1_000_000


def test_stamps_are_judged_and_counted():
    watch = StampWatch(MS)
    told = [watch.judge(ns * MS) for ns in (5, 6, 7, 7, 6, 8, 12, 13, 0, 1)]
    assert told == [
        Order.FIRST, Order.NEXT, Order.NEXT, Order.DUPLICATE, Order.LATE, Order.NEXT, Order.GAP,
        Order.NEXT, Order.RESTART, Order.NEXT,
    ]  # fmt: skip
    assert watch.counts() == {'gaps': 1, 'lost': 3, 'duplicates': 1, 'late': 1, 'restarts': 1}


def test_three_older_stamps_in_a_row_are_a_new_start_and_two_are_not():
    watch = StampWatch(MS)
    for ns in range(100, 110):
        watch.judge(ns * MS)
    assert [watch.judge(ns * MS) for ns in (50, 51)] == [Order.LATE, Order.LATE]
    assert watch.judge(110 * MS) is Order.NEXT
    assert [watch.judge(ns * MS) for ns in (50, 51, 52)][-1] is Order.RESTART


@given(st.lists(st.integers(1, 6), min_size=12, max_size=60), st.integers(1, 20))
def test_a_stream_and_a_recording_see_the_same_gaps(steps, period_ms):
    steps = [1] * (len(steps) + 1) + steps  # so that their median is the period
    stamps = np.concatenate(([0], np.cumsum(steps))) * period_ms * MS
    watch, statistics = StampWatch(period_ms * MS), StampStatistics()
    for ns in stamps.tolist():
        watch.judge(ns)
    statistics.add(stamps.tolist())
    statistics.finish()
    assert (watch.gaps, watch.lost) == (statistics.gaps, statistics.missing)
    assert watch.lost == sum(step - 1 for step in steps)


def test_the_stamp_of_a_serialised_message_in_either_byte_order():
    for flag, order in ((b'\x01', 'little'), (b'\x00', 'big')):
        data = b'\x00' + flag + b'\x00\x00' + (7).to_bytes(4, order) + (89).to_bytes(4, order)
        assert header_stamp_ns(data) == 7_000_000_089
