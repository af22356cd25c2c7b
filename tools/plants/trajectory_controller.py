"""
A joint_trajectory_controller in front of a position-controlled arm, without topics and clock.

`jtc_plant.py` makes a process of it. Its mistakes are those of `position_arm.Settings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants.position_arm import CONTROL_S, PositionArm, Settings

from robot_id.trajectory.sampled_motion import SampledMotion

Array = NDArray[np.float64]
# rad/s: slower is at rest.
STANDS = 1e-3
ABORTED = -4


class TrajectoryController:
    """
    Follows trajectories by cubics and holds its reference otherwise.

    :ivar wanted: (3, n) reference position, velocity and acceleration.
    :ivar ended: code and text of the trajectory that has ended last, None while one is under way.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, self.arm = settings, PositionArm(settings)
        zero = [0.0] * self.arm.n
        self.wanted = np.array([settings.position, zero, zero])
        self.ended: tuple[int, str] | None = None
        # Of the spline in its own time: scaling makes the arm slower, not the trajectory.
        self._speed = np.zeros(self.arm.n)
        self._motion: SampledMotion | None = None
        self._at = self._since = 0.0
        self._seen = {'trajectories': 0, 'rejected': 0, 'speed': 0.0, 'acceleration': 0.0}

    @property
    def silent(self) -> bool:
        """Whether no joint states are published now."""
        at = self.settings.silent_at
        return bool(at) and self._motion is not None and self._since > at

    def change(self, text: str) -> None:
        """Take the changes of a JSON text."""
        self.settings = self.arm.settings = self.settings.changed(text)

    def take(self, names: Sequence[str], times: Sequence[float], rows: list[list[Array]]) -> str:
        """
        Begin a trajectory from the present reference; return why not.

        :param times: seconds of its points from now on.
        :param rows: position and velocity of each point.
        """
        why = self._wrong(names, times, rows)
        self._seen['trajectories'] += 1
        self._seen['rejected'] += bool(why)
        if why:
            return why
        order = [list(names).index(name) for name in self.settings.joints]
        rows = [[np.asarray(values)[order] for values in row] for row in rows]
        times = list(times)
        if times[0] > 0.0:
            times, rows = [0.0, *times], [[self.wanted[0], self._speed], *rows]
        q, dq = (np.array([row[i] for row in rows]) for i in (0, 1))
        self._motion, self.ended = SampledMotion(np.array(times), q, dq), None
        self._at = self._since = 0.0
        self._seen.update(speed=0.0, acceleration=0.0)
        return ''

    def _wrong(self, names: Sequence[str], times: Sequence[float], rows: Any) -> str:
        if self.settings.rejects:
            return 'rejected'
        if sorted(names) != sorted(self.settings.joints) or not rows:
            return 'joints do not match'
        if np.any(np.diff(times) <= 0.0):
            return 'times do not increase'
        return 'the last point moves' if np.abs(rows[-1][1]).max() > 1e-6 else ''

    def tick(self) -> None:
        """Advance by one control sample."""
        settings, motion = self.settings, self._motion
        if motion is not None:
            k = settings.scaling
            self._at += k * CONTROL_S
            self._since += CONTROL_S
            q, dq, ddq = motion.sample(min(self._at, motion.duration))
            before = self.wanted[1]
            self.wanted, self._speed = np.array([q, k * dq, k**2 * ddq]), dq
            self._note(before)
            if settings.aborts_at and self._since > settings.aborts_at:
                self.end(ABORTED, 'path tolerance violated')
            elif self._at >= motion.duration:
                self.end(0, '')
        stuck = bool(settings.stuck_at) and self._since > settings.stuck_at
        self.arm.advance(self.wanted, stuck)

    def end(self, code: int, text: str) -> None:
        """Hold the position."""
        self.wanted = np.array([self.wanted[0], 0 * self.wanted[0], 0 * self.wanted[0]])
        self._motion, self.ended, self._speed = None, (code, text), np.zeros(self.arm.n)

    def _note(self, before: Array) -> None:
        seen = self._seen
        seen['speed'] = max(seen['speed'], float(np.abs(self.wanted[1]).max()))
        change = float(np.abs(self.wanted[1] - before).max()) / CONTROL_S
        seen['acceleration'] = max(seen['acceleration'], change)

    def figures(self) -> dict[str, Any]:
        """Return trajectories so far, extremes of the reference since the last, and the place."""
        stands = bool(np.abs(self.arm.dq).max() < STANDS) and self._motion is None
        return {**self._seen, 'stands': stands, 'position': self.arm.q.tolist()}
