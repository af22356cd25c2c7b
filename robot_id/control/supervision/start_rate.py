"""The rate at which the joint states of a robot really come, measured before it gets a torque."""

from __future__ import annotations

from robot_id.data.cleaning.stamps import SECOND, RateWatch

# Steps from which the rate is measured: a jitter of a quarter of a period is 5 % of them.
STEPS = 10


class StartRate:
    """
    Counts the first joint states after an activation.

    :param wanted_hz: the rate that the loop was given.
    :ivar seen_hz: the rate by the stamps, 0 until it is known.
    """

    def __init__(self, wanted_hz: float) -> None:
        self.wanted_hz = wanted_hz
        self.restart()

    def restart(self) -> None:
        """Measure again."""
        self.seen_hz = 0.0
        self._first: int | None = None
        self._count = 0

    def feed(self, stamp: int) -> bool:
        """Take in the stamp of a joint state [ns]; return whether the rate is known."""
        if self.seen_hz:
            return True
        if self._first is None or stamp <= self._first:
            self._first, self._count = stamp, 0
            return False
        self._count += 1
        if self._count < STEPS:
            return False
        self.seen_hz = self._count * SECOND / (stamp - self._first)
        return True

    @property
    def right(self) -> bool:
        """Whether the rate is the one that was given."""
        return abs(self.seen_hz - self.wanted_hz) <= RateWatch.TOLERANCE * self.wanted_hz
