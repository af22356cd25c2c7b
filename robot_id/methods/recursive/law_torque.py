"""Torques of a known law from the samples of a running robot, which reports none."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from robot_id.data.joint_side import pd_torque
from robot_id.data.mapping import Channel
from robot_id.methods.recursive.sample_stream import Block

# Samples before a block that its first differences and the delay need, besides the delay itself.
BEFORE = 3


class LawTorque:
    """
    Gives the samples of a stream their torques, kp (reference - position) - kd velocity.

    It is what `data.load` computes from a recording, block after block.

    :param law: channel `torque` of a mapping, with `from: pd`.
    :param rate_hz: of the samples.
    """

    def __init__(self, law: Channel, rate_hz: float) -> None:
        self._law = law
        length = BEFORE + int(np.ceil(law.delay * rate_hz))
        self._last: deque[Block] = deque(maxlen=length)

    def __call__(self, block: Block) -> Block:
        """Return the block with torques."""
        assert block.reference is not None
        if block.fresh:
            self._last.clear()
        parts = [*self._last, block]
        stamps = np.concatenate([part.stamps for part in parts])
        wanted = np.concatenate([part.reference for part in parts if part.reference is not None],
                                axis=1)  # fmt: skip
        channels = {
            'position': np.concatenate([part.position for part in parts]),
            'reference_position': wanted[0],
            'reference_velocity': wanted[1],
        }
        time = 1e-9 * (stamps - stamps[0])
        torque = np.zeros_like(channels['position'])
        if len(time) > 1:
            torque = pd_torque(self._law, time, channels, 'torque')
        self._last.extend(_samples(block, self._last.maxlen or 1))
        return replace(block, torque=np.ascontiguousarray(torque[-len(block.stamps) :]))


def _samples(block: Block, count: int) -> list[Block]:
    """Return the last samples, each as a block."""
    found = []
    for k in range(max(len(block.stamps) - count, 0), len(block.stamps)):
        part = slice(k, k + 1)
        wanted = None if block.reference is None else block.reference[:, part]
        found.append(
            Block(block.stamps[part], block.position[part], block.torque[part], wanted, False)
        )
    return found
