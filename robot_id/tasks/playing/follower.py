"""Follows a robot along one plan, and says when and how it must stop."""

from __future__ import annotations

from dataclasses import dataclass

from robot_id.tasks.playing.plan import Plan
from robot_id.tasks.playing.watch import Bounds, Told, Watch
from robot_id.trajectory.trajectory import Array
from robot_id.trajectory.waypoints import Waypoints, waypoints

# s from sending a stop until its first point is due. The controller itself leads from where its
# reference is to that point: what is not known of that place is spread over this time.
LEAD_S = 0.2
# s that a robot may need to settle after the last point, and after which one that tells has told.
SETTLE_S, TELL_S = 1.0, 0.2


@dataclass(frozen=True)
class Stop:
    """
    The end of a plan before its last point.

    :param why: one line.
    :param points: that brake along the path; None where the controller holds the robot itself.
    :param seconds: until it stands.
    """

    why: str
    points: Waypoints | None = None
    seconds: float = 0.0


class Follower:
    """
    One plan under way.

    How the controller says that it has ended is None as long as it goes on, '' when it has
    succeeded, and else its reason.

    :param plan: what the controller was given.
    :param state_timeout_s: longest time without joint states.
    :param rate_hz: of the points of a stop, 0 for as many as it needs.
    :ivar stopped: how the plan ended early, None as long as it has not.
    """

    def __init__(
        self,
        plan: Plan,
        bounds: Bounds,
        names: tuple[str, ...],
        state_timeout_s: float,
        rate_hz: float = 0.0,
    ) -> None:
        self.plan = plan
        self.watch = Watch(plan, bounds, names)
        self.stopped: Stop | None = None
        self._timeout, self._rate_hz = state_timeout_s, rate_hz
        self._arrived: float | None = None

    def state(
        self,
        elapsed: float,
        position: Array,
        effort: Array,
        told: Told | None,
        ended: str | None,
    ) -> Stop | None:
        """
        Take in a joint state; return a stop that begins with it.

        :param elapsed: seconds since the controller got the plan.
        :param position: (n,) measured, `effort` (n,) too.
        :param told: by the controller of its reference, None where it does not tell.
        """
        if self.stopped is not None:
            return None
        return self._decide(elapsed, self.watch.feed(elapsed, position, effort, told), ended)

    def silence(self, elapsed: float, silent_s: float, ended: str | None) -> Stop | None:
        """Take in that nothing was heard for a time; return a stop that begins with it."""
        if self.stopped is not None:
            return None
        missing = silent_s > self._timeout
        return self._decide(
            elapsed, f'no joint states for {silent_s:.2f} s' if missing else '', ended
        )

    def stop(self, elapsed: float, why: str) -> Stop | None:
        """Return how to stop for a reason from outside, None where it stops already."""
        return None if self.stopped is not None else self._decide(elapsed, why, None)

    def _decide(self, elapsed: float, why: str, ended: str | None) -> Stop | None:
        if ended:
            self.stopped = Stop(ended)
        elif why:
            at = self.watch.predicted(elapsed)
            slow = self.plan.stop(min(at, self.plan.whole.duration))
            points = waypoints(slow, self._rate_hz).after(LEAD_S)
            self.stopped = Stop(why, points, slow.duration)
        return self.stopped

    def finished(self, now: float, tells: bool, ended: str | None) -> bool:
        """
        Return whether the plan is executed.

        :param now: seconds of any clock that runs on.
        :param tells: whether the controller says when it has ended.
        """
        if not self.watch.arrived:
            # It says that it is done; noise may hide the very last samples.
            return ended == ''
        if self._arrived is None:
            self._arrived = now
        waited = now - self._arrived
        return waited > SETTLE_S or (waited > TELL_S and (not tells or ended == ''))
