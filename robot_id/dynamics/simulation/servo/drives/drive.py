"""
A drive as the compiled loop knows it: a kernel, chosen by the number of the drive.

The torque of a motor is motor = u - B dq: u is computed at the middle of a step, B >= 0 (back
electromotive force, gain on the velocity) is taken by the implicit step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Number:
    """
    A number of a drive, one for each joint.

    :param name: of the number, as users give it.
    :param unit: for a revolute joint.
    :param text: what it is.
    :param start: where its estimation starts, None where a user has to give it.
    :param free: whether it is estimated unless told otherwise.
    :param positive: it has a scale of its own and is estimated by its logarithm.
    :param lower: smallest value; upper: largest.
    """

    name: str
    unit: str
    text: str
    start: float | None
    free: bool
    positive: bool = True
    lower: float = 0.0
    upper: float = float('inf')


@dataclass(frozen=True)
class Drive:
    """
    A model of a drive.

    :param name: in options.
    :param text: one line for people.
    :param numbers: in the order in which its kernel takes them.
    :param kernel: f(x, gain, supply, warmth, error, z, v, by) -> (u, B, du/derror, du/dz, du/dv,
        holds), to be compiled: x are the numbers of the joint, gain and supply recorded inputs,
        warmth the resistance over that at 25 degC, error = command - position, z its integral, v
        the velocity; by (3, d) receives the derivatives of u, B and du/derror by the numbers;
        holds is true where a limit stops the integral.
    """

    name: str
    text: str
    numbers: tuple[Number, ...]
    kernel: Callable[..., Any]
