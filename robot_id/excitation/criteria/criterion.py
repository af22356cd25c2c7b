"""A criterion: a function of the singular values that is small for an exciting motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from robot_id.trajectory.trajectory import Array


@dataclass(frozen=True)
class Criterion:
    """
    A measure of how exciting a motion is.

    :param name: in commands and options.
    :param label: in tables.
    :param text: what it is, for help texts.
    :param key: of its figure in JSON files.
    :param weighted: of Phi = W diag(chi_bar) instead of W.
    :param figure: (singular values in descending order, samples) -> the value to minimise.
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
