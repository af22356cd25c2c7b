"""Options of an on-line estimator, for recordings and for the running robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id.data.signals.processing import RIGID_HZ
from robot_id.exceptions import OptionError
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.sizes import nominal_sizes
from robot_id.methods.recursive.supervision import CheapRule, EigenvalueRule, Rule
from robot_id.ranges import (
    Count,
    Deviation,
    FilterOrder,
    Frequency,
    NotNegative,
    Range,
    Seconds,
    Slope,
    check,
)
from robot_id.robot import Robot

Array = NDArray[np.float64]
# A low-pass leaves this share of the rate of nearly independent equations.
SHARE = 0.4
# Equations per second of a running robot: the low-pass keeps the rigid motion and no more, since
# the noise of derivatives that it lets through biases the estimate.
EQUATIONS_HZ = RIGID_HZ / SHARE


@dataclass(frozen=True)
class OnlineSettings:
    """
    Options of the methods rls, riv and integral.

    :param filtering: 'model' filters the regressor and the torques alike, 'input' the positions
        only (biased, for comparison), 'none' nothing.
    :param low_pass_hz: Cut-off of the causal low-pass [Hz]; default: 40 % of the rate of nearly
        independent equations, whatever `every` says.
    :param filter_order: Order of the causal low-pass.
    :param every: Samples per equation; default: so that the equations are nearly independent.
    :param memory: How it forgets: 'infinite', 'exponential', 'window' or 'constant_trace'.
    :param memory_s: Length of the memory [s]; infinite ignores it.
    :param supervision: Which parameters may move: by their eigenvalues, by the cheap rule, or all
        ('none').
    :param max_std: Largest standard deviation of a live parameter, as a fraction of its size.
    :param supervision_s: Time between two verdicts of the supervision [s].
    :param nominal: Result file of an earlier identification: start values and sizes of the
        parameters; without it the a priori values of the robot file serve.
    :param noise: Standard deviation of the torques, one or one for each joint [N m or N]; derived
        from the torques.
    :param rest_velocity: Slower joints rest and give no equation [rad/s or m/s]; default: 1 % of
        the velocity limits.
    :param held_torque: The torque of a sample is held until the next (a loop of the same rate).
    :param coulomb_slope: alpha of the smooth friction 2/pi atan(alpha dq); none means sign(dq).
    :param reach: Samples to each side of the central differences, by which they are late.
    :param integral_s: Time constant in which the integrals of 'integral' fade [s]; none means that
        they begin with the run.
    """

    filtering: Literal['model', 'input', 'none'] = 'model'
    low_pass_hz: Frequency | None = None
    filter_order: FilterOrder = 2
    every: Count | None = None
    memory: Literal['infinite', 'exponential', 'window', 'constant_trace'] = 'infinite'
    memory_s: Seconds = 10.0
    supervision: Literal['none', 'eigenvalue', 'cheap'] = 'none'
    max_std: Annotated[float, Range(1e-9, 1e6)] = 0.1
    supervision_s: Seconds = 0.1
    nominal: str | None = None
    noise: Deviation | Sequence[Deviation] | None = None
    rest_velocity: NotNegative | Sequence[NotNegative] | None = None
    held_torque: bool = False
    coulomb_slope: Slope | None = None
    reach: Annotated[int, Range(1, 3)] = 1
    integral_s: Seconds | None = None

    def __post_init__(self) -> None:
        check(self)

    def identifier(
        self,
        robot: Robot,
        rate_hz: float,
        method: str,
        *,
        every: int,
        noise: Array,
        start: Array | None = None,
        nominal: Array | None = None,
    ) -> OnlineIdentifier:
        """
        Return the estimator with these options.

        :param rate_hz: rate of the samples.
        :param every: samples per equation where the option `every` is not given.
        :param noise: (n,) standard deviations of the torques where `noise` is not given.
        :param start: (b,) values to begin with; zeros when None.
        :param nominal: (b,) values to take the sizes of the parameters from; supervision needs
            them.
        """
        if self.supervision != 'none' and nominal is None:
            raise OptionError(
                f'supervision: {robot.name} has no a priori values to take the sizes of its '
                "parameters from; add them, name a result as nominal, or set supervision to 'none'"
            )
        names = robot.joint_names
        rest = self.rest_velocity
        used = self.every or every
        rate = rate_hz / used
        samples = max(self.memory_s * rate, 1.0)
        return OnlineIdentifier(
            robot,
            rate_hz,
            method=method,
            filtering=self.filtering,
            # Not by `used`: a wider low-pass lets the noise of the derivatives bias the estimate.
            cutoff_hz=self.low_pass_hz or SHARE * rate_hz / max(every, 2),
            order=self.filter_order,
            decimation=used,
            rest_velocity=None if rest is None else per_item('rest_velocity', rest, names),
            held_torque=self.held_torque,
            coulomb_slope=self.coulomb_slope,
            noise=noise if self.noise is None else per_item('noise', self.noise, names),
            reach=self.reach,
            integral_s=self.integral_s,
            memory=Memory(self.memory, samples, blocks=10 if samples >= 10 else 1),
            supervisor=self._rule(),
            period=max(round(self.supervision_s * rate), 1),
            start=start,
            scale=nominal_sizes(robot.base.names, nominal) if nominal is not None else None,
        )

    def for_running_robot(
        self,
        robot: Robot,
        rate_hz: float,
        method: str,
        start: Array | None,
        nominal: Array | None,
    ) -> OnlineIdentifier:
        """
        Return the estimator of a robot whose torques are not known yet.

        Values that a recording would give are taken from the limits: torques are known to 1 % of
        their limit, which is near 5 % of the rms torque of a usual motion.
        """
        limits = robot.limits.torque
        return self.identifier(
            robot,
            rate_hz,
            method,
            every=max(round(rate_hz / EQUATIONS_HZ), 1),
            noise=np.where(np.isfinite(limits), 0.01 * limits, 1.0),
            start=start,
            nominal=nominal,
        )

    def _rule(self) -> Rule | None:
        if self.supervision == 'eigenvalue':
            return EigenvalueRule(self.max_std)
        return CheapRule(self.max_std) if self.supervision == 'cheap' else None


# A recording is judged as a whole when it is over: nothing is held back, and no a priori values
# are needed. A running robot may stand still for an hour, and what it publishes then is used at
# once: only parameters that the motion shows may move. All other options are the same.
RUNNING_ROBOT = OnlineSettings(supervision='eigenvalue')


def per_item(key: str, value: float | Sequence[float], names: Sequence[str]) -> Array:
    """Return one number for each name: a list of them, or one for all."""
    values = np.atleast_1d(np.asarray(value, float))
    if values.size not in (1, len(names)):
        some = ', '.join(names[:3])
        raise OptionError(f'{key}: {values.size} numbers, expected 1 or {len(names)} ({some} ...)')
    return np.broadcast_to(values, (len(names),)).copy()
