"""Reports of a node on /diagnostics, once a second and whenever its health changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from numpy.typing import NDArray
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
Report = tuple[bytes, str, dict[str, Any]]
# A change is reported after this time, with all that changed meanwhile.
SOON_S = 0.05
# A rate over less time than this is a rate of nothing.
SHORTEST_S = 0.5


class Diagnostics:
    """
    Publishes the reports of a node.

    :param node: the node.
    :param hardware: name of the robot, once it is known.
    """

    def __init__(self, node: Node, period_s: float = 1.0) -> None:
        self._node = node
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._reports: dict[str, Callable[[], Report]] = {}
        self.hardware = ''
        # Health is reported by the wall clock: a simulated clock may stop.
        self._timer = node.create_timer(
            period_s, self.publish, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._soon = node.create_timer(
            SOON_S, self._publish_change, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )
        self._soon.cancel()

    def changed(self) -> None:
        """Report soon instead of at the next full second; from any thread."""
        if self._soon.is_canceled():
            self._soon.reset()

    def _publish_change(self) -> None:
        self._soon.cancel()
        self.publish()

    def add(self, name: str, report: Callable[[], Report]) -> None:
        """Report under a name; `report` returns level, message and values."""
        self._reports[name] = report

    def clear(self) -> None:
        """Stop reporting."""
        self._reports.clear()

    def publish(self) -> None:
        """Publish all reports now."""
        message = DiagnosticArray()
        message.header.stamp = self._node.get_clock().now().to_msg()
        prefix = self._node.get_fully_qualified_name().lstrip('/')
        for name, report in self._reports.items():
            level, text, values = report()
            message.status.append(
                DiagnosticStatus(
                    level=level,
                    name=f'{prefix}: {name}',
                    message=text,
                    hardware_id=self.hardware,
                    values=[KeyValue(key=k, value=_text(v)) for k, v in values.items()],
                )
            )
        if message.status:
            self._publisher.publish(message)


_RATES = ('rate_hz', 'jitter_us', 'median_us', 'p99_us', 'longest_us')


class RateMeter:
    """Rate and jitter of a periodic event, over the events since the last report."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._taken, self._last = -SHORTEST_S, dict.fromkeys(_RATES, 0.0)

    def tick(self) -> None:
        """Note that the event happens now."""
        self._times.append(time.perf_counter())

    def take(self) -> dict[str, float]:
        """
        Return rate and jitter, in Hz and microseconds, and restart; those before if asked again at
        once.

        Jitter is how far an interval is from their mean: its median, its 99th percentile, and as
        jitter_us its root mean square.
        """
        now = time.perf_counter()
        if now - self._taken < SHORTEST_S:
            return dict(self._last)
        self._taken = now
        times, self._times = self._times, self._times[-1:]
        self._last = _rates(np.diff(times)) if len(times) > 2 else dict.fromkeys(_RATES, 0.0)
        return dict(self._last)


def _rates(steps: NDArray[np.float64]) -> dict[str, float]:
    mean = steps.mean()
    median, p99 = np.percentile(np.abs(steps - mean), (50.0, 99.0))
    values = 1.0 / mean, 1e6 * steps.std(), 1e6 * median, 1e6 * p99, 1e6 * steps.max()
    return dict(zip(_RATES, map(float, values)))


class LatencyMeter:
    """Time from a question to its answer, over those since the last report."""

    def __init__(self) -> None:
        self._asked: float | None = None
        self._times: list[float] = []

    def ask(self) -> None:
        """Note that the question goes out now."""
        self._asked = time.perf_counter()

    def answer(self) -> None:
        """Note that an answer has come; only the first one counts."""
        if self._asked is not None:
            self._times.append(time.perf_counter() - self._asked)
            self._asked = None

    def take(self) -> dict[str, float]:
        """Return median and 99th percentile in microseconds, and restart."""
        times, self._times = self._times, []
        median, p99 = np.percentile(times, (50.0, 99.0)) if times else (0.0, 0.0)
        return {'answer_median_us': float(1e6 * median), 'answer_p99_us': float(1e6 * p99)}


def _text(value: Any) -> str:
    return f'{value:.6g}' if isinstance(value, float) else str(value)
