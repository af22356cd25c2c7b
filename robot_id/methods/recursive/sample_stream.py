"""
Joint states on their way to an on-line estimator: in order, without gaps, with a reference.

A robot that reports no torques gets those of its law, where that is known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.stamps import SECOND, Order, StampWatch
from robot_id.data.joint_side import pd_torque
from robot_id.data.mapping import Channel

Array = NDArray[np.float64]
Reference = Callable[[int], Array | None]
# Samples before a block that its first differences and the delay need, besides the delay itself.
BEFORE = 3


@dataclass(frozen=True)
class Block:
    """
    Samples that follow each other without a gap.

    :param stamps: (N,) in ns.
    :param position: (N, n); torque likewise.
    :param reference: (3, N, n) position, velocity, acceleration; None where none is used.
    :param fresh: whether a gap or a new start lies before the first one.
    """

    stamps: NDArray[np.int64]
    position: Array
    torque: Array
    reference: Array | None
    fresh: bool


class SampleStream:
    """
    Collects samples as they come and hands them out in blocks.

    The rate is learned from the first stamps when it is not given. A sample waits for its
    reference, but not for ever.

    :param rate_hz: of the samples; 0 learns it.
    :param reference: looks up the reference at a stamp; None where the method needs none.
    :param patience_s: how long a sample waits for its reference [s].
    :ivar rejected: samples that were refused, the last reason in `reason`.
    """

    LEARN = 50

    def __init__(
        self, rate_hz: float = 0.0, reference: Reference | None = None, patience_s: float = 0.2
    ) -> None:
        self._given, self._reference = rate_hz, reference
        self._patience_ns = int(patience_s * SECOND)
        self.rejected, self.reason = 0, ''
        self.clear()

    def clear(self) -> None:
        """Forget samples, rate and counts."""
        self.rate_hz = self._given
        self.watch = StampWatch(round(SECOND / self._given)) if self._given else StampWatch()
        self.rejected, self.reason = 0, ''
        self._waiting: deque[tuple[int, bool, Array, Array]] = deque()
        self._newest = 0

    def refuse(self, reason: str) -> None:
        """Count a sample that cannot be used; the next one begins a new block."""
        self.rejected += 1
        self.reason = reason
        self._broken = True

    _broken = True

    def take(self, stamp: int, position: Array, torque: Array) -> None:
        """Take in a sample; one that repeats or is late is refused."""
        order = self.watch.judge(stamp)
        if order in (Order.DUPLICATE, Order.LATE):
            self.rejected += 1
            self.reason = f'{order.value} stamp {stamp * 1e-9:.6f} s'
            return
        fresh = self._broken or order in (Order.FIRST, Order.GAP, Order.RESTART)
        self._broken = False
        self._newest = stamp
        self._waiting.append((stamp, fresh, position, torque))

    def blocks(self) -> list[Block]:
        """Return what is ready, and keep the rest."""
        if not self.rate_hz and not self._learn():
            return []
        ready: list[list[tuple[int, Array, Array, Array | None]]] = []
        starts: list[bool] = []
        while self._waiting:
            stamp, fresh, position, torque = self._waiting[0]
            wanted = None
            if self._reference is not None:
                wanted = self._reference(stamp)
                if wanted is None:
                    if 0 <= self._newest - stamp < self._patience_ns:
                        break
                    self._waiting.popleft()
                    self.rejected += 1
                    self.reason = f'no reference for the stamp {stamp * 1e-9:.6f} s'
                    self._hole = True
                    continue
            self._waiting.popleft()
            if fresh or self._hole or not ready:
                ready.append([])
                starts.append(fresh or self._hole)
                self._hole = False
            ready[-1].append((stamp, position, torque, wanted))
        return [_block(rows, start) for rows, start in zip(ready, starts)]

    _hole = False

    def _learn(self) -> bool:
        if len(self._waiting) < self.LEARN:
            return False
        steps = np.diff([sample[0] for sample in self._waiting])
        period = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
        if period <= 0.0:
            return False
        self.rate_hz = SECOND / period
        # Judge these again, now that it is known what a gap is.
        samples, self._waiting = list(self._waiting), deque()
        self.watch = StampWatch(round(period))
        for stamp, _, position, torque in samples:
            self.take(stamp, position, torque)
        return True


def _block(rows: list[tuple[int, Array, Array, Array | None]], fresh: bool) -> Block:
    stamps, position, torque, wanted = zip(*rows)
    return Block(
        np.array(stamps),
        np.array(position),
        np.array(torque),
        np.stack(wanted, axis=1) if wanted[0] is not None else None,
        fresh,
    )


class LawTorque:
    """
    Gives the samples of a stream their torques, kp (reference - position) - kd velocity.

    It is what `data.load` computes from a recording, block after block.

    :param law: channel `torque` of a mapping, with `from: pd`.
    :param rate_hz: of the samples.
    """

    def __init__(self, law: Channel, rate_hz: float) -> None:
        self._law = law
        length = BEFORE + int(np.ceil((law.delay + law.reference_delay) * rate_hz))
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
