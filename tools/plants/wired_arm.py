"""An arm with drives, brakes and encoders, wired right or wrong; no clock, no topic."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from plants.free_mechanics import TICK_S, Extremes, Mechanics, Settings
from plants.wiring import Wiring

Array = NDArray[np.float64]
# Without a torque for so long the brakes close.
BRAKE_S = 0.05


@dataclass(frozen=True)
class Measured:
    """
    What the arm says of itself.

    :param time_s: its stamp.
    :param position: (n,), `effort` (n,) likewise, `velocity` (n,) or None.
    """

    time_s: float
    position: Array
    velocity: Array | None
    effort: Array


class WiredArm:
    """
    The arm, tick by tick.

    Its drives limit the torque; its brakes open with the first torque and close when no torque was
    wanted for `BRAKE_S`, as they do when commands stop.

    :ivar ticks: number of ticks so far.
    :ivar seen: the largest values.
    :ivar heard: tick of the last command, None before the first.
    :ivar every: ticks from one state to the next.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.arm = settings, Mechanics(settings)
        self._limit, self._step = np.array(settings.limit), np.array(settings.step)
        self._rng = np.random.default_rng(0)
        self.ticks = 0
        self.restart(Wiring())

    def restart(self, wiring: Wiring) -> None:
        """Put the arm to its start, wired so."""
        self.wire(wiring)
        self.arm.reset()
        self.forget()
        self._wanted = np.zeros(len(self._limit))
        self.heard: int | None = None
        self.braked, self._quiet = True, 0

    def wire(self, wiring: Wiring) -> None:
        """Change the wiring where it stands."""
        n = len(self._limit)
        self._wiring = wiring
        self._factor = np.array(wiring.position_factor or (1.0,) * n)
        self._offset = np.array(wiring.position_offset or (0.0,) * n)
        self._order = list(wiring.order or range(n))
        self._torque_factor = np.array(wiring.torque_factor or (1.0,) * n)
        self.every = 1.0 / (self.settings.rate_hz * wiring.rate_factor * TICK_S)
        self._due, self._sent = 0.0, 0
        self._queue: deque[tuple[int, Array]] = deque()

    def forget(self) -> None:
        """Forget the largest values; motion counts from here."""
        self.seen = Extremes(self.arm.q.copy())

    def command(self, wanted: Array) -> None:
        """Take in torques (n,)."""
        if self.heard is not None:
            gap = (self.ticks - self.heard) * TICK_S
            self.seen.gap_s = max(self.seen.gap_s, gap)
        self.heard = self.ticks
        self.seen.commands += 1
        self._queue.append((self.ticks + round(self._wiring.delay_s / TICK_S), wanted))

    def tick(self) -> Measured | None:
        """Move for one tick; return the state where one is due."""
        while self._queue and self._queue[0][0] <= self.ticks:
            self._wanted = self._queue.popleft()[1]
        gravity = self.arm.gravity()
        torque = np.clip(self._torque_factor * self._wanted, -self._limit, self._limit)
        self._brake()
        if not self.braked:
            self.arm.advance(torque + gravity * self._wiring.compensates_gravity)
            at_limit = bool(np.any(np.abs(torque) >= self._limit))
            arm = self.arm
            beyond = np.maximum(np.abs(torque) - np.abs(gravity), 0.0)
            self.seen.take(beyond, self._wanted, arm.q, arm.dq, at_limit)
        self.ticks += 1
        self._due += 1.0
        if self._due < self.every * self._sent:
            return None
        self._sent += 1
        return self._measured(torque)

    def _brake(self) -> None:
        """Open the brakes for a torque, close them after a while without one."""
        silent = self.heard is None or (self.ticks - self.heard) * TICK_S > BRAKE_S
        if np.any(self._wanted) and not silent:
            self.braked, self._quiet = False, 0
            return
        self._quiet += 1
        if not self.braked and self._quiet * TICK_S > BRAKE_S:
            self.braked = True
            self.arm.stop()

    def _measured(self, torque: Array) -> Measured:
        self.seen.states += 1
        w = self._wiring
        q = np.round(self.arm.q / self._step) * self._step
        q = (self._factor * q + self._offset)[self._order]
        dq = (self._factor * self.arm.dq)[self._order] if w.velocity else None
        jitter = w.jitter_s * self._rng.uniform(-1.0, 1.0)
        return Measured(self.ticks * TICK_S + jitter, q, dq, torque)
