"""Executor, scheduling and memory of a process with a control loop."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from rclpy.executors import Executor, SingleThreadedExecutor

MCL_CURRENT, MCL_FUTURE = 1, 2
TRIAL_S = 0.2


def fastest_executor() -> Executor:
    """
    Return the fastest executor of one thread that works here; to be used with `spin_once` only.

    rclpy's EventsExecutor needs no wait set and answers a message in two thirds of the time. Not
    every rclpy has one, and not for actions: they end in a crash with it.
    """
    try:
        from rclpy.experimental import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    executor = EventsExecutor()
    if _runs_a_task(executor):
        return executor
    executor.shutdown()
    return SingleThreadedExecutor()


def _runs_a_task(executor: Executor) -> bool:
    done: list[bool] = []
    executor.create_task(lambda: done.append(True))
    executor.spin_once(timeout_sec=TRIAL_S)
    return bool(done)


def ask_for_real_time(priority: int) -> str:
    """
    Give all threads of this process a real-time priority and keep its memory from being swapped.

    :param priority: of SCHED_FIFO, 1 to 99.
    :return: what was permitted, in one line.
    """
    parts = []
    try:
        for task in Path('/proc/self/task').iterdir():
            os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(priority))
        parts.append(f'SCHED_FIFO {priority}')
    except OSError as error:
        parts.append(f'no SCHED_FIFO ({error.strerror}; needs rtprio in limits.conf)')
    if ctypes.CDLL(None, use_errno=True).mlockall(MCL_CURRENT | MCL_FUTURE) == 0:
        parts.append('memory locked')
    else:
        why = os.strerror(ctypes.get_errno())
        parts.append(f'memory not locked ({why}; needs memlock in limits.conf)')
    return ', '.join(parts)
