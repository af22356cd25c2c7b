"""What a plant saw since it was put to its start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """
    What a plant saw since it was put to its start.

    :param torque: (n,) largest, beyond what gravity needs; `speed`, `motion` (n,) likewise.
    :param whole_torque: (n,) largest command, with gravity.
    :param lowest: (n,) position, and `highest`.
    :param saturated: share of the time with a torque at its limit.
    :param gap_s: longest time between two commands.
    :param states: joint states that were published, and `commands` that were heard.
    :param stalls: of the plant itself, and the longest, `stall_s`; `wait_s` the longest time that
        it waited for a controller that was stalled.
    """

    torque: Array
    speed: Array
    motion: Array
    whole_torque: Array
    lowest: Array
    highest: Array
    saturated: float
    gap_s: float
    states: int
    commands: int
    stalls: int
    stall_s: float
    wait_s: float
    braked: bool

    @staticmethod
    def of(status: dict[str, Any]) -> Seen:
        """Return what a status says."""
        keys = ('torque', 'speed', 'motion', 'whole_torque', 'lowest', 'highest')
        arrays = [np.array(status[key]) for key in keys]
        share = status['saturated'] / max(status['ticks'], 1)
        keys = ('gap_s', 'states', 'commands', 'stalls', 'stall_s', 'wait_s', 'braked')
        return Seen(*arrays, share, *(status[key] for key in keys))
