"""What a criterion is: a figure of singular values that an exciting motion makes small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robot_id.trajectory.trajectory import Array


@dataclass(frozen=True)
class Criterion:
    """
    One way to say how exciting a motion is.

    :param name: in commands and options.
    :param label: in tables.
    :param text: what it is, for help texts.
    :param key: of its figure in JSON files.
    :param weighted: of Phi = W diag(chi_bar) instead of W.
    :param figure: (singular values in descending order, samples) -> what is to become small.
    :param smooth: (singular values, power) -> a smooth logarithm of it and its slope in them; a
        larger power is sharper.
    """

    name: str
    label: str
    text: str
    key: str
    weighted: bool
    figure: Callable[[Array, int], float]
    smooth: Callable[[Array, float], tuple[float, Array]]
