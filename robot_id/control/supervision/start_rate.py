"""The rate at which the joint states of a robot really come, measured before it gets a torque."""

from __future__ import annotations

import numpy as np

from robot_id.data.cleaning.stamps import SECOND, RateWatch

# Steps from which the rate is measured: a jitter of a quarter of a period is 5 % of them.
STEPS = 10
# Of the period: a jitter of the stamps that is told.
JITTER_SHARE = 0.1


class StartRate:
    """
    Counts the first joint states after an activation.

    :param wanted_hz: the rate that the loop was given.
    :ivar seen_hz: the rate by the stamps, 0 until it is known.
    :ivar jitter_s: root mean square of the stamps' distance from even steps.
    """

    def __init__(self, wanted_hz: float) -> None:
        self.wanted_hz = wanted_hz
        self.restart()

    def restart(self) -> None:
        """Measure again."""
        self.seen_hz = self.jitter_s = 0.0
        self._stamps: list[int] = []

    def feed(self, stamp: int) -> bool:
        """Take in the stamp of a joint state [ns]; return whether the rate is known."""
        if self.seen_hz:
            return True
        if self._stamps and stamp <= self._stamps[0]:
            self._stamps.clear()
        self._stamps.append(stamp)
        if len(self._stamps) <= STEPS:
            return False
        since = (np.array(self._stamps) - self._stamps[0]) / SECOND
        count = np.arange(len(since))
        line = np.polynomial.Polynomial.fit(count, since, 1)
        self.seen_hz = STEPS / float(since[-1])
        self.jitter_s = float(np.sqrt(np.mean((since - line(count)) ** 2)))
        return True

    @property
    def jitter(self) -> str:
        """What is to be told of the stamps, '' for nothing."""
        if self.jitter_s * self.wanted_hz <= JITTER_SHARE:
            return ''
        return (
            f'stamps of the joint states jitter by {1e3 * self.jitter_s:.2g} ms: samples are '
            'counted instead'
        )

    @property
    def right(self) -> bool:
        """Whether the rate is the one that was given."""
        return abs(self.seen_hz - self.wanted_hz) <= RateWatch.TOLERANCE * self.wanted_hz
