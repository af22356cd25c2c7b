"""IDIM-ILIC: iterative learning identification for a controller (paper 003)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.control.learning.essential import WindowFit, consistent_window, fit_window
from robot_id.control.learning.options import IlicOptions
from robot_id.control.learning.window import MovingWindow, ReferenceObservation, Window, as_rows
from robot_id.control.runtime.guards import (
    out_of_bounds,
    parameter_bounds,
    weak_inertia,
    weak_posture,
)
from robot_id.control.runtime.model_bounds import beyond_torque
from robot_id.control.runtime.payload import PayloadEstimate
from robot_id.control.runtime.payload_watch import PayloadWatch
from robot_id.data.signals.decimation import LARGEST_STAGE, stages
from robot_id.exceptions import ControlError, IdentificationError, OptionError
from robot_id.ranges import Range
from robot_id.regression.consistency import Fitter
from robot_id.robot import Robot
from robot_id.trajectory.default import motion_of

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# A joint that never exceeds this share of its speed limit in a window counts as at rest.
REST_SHARE = 2e-3
# Section VI-D of paper 003, and the least number of equations for each parameter.
PAPER_HZ, EQUATIONS_EACH = 5.0, 5.0
RATE = Range(1e-3, 1e6)
OVERTAKEN = 'other parameters were set while the window was identified'


@dataclass(frozen=True)
class Update:
    """
    The result of one window.

    :param time: seconds at the end of the window.
    :param accepted: whether the controller should take `parameters`.
    :param reason: why not, in one line; '' when accepted.
    :param parameters: (b,) for the controller: new where `fit.passed`, else as before; all as
        before when refused.
    :param fit: estimates, deviations and percent of the window.
    :param still: names of joints that were at rest.
    :param payload: the load beside the tare, also where the update is refused; None before there
        is a tare and if the window does not determine it.
    """

    time: float
    accepted: bool
    reason: str
    parameters: Array
    fit: WindowFit
    still: tuple[str, ...]
    payload: PayloadEstimate | None = None


class Ilic:
    """
    Learns the model of a computed torque controller from its own torques and its reference.

    Feed it every sample with `feed`, one at a time or in blocks, and give each accepted update to
    the controller. If the least squares must not block a control loop, call `add` in the loop and,
    when it returns True, `take` and then `identify` in another thread. `parameters` may be set at
    any time: a window that was being identified then is refused, and what was set stays. Call
    `confirmed` before using an update that had to wait.

    :param robot: the Robot.
    :param parameters: (b,) what the controller starts with.
    :param rate_hz: samples per second.
    :param window_s: T_obs, seconds; None for the duration of the robot file's motion.
    :param bounds: name -> (lower, upper) of parameters; friction and inertias are never negative.
    :param torque_limit: (n,); None takes the limits of the robot file.
    :param rest_speed: (n,) or one number: a joint always slower than this is at rest; None takes
        0.2 % of its speed limit.
    :param options: further fields of IlicOptions.
    """

    def __init__(
        self,
        robot: Robot,
        parameters: ArrayLike,
        rate_hz: float,
        window_s: float | None = None,
        *,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        torque_limit: ArrayLike | None = None,
        rest_speed: ArrayLike | None = None,
        **options: Any,
    ) -> None:
        self.options = IlicOptions(window_s, **options)
        RATE.check(rate_hz, 'rate_hz')
        window_s = self.options.window_s or motion_of(robot).duration
        update_s = self.options.update_s or window_s
        equations_hz = self.options.equations_hz
        if equations_hz is None:
            needed = EQUATIONS_EACH * len(robot.base) / (robot.n * window_s)
            equations_hz = max(PAPER_HZ, needed)
        self.robot = robot
        self.rate_hz = float(rate_hz)
        self._fitter = Fitter(robot) if self.options.physical else None
        self._lock = Lock()
        self.parameters = np.array(parameters, float)
        self.lower, self.upper = parameter_bounds(robot, bounds)
        n = robot.n
        limit = robot.limits.torque if torque_limit is None else torque_limit
        self.torque_limit = np.broadcast_to(np.asarray(limit, float), (n,))
        if rest_speed is None:
            speed = robot.limits.velocity
            rest_speed = REST_SHARE * np.where(np.isfinite(speed), speed, 1.0)
        self.rest_speed = np.broadcast_to(np.asarray(rest_speed, float), (n,))
        self.decimation = decimation_for(rate_hz, equations_hz)
        length, every = round(window_s * rate_hz), round(update_s * rate_hz)
        if length < 4 * self.decimation or every < 1:
            raise OptionError(
                f'a window of {window_s:g} s leaves {length // self.decimation} equations of '
                f'each joint: make the window longer or raise equations_hz ({equations_hz:g})'
            )
        self.window = MovingWindow(n, length, every)
        self._observation = ReferenceObservation(
            robot, self.decimation, robot.description.coulomb_slope
        )
        self.payload_watch = PayloadWatch(robot)
        self._row = np.empty((1, 4 * n))

    @property
    def sigma_max(self) -> float:
        """Percent deviation below which parameters are passed on; it may be set at any time."""
        return self.options.sigma_max

    @sigma_max.setter
    def sigma_max(self, percent: float) -> None:
        self.options = replace(self.options, sigma_max=float(percent))

    @property
    def parameters(self) -> Array:
        """(b,) of the controller, an array that never changes; setting gives another one."""
        return self._parameters

    @parameters.setter
    def parameters(self, values: ArrayLike) -> None:
        chi = np.array(values, float)
        if chi.shape != (len(self.robot.base),):
            raise ControlError(
                f'{self.robot.name}: {chi.size} parameters, expected {len(self.robot.base)}',
                code='parameter_count',
            )
        chi.flags.writeable = False
        with self._lock:
            self._parameters = chi

    def feed(
        self, position: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, torque: ArrayLike
    ) -> list[Update]:
        """
        Take in samples and return the updates that are due, usually none.

        :param position: (n,) or (N, n) reference; velocity, acceleration likewise.
        :param torque: (n,) or (N, n) what the drives were commanded.
        """
        rows = as_rows(self.robot, position, velocity, acceleration, torque)
        updates, at = [], 0
        while at < len(rows):
            count = min(self.window.room(), len(rows) - at)
            if self.window.add(rows[at : at + count]):
                updates.append(self.identify(self.window.take()))
            at += count
        return updates

    def add(
        self, position: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike, torque: ArrayLike
    ) -> bool:
        """Take in one sample (n,) and return whether a window is due: `take` it soon."""
        row, n = self._row, self.robot.n
        for i, values in enumerate((position, velocity, acceleration, torque)):
            if np.shape(values) != (n,):
                break
            row[0, i * n : (i + 1) * n] = values
        else:
            if isfinite(row.sum()):
                return self.window.add(row)
        return self.window.add(as_rows(self.robot, position, velocity, acceleration, torque))

    def take(self) -> Window:
        """Return a copy of the last window."""
        return self.window.take()

    def clear(self) -> None:
        """Forget the samples of the window, such as after a gap or a stop."""
        self.window.clear()

    def identify(self, window: Window) -> Update:
        """Identify the parameters from a window; an accepted update becomes `parameters`."""
        current, sigma_max = self.parameters, self.sigma_max
        still = np.abs(window.velocity).max(axis=0) < self.rest_speed
        factors = self._observation.factors(window)
        fit = fit_window(factors, current, sigma_max, still, self.options.largest_condition)
        reason = self._unusable(window, still)
        payload = None if reason else self.payload_watch.see(factors, still, current)
        if self._fitter is not None and fit.passed.any() and not reason:
            try:
                fit = consistent_window(fit, self._fitter)
            except IdentificationError as error:
                reason = f'no physically consistent robot was found near the window: {error}'
        time = window.end / self.rate_hz
        names = tuple(name for name, rest in zip(self.robot.joint_names, still) if rest)
        reason = reason or self._objection(window, fit, current, sigma_max)
        new = fit.values.copy()
        new.flags.writeable = False
        with self._lock:
            if self._parameters is not current:
                reason = OVERTAKEN
            if reason:
                return Update(time, False, reason, self._parameters.copy(), fit, names, payload)
            self._parameters = new
        return Update(time, True, '', new.copy(), fit, names, payload)

    def confirmed(self, update: Update) -> Update:
        """Return an update as it is, or refused when other parameters were set after it."""
        current = self.parameters
        if not update.accepted or np.array_equal(update.parameters, current):
            return update
        return replace(
            update, accepted=False, reason=OVERTAKEN, parameters=current.copy(), payload=None
        )

    def _unusable(self, window: Window, still: Flags) -> str:
        """Return why a window cannot be used, '' if it can."""
        if still.all():
            return 'the window is not exciting: no joint moves'
        limited = np.abs(window.torque) >= self.torque_limit * (1.0 - 1e-9)
        share = limited.mean(axis=0)
        if np.any(share > self.options.saturated_share):
            j = int(np.argmax(share))
            return (
                f"the torque of joint '{self.robot.joint_names[j]}' was at its limit in "
                f'{100.0 * share[j]:.3g} % of the window: the robot did not follow the reference'
            )
        return ''

    def _objection(self, window: Window, fit: WindowFit, current: Array, sigma_max: float) -> str:
        if not fit.passed.any():
            least = np.nanmin(fit.percent, initial=np.inf)
            best = f', the best has {least:.3g} %' if np.isfinite(least) else ''
            return f'the window is not exciting: no percent std below {sigma_max:g}{best}'
        robot, chi = self.robot, fit.values
        return (
            out_of_bounds(robot, chi, fit.passed, self.lower, self.upper)
            or weak_inertia(robot, chi, current, window.position, self.options.smallest_inertia)
            or beyond_torque(robot, chi)
            # Physically consistent parameters give a positive definite M(q) everywhere.
            or ('' if self._fitter is not None else weak_posture(robot, chi))
        )


def decimation_for(rate_hz: float, equations_hz: float) -> int:
    """Return the factor nearest to rate_hz / equations_hz that splits into small stages."""
    wanted = max(round(rate_hz / equations_hz), 1)
    for offset in range(wanted):
        for factor in (wanted - offset, wanted + offset):
            if all(stage <= LARGEST_STAGE for stage in stages(factor)):
                return factor
    return 1
