"""
A control law as the compiled loop knows it: a kernel that is chosen by the type of its numbers.

A law keeps its numbers in a NamedTuple of its own. The loop is compiled once for each of these
types, with the kernel of that law in it: no branches at run time, and the loop knows no law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba.extending import overload

from robot_id.dynamics.kernels.friction import add_drive_torques
from robot_id.dynamics.kernels.models import scratch
from robot_id.dynamics.kernels.rigid_body import FAST, INLINED, motions, newton_euler, poses
from robot_id.kernel_cache import njit

Kernel = TypeVar('Kernel', bound=Callable[..., Any])
_kernels: dict[type, Callable[..., Any]] = {}


def torque_kernel(numbers: type) -> Callable[[Kernel], Kernel]:
    """
    Make a compiled function the torque of the laws with these numbers.

    :param numbers: the NamedTuple of the law; numba distinguishes such types by their names, so no
        two laws may share one.
    :return: decorator of kernel(law, tree, memory, work, qr, dqr, ddqr, q, h, tau), which fills
        tau (n,) with the limited torque for the measured position q (n,), h seconds after the
        last one.
    """

    def register(kernel: Kernel) -> Kernel:
        if any(known.__name__ == numbers.__name__ for known in _kernels):
            raise TypeError(
                f"another control law already uses the name '{numbers.__name__}' for its numbers"
            )
        _kernels[numbers] = kernel
        return kernel

    return register


def control_torque(law, tree, memory, work, qr, dqr, ddqr, q, h, tau):  # type: ignore[no-untyped-def]
    """Fill tau (n,) by the law, in compiled code."""
    raise NotImplementedError('for compiled code')


@overload(control_torque)
def _by_type(law, tree, memory, work, qr, dqr, ddqr, q, h, tau):  # type: ignore[no-untyped-def]
    kernel = _kernels[law.instance_class]
    return lambda law, tree, memory, work, qr, dqr, ddqr, q, h, tau: kernel(
        law, tree, memory, work, qr, dqr, ddqr, q, h, tau
    )


@njit(**FAST)
def control_work(nb, n):
    """Return the work arrays of a law: those of the rigid bodies, and (6, n)."""
    return scratch(nb, n), np.empty((6, n))


@njit(**INLINED)
def own_velocity(before, averaged, dqr, q, h, j):
    """
    Return the controller's velocity of joint j, and remember its position.

    A backward difference, or one over the last two intervals; at the very first sample the robot
    counts as moving as its reference.

    :param before: (2, n) the last two measured positions, NaN before the first sample.
    """
    if np.isnan(before[0, j]):
        before[0, j] = q[j] - h * dqr[j]
        before[1, j] = q[j] - 2.0 * h * dqr[j]
    if averaged:
        speed = (q[j] - before[1, j]) / (2.0 * h)
    else:
        speed = (q[j] - before[0, j]) / h
    before[1, j], before[0, j] = before[0, j], q[j]
    return speed


@njit(**INLINED)
def model_torque(tree, inertia, values, q, dq, ddq, slope, work, tau):
    """Fill tau (n,) with the inverse model at one state (the computed torque)."""
    R, p, w, dw, a, force, moment = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    poses(tree, q, R, p)
    motions(tree, R, p, dq, ddq, w, dw, a)
    newton_euler(tree, inertia, R, p, w, dw, a, force, moment, tau)
    add_drive_torques(tree, values, dq, ddq, slope, tau)
