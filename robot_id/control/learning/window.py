"""The moving window of ILIC: samples of the reference and of the torques, and their equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.exceptions import ControlError
from robot_id.regression.rows.sampling import decimated
from robot_id.regression.rows.wide_regressor import WideRegressor
from robot_id.regression.solvers.triangular import JointFactors, RowFactor
from robot_id.robot import Robot

Array = NDArray[np.float64]
Index = NDArray[np.intp]
CHUNK = 2048
# Equations on either side that the filter of a decimation reaches.
BORDER = 4


@dataclass(frozen=True)
class Window:
    """
    One window, oldest sample first.

    :param end: number of samples seen by its end, since the start.
    :param position: (N, n) reference; velocity, acceleration likewise.
    :param torque: (N, n) what the drives were commanded, limits included.
    """

    end: int
    position: Array
    velocity: Array
    acceleration: Array
    torque: Array


class MovingWindow:
    """
    A ring buffer of the last `length` samples; a window is due every `every` samples.

    :param n: number of joints.
    """

    def __init__(self, n: int, length: int, every: int) -> None:
        self.n, self.length, self.every = n, length, every
        self.seen = 0
        self._filled = 0
        self._since = 0
        self._ring = np.empty((length, 4 * n))

    def clear(self) -> None:
        """Forget the samples, such as after a stop or a gap; the count goes on."""
        self._filled = self._since = 0

    def room(self) -> int:
        """Return how many samples may be added until the next window is due."""
        return max(self.length - self._filled, self.every - self._since)

    def add(self, rows: Array) -> bool:
        """Take in (N, 4 n) rows, N up to `room()`; return whether a window is due now."""
        kept = rows[-self.length :]
        at = (self.seen + len(rows) - len(kept)) % self.length
        head = min(self.length - at, len(kept))
        self._ring[at : at + head] = kept[:head]
        self._ring[: len(kept) - head] = kept[head:]
        self.seen += len(rows)
        self._filled = min(self._filled + len(rows), self.length)
        self._since += len(rows)
        return self.room() <= 0

    def take(self) -> Window:
        """Return a copy of the window, and wait for the next one."""
        at = self.seen % self.length
        rows = np.concatenate([self._ring[at:], self._ring[:at]])
        self._since = 0
        return Window(self.seen, *(np.ascontiguousarray(x) for x in np.split(rows, 4, axis=1)))


def as_rows(robot: Robot, *parts: ArrayLike) -> Array:
    """Return reference position, velocity, acceleration and torque side by side, (N, 4 n)."""
    columns = [np.atleast_2d(np.asarray(x, float)) for x in parts]
    shape = columns[0].shape
    if shape[1] != robot.n or any(x.shape != shape for x in columns):
        shapes = ', '.join(str(np.shape(x)) for x in parts)
        raise ControlError(
            f'{robot.name}: samples of shape {shapes}, expected (N, {robot.n})', code='shape'
        )
    rows = np.concatenate(columns, axis=1)
    bad = np.argwhere(~np.isfinite(rows))
    if bad.size:
        part, joint = divmod(int(bad[0, 1]), robot.n)
        what = ('position', 'velocity', 'acceleration', 'torque')[part]
        raise ControlError(
            f"{robot.name}: the {what} of joint '{robot.joint_names[joint]}' is not finite",
            joint=robot.joint_names[joint],
        )
    return rows


class ReferenceObservation:
    """
    Eq. 24 of paper 003: Y = W_r(qr, dqr, ddqr) chi + rho, filtered and decimated in parallel.

    Beyond the ends of the window the filter sees it go round, where it holds whole cycles, or else
    its mirror image, so that no single sample weighs much. Both are linear: Y = W chi stays exact.

    :param robot: the Robot.
    :param decimation: samples per equation.
    :param coulomb_slope: alpha of the friction, as in the controller.
    """

    def __init__(self, robot: Robot, decimation: int, coulomb_slope: float) -> None:
        self.robot = robot
        self.decimation = decimation
        self.coulomb_slope = coulomb_slope
        self.wide = WideRegressor(robot, coulomb_slope)

    def factors(self, window: Window) -> JointFactors:
        """Return the triangular factors of [W_j Y_j] of every joint."""
        factor = self.decimation
        order = extended_order(len(window.torque), BORDER * factor, closes(window))
        parts = (window.position, window.velocity, window.acceleration, window.torque)

        def block(low: int, high: int) -> Array:
            at = order[low:high]
            return self.wide(*(x[at] for x in parts))

        pieces = decimated(block, 0, len(order), factor, chunk=CHUNK)
        rows = np.concatenate([piece for piece, _ in pieces])
        if factor > 1:
            rows = rows[BORDER : BORDER + -(-len(window.torque) // factor)]
        columns = self.wide.columns
        joints = [RowFactor(len(acting) + 1) for acting in columns]
        for j, joint in enumerate(joints):
            joint.add(np.column_stack(self.wide.of_joint(rows, j)))
        return JointFactors.of_factors(self.wide.names, columns, joints)


def extended_order(samples: int, edge: int, cyclic: bool) -> Index:
    """Return the indices of the window with `edge` more on either side, round or mirrored."""
    index = np.arange(-edge, samples + edge)
    if cyclic:
        return np.mod(index, samples)
    period = 2 * (samples - 1)
    index = np.mod(index, period)
    return np.minimum(index, period - index)


def closes(window: Window) -> bool:
    """Whether the reference goes on from the end of the window at its beginning."""
    steps = np.abs(np.diff(window.position, axis=0)).max(axis=0)
    jump = np.abs(window.position[0] - window.position[-1])
    speeds = np.abs(np.diff(window.velocity, axis=0)).max(axis=0)
    change = np.abs(window.velocity[0] - window.velocity[-1])
    return bool(np.all(jump <= 1.5 * steps) and np.all(change <= 1.5 * speeds))
