"""The computed torque controller, one sample at a time."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.control.laws.computed_torque import (
    FROM,
    NOW,
    TO,
    ComputedTorqueSettings,
    error_gains,
    fresh_memory,
)
from robot_id.control.runtime.bound_torque import MEASURED, BoundTorque
from robot_id.control.runtime.guards import not_positive, positive_everywhere
from robot_id.dynamics.kernels.tree import split_parameters, tree_of
from robot_id.exceptions import ControlError
from robot_id.ranges import Range
from robot_id.robot import Loop, Robot

Array = NDArray[np.float64]
# A parameter update moves the torque by at most this share of its limit in one sample.
JUMP_SHARE = 0.02
# Seconds over which a model moves, and Ki / Kp in 1/s: for scripts, services and the node.
BLEND_S, INTEGRAL = Range(0.0, 60.0), Range(0.0, 1000.0)
_INPUTS = ('reference', 'reference velocity', 'reference acceleration', 'measured position')


class ComputedTorque:
    """
    tau = M_hat(qr) w + N_hat(qr, dqr), w = Kp e + Kv de + Ki z + ddqr, Kp = wn^2, Kv = 2 zeta wn.

    The velocity is the backward difference of the measured position (eq. 25 of paper 003). Torques
    are limited; the integral z, where it is used, is corrected by back-calculation. New parameters
    are blended in over a time, and in no sample change the torque by more than a bound.

    :param robot: the Robot.
    :param parameters: (b,) start of the model; None takes the a priori values of the robot file.
    :param loop: a loop of the robot file by its name, or a Loop; its law must be computed_torque.
    :param measured: M_hat and N_hat at the measured q, dq instead of the reference.
    :param integral: (n,) or one number, rad/s: Ki = integral * Kp; 0 as in the paper.
    :param torque_limit: (n,); None takes the limits of the robot file.
    :param torque_jump: (n,) or one number, N.m or N: largest torque change by a parameter update
        in one sample; None takes 2 % of the torque limit.
    :param blend_s: seconds over which new parameters are blended in.
    """

    def __init__(
        self,
        robot: Robot,
        parameters: ArrayLike | None = None,
        loop: str | Loop = 'learning',
        *,
        measured: bool = False,
        integral: ArrayLike = 0.0,
        torque_limit: ArrayLike | None = None,
        torque_jump: ArrayLike | None = None,
        blend_s: float = 0.1,
    ) -> None:
        self.robot = robot
        self.loop = robot.loop(loop) if isinstance(loop, str) else loop
        if self.loop.law != 'computed_torque':
            raise ControlError(
                f"{robot.name}: the loop has the law '{self.loop.law}', computed torque needs "
                f"'computed_torque'",
                code='wrong_law',
            )
        BLEND_S.check(blend_s, 'blend_s')
        self.period = 1.0 / self.loop.rate_hz
        self.blend_s = float(blend_s)
        kp, kv = error_gains(self.loop)
        limit = robot.limits.torque if torque_limit is None else torque_limit
        limit = self._vector('torque_limit', limit, infinite=True)
        jump = JUMP_SHARE * limit if torque_jump is None else torque_jump
        jump = self._vector('torque_jump', jump, infinite=True)
        for what, values in (('torque_limit', limit), ('torque_jump', jump)):
            if np.any(values <= 0.0):
                raise ControlError(
                    f'{robot.name}: {what} must be positive, got {values.min():g}',
                    code='not_positive',
                )
        ki = self._vector('integral', integral)
        for value in ki:
            INTEGRAL.check(value, 'integral')
        self.settings = ComputedTorqueSettings(
            measured=bool(measured),
            averaged=self.loop.velocity == 'averaged',
            slope=float(robot.description.coulomb_slope),
            kp=kp,
            kv=kv,
            ki=ki * kp,
            limit=limit,
            jump=jump,
        )
        start = self._checked(robot.a_priori() if parameters is None else parameters)
        n = robot.n
        self.memory = fresh_memory(robot, start, self.blend_s)
        self._from, self._to = start, start
        # Reference, its derivatives, position; measured velocity, NaN for none.
        self.inputs = np.zeros((5, n))
        self.inputs[MEASURED] = np.nan
        self._tau = np.zeros(n)
        self.bound_torque = BoundTorque(tree_of(robot), self.settings, self.memory)
        # A step on a copy: what is compiled on the first call is compiled before the robot moves.
        copy.deepcopy(self.bound_torque)(self.inputs, self.period, np.empty(n))

    def step(
        self,
        position: ArrayLike,
        reference: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        elapsed: float | None = None,
    ) -> Array:
        """
        Return the limited torques (n,) of this sample.

        :param position: (n,) measured.
        :param reference: (n,) reference position; velocity, acceleration (n,) likewise.
        :param elapsed: seconds since the last sample; None for the period of the loop.
        :raises ControlError: on values that are not finite or not n; the state stays as it was.
        """
        for i, values in enumerate((reference, velocity, acceleration, position)):
            if np.shape(values) != self._tau.shape:
                self._refuse_shape(i, values)
            self.inputs[i] = values
        return self._answer(elapsed)

    def step_to(
        self,
        point: Array,
        position: Array,
        elapsed: float | None = None,
        velocity: Array | None = None,
    ) -> Array:
        """
        `step` for arrays whose shapes are known to be right.

        :param point: (3, n) reference position, velocity and acceleration.
        :param position: (n,) measured.
        :param velocity: (n,) measured, NaN for a joint whose velocity is the difference of its
            positions; None for all of them.
        """
        self.inputs[MEASURED] = np.nan if velocity is None else velocity
        self.inputs[:3] = point
        self.inputs[3] = position
        return self._answer(elapsed)

    def _answer(self, elapsed: float | None) -> Array:
        h = self.period if elapsed is None else float(elapsed)
        if not self.bound_torque(self.inputs, h, self._tau):
            self._refuse_values(h)
        return self._tau.copy()

    def reset(self, position: ArrayLike | None = None, velocity: ArrayLike | None = None) -> None:
        """
        Forget the last samples and the integral; the parameters stay.

        :param position: (n,) measured now; None takes the first sample to move as its reference.
        :param velocity: (n,) now; zero when None.
        """
        self.memory.integral[:] = 0.0
        if position is None:
            self.memory.before[:] = np.nan
            return
        q = self._vector('position', position)
        dq = np.zeros_like(q) if velocity is None else self._vector('velocity', velocity)
        self.memory.before[0] = q - self.period * dq
        self.memory.before[1] = q - 2.0 * self.period * dq

    @property
    def parameters(self) -> Array:
        """(b,) the model in use, part of the way during an update."""
        if not self.blending:
            return self._to.copy()
        return self._from + self.memory.blend[0] * (self._to - self._from)

    @property
    def target(self) -> Array:
        """(b,) the model at the end of the last update."""
        return self._to.copy()

    @property
    def blending(self) -> bool:
        """Whether an update is in progress."""
        return bool(self.memory.blend[0] < 1.0)

    def set_parameters(
        self, parameters: ArrayLike, at_once: bool = False, blend_s: float | None = None
    ) -> None:
        """
        Move the model to new parameters, over blend_s seconds and within the torque jump.

        :param at_once: no blending, for a robot that is not under control yet.
        :param blend_s: from now on; None leaves it as it is.
        """
        target = self._checked(parameters)
        if blend_s is not None:
            BLEND_S.check(blend_s, 'blend_s')
            self.memory.blend[1] = blend_s
        now = self.parameters
        inertia, values = split_parameters(self.robot, target)
        m = self.memory
        m.inertia[FROM], m.values[FROM] = split_parameters(self.robot, now)
        m.inertia[TO], m.values[TO] = inertia, values
        m.blend[0] = 0.0
        if at_once:
            m.inertia[NOW], m.values[NOW] = inertia, values
            m.blend[0] = 1.0
        self._from, self._to = now, target

    def check_inertia(self, positions: ArrayLike | None = None, physical: bool = True) -> bool:
        """
        Refuse a model that cannot control a motion: M_hat must be positive definite all along.

        :param positions: (N, n) of the reference; None: in every posture.
        :param physical: in every posture: only what a physically consistent robot has, which
            proves it.
        :returns: whether it holds in every posture, not only at the searched ones.
        :raises ControlError: with the position where it is not.
        """
        if positions is None:
            return positive_everywhere(self.robot, self._to, physical)
        rows = np.atleast_2d(np.asarray(positions, float))
        reason = not_positive(self.robot, self._to, rows)
        if reason:
            raise ControlError(
                f'{self.robot.name}: {reason}: give better parameters to start with',
                code='not_positive_definite',
            )
        return False

    def saturated(self) -> NDArray[np.bool_]:
        """(n,) whether the last torque was at its limit."""
        return np.abs(self._tau) >= self.settings.limit

    def _checked(self, parameters: ArrayLike) -> Array:
        chi = np.array(parameters, float)
        names = self.robot.base.names
        if chi.shape != (len(names),):
            raise ControlError(
                f'{self.robot.name}: {chi.size} parameters, expected {len(names)} '
                f'({names[0]} ... {names[-1]})',
                code='parameter_count',
            )
        bad = np.flatnonzero(~np.isfinite(chi))
        if bad.size:
            raise ControlError(
                f'{self.robot.name}: parameter {names[bad[0]]} is not finite', code='not_finite'
            )
        return chi

    def _vector(self, what: str, values: ArrayLike, infinite: bool = False) -> Array:
        x = np.array(values, float)
        n = self.robot.n
        x = np.full(n, float(x)) if x.ndim == 0 else x
        if x.shape != (n,):
            raise ControlError(
                f'{self.robot.name}: {what} has {x.size} values for {n} joints', code='joint_count'
            )
        if np.any(np.isnan(x)) or (not infinite and np.any(np.isinf(x))):
            raise ControlError(f'{self.robot.name}: {what} is not finite')
        return x

    def _refuse_shape(self, which: int, values: ArrayLike) -> None:
        raise ControlError(
            f'{self.robot.name}: the {_INPUTS[which]} has shape {np.shape(values)}, expected '
            f'({self.robot.n},)',
            code='shape',
        )

    def _refuse_values(self, h: float) -> None:
        bad = np.argwhere(~np.isfinite(self.inputs[:MEASURED]))
        if bad.size:
            which, j = bad[0]
            joint = self.robot.joint_names[j]
            raise ControlError(
                f"{self.robot.name}: the {_INPUTS[which]} of joint '{joint}' is not finite",
                joint=joint,
            )
        raise ControlError(
            f'{self.robot.name}: {h!r} s since the last sample, must be positive',
            code='not_positive',
        )
