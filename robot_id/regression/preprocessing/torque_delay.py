"""
The delay between torque and motion, from the fit itself.

A torque that is recorded delta late is Y(t) = tau(t - delta), so Y = W chi - delta dY/dt to first
order: one more column, common to all joints, gives delta with its deviation. The zero-order hold
of a sampled controller acts half a sample after its command was recorded: delta = -T/2. With one
such column for each joint the offsets of the joints are found, and whether they differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.triangular import triangle
from robot_id.regression.uncertainty.standard_errors import least_squares_covariance, weighted_rows

Array = NDArray[np.float64]
# An offset within this many deviations counts as zero.
SIGNIFICANT = 3.0
# Samples around -1/2 that mean the hold of a controller at the rate of the recording: half of the
# way to -1/4, that of one twice as fast. Noise that the loop feeds back into its torque moves the
# estimate by a part of that.
HOLD = 0.125
# Samples by which torques are clearly late.
LATE = 0.25
# Samples by which a joint must differ from the others to get its own offset.
HALF = 0.5
# Share of what is left of a joint's torques that an offset of its own must explain: friction and
# elasticity that are not modelled look like small delays, at each joint another one.
WORTH = 0.75
# Of a motion, in which inertias are looked at.
POSTURES = 50
# What a correction may leave of a delay of a joint, relative to it.
GONE = 0.5


@dataclass(frozen=True)
class TimeOffset:
    """
    The delay of the recorded torque.

    :param seconds: the estimate; negative where the torque is recorded early.
    :param deviation: its standard deviation, s.
    :param step: sampling time, s.
    :param misfit: geometric mean over the joints of ||rho_j|| / ||Y_j|| with it.
    :param joints: the offset of each joint and its deviation, s, by name; none for one joint.
    :param shares: of the squared torques left to each joint, what its own offset explains.
    """

    seconds: float
    deviation: float
    step: float
    misfit: float
    joints: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def differ(self) -> bool:
        """Whether a joint has an offset of its own."""
        return any(self._alone(name) for name in self.joints)

    def _alone(self, name: str) -> bool:
        """
        Whether a joint is off by more than half a sample, and its deviation, against all.

        It must also explain most of what is left of its torques.
        """
        value, deviation = self.joints[name]
        apart = abs(value - self.seconds) > max(SIGNIFICANT * deviation, HALF * self.step)
        return apart and self.shares.get(name, 1.0) >= WORTH

    @property
    def largest(self) -> float:
        """The largest offset of any joint, or of all, s."""
        return max([abs(self.seconds), *(abs(value) for value, _ in self.joints.values())])

    def plus(self, rest: TimeOffset) -> TimeOffset:
        """
        Return this offset plus the rest that was found after its correction.

        A delay that is taken out is gone, however uncertain it was: the rest is found on the same
        rows with the same noise. A joint whose rest is not much smaller than what was taken out
        has no delay but another defect, such as friction that is not in the model: it gets what
        the other joints have in common.
        """
        if self.differ and not rest.joints:
            return self
        if not self.differ:
            joints = {name: (self.seconds + v, d) for name, (v, d) in rest.joints.items()}
            return replace(rest, seconds=self.seconds + rest.seconds, joints=joints)
        before = dict(zip(self.joints, self.of_joints()))
        total = {name: (before[name] + v, d) for name, (v, d) in rest.joints.items()}
        gone = {
            name: total[name]
            for name, (v, d) in rest.joints.items()
            if abs(v) <= max(GONE * abs(before[name]), SIGNIFICANT * d * (not self._alone(name)))
        }
        common = _mean(gone or total)
        joints = {name: gone.get(name, common) for name in total}
        seconds, deviation = common
        return replace(
            rest, seconds=seconds, deviation=deviation, joints=joints, shares=self.shares
        )

    def of_joints(self) -> tuple[float, ...]:
        """
        Return the offset of each joint, 0 where it is not significant.

        Joints without one of their own have in common what they say together.
        """
        together = {name: pair for name, pair in self.joints.items() if not self._alone(name)}
        common = _mean(together) if together else (0.0, 0.0)
        pairs = [common if name in together else pair for name, pair in self.joints.items()]
        return tuple(
            value if abs(value) > SIGNIFICANT * deviation else 0.0 for value, deviation in pairs
        )

    @property
    def significant(self) -> bool:
        """Whether it is more than its own uncertainty."""
        return bool(abs(self.seconds) > SIGNIFICANT * self.deviation)

    @property
    def held(self) -> bool:
        """
        Whether it is half a sample early: the command is held until the next one.

        Recordings are often thinned: a command that is held for half of a sample is a quarter of
        it early. An offset that agrees with the hold within its own uncertainty, and that is
        nearer to it than to a quarter, is that of the hold: what an estimate from few data would
        add to it is noise.
        """
        samples = self.seconds / self.step
        near = abs(self.seconds + 0.5 * self.step) <= SIGNIFICANT * self.deviation
        at_hold = abs(samples + 0.5) <= HOLD or (near and samples <= HOLD - 0.5)
        return self.significant and at_hold and not self.differ

    @property
    def undecided(self) -> bool:
        """Whether it cannot be told from zero."""
        return not self.differ and not self.significant

    @property
    def used(self) -> tuple[float, float]:
        """
        The common offset to correct and its deviation, s.

        Where it is undecided, measured torques (0), a held command (-T/2) and one that is held for
        a part of a sample are possible. These lie within T/4 of their middle, and the estimate is
        drawn to it by as much: 1 / d^2 = 1 / deviation^2 + 1 / (T/4)^2. It is corrected and
        counts with its deviation: gravity that is late looks like viscous friction.
        """
        if self.undecided:
            quarter = 0.25 * self.step
            share = quarter**2 / (quarter**2 + self.deviation**2)
            return share * (self.seconds + quarter) - quarter, self.deviation * np.sqrt(share)
        if not self.held and not self.differ:
            return self.seconds, self.deviation
        return 0.0, 0.0

    @property
    def late(self) -> bool:
        """Whether the torques, or those of a joint, are recorded clearly after the positions."""
        seconds = self.of_joints() if self.differ else (self.seconds * self.significant,)
        return max(seconds) > LATE * self.step

    def describe(self) -> str:
        """Return what was found, in words."""
        if self.differ:
            each = ', '.join(
                f'{name} {1e3 * v:.3g} +- {1e3 * d:.1g} ms' for name, (v, d) in self.joints.items()
            )
            most = max(abs(v) for v, _ in self.joints.values()) / self.step
            note = f'; up to {most:.1f} samples: look for a delay' if most > 2.0 else ''
            return f'torque delay: it lags the position (leads where negative) by {each}{note}'
        size = f'{1e3 * abs(self.seconds):.3g} +- {1e3 * self.deviation:.1g} ms'
        samples = self.seconds / self.step
        if self.undecided:
            taken, deviation = (1e3 * value for value in self.used)
            return (
                f'torque delay: {1e3 * self.seconds:.2g} +- {1e3 * self.deviation:.1g} ms, no '
                f'more than chance: corrected by {taken:.2g} +- {deviation:.1g} ms'
            )
        if self.held:
            return (
                f'torque delay: it leads the position by {size}, the hold of a sampled '
                'controller: commands are averaged to the time of the positions'
            )
        way = 'lags' if self.seconds > 0.0 else 'leads'
        note = ''
        if abs(samples) > 2.0:
            note = f', {abs(samples):.1f} samples: look for a delay in the recording or a filter'
        return f'torque delay: it {way} the position by {size}{note}'


def _mean(joints: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Return the mean of the offsets of joints, weighted by their deviations, and its own."""
    values, deviations = np.array(list(joints.values())).T
    weights = np.maximum(deviations, np.finfo(float).tiny ** 0.25) ** -2
    return float(np.average(values, weights=weights)), float(np.sum(weights) ** -0.5)


def with_joints(
    found: TimeOffset, observation: Observation, kept: NDArray[np.bool_], weights: Array
) -> TimeOffset:
    """Return an offset with those of the single joints, as `estimate_offset` finds the common."""
    rows = weighted_rows(observation, kept, weights)
    if rows is None or observation.n == 1:
        return found
    G = [
        np.concatenate([g[:, :, :-1], g[:, :, -1:] * np.eye(observation.n)], axis=2)
        for g in rows[0]
    ]
    p = G[0].shape[2]
    whole = np.concatenate(
        [np.column_stack([g.reshape(-1, p), y.ravel()]) for g, y in zip(G, rows[1])]
    )
    R = triangle(whole)
    if not np.all(np.abs(np.diag(R)[:p]) > 1e-9 * np.linalg.norm(whole[:, :p], axis=0)):
        return found
    x = sl.solve_triangular(R[:p, :p], R[:p, p])
    residual = [y - g @ x for g, y in zip(G, rows[1])]
    covariance = least_squares_covariance(G, residual)
    deviations = np.sqrt(np.diag(covariance))
    own = x[-observation.n :]
    names = observation.robot.joint_names
    pairs = [(float(v), float(d)) for v, d in zip(own, deviations[-observation.n :])]
    # What is left of the column of an offset beside all others.
    inverse = sl.solve_triangular(R[:p, :p], np.eye(p))[-observation.n :]
    explained = ((own - found.seconds) / np.linalg.norm(inverse, axis=1)) ** 2
    left = np.sum(np.concatenate(residual) ** 2, axis=0)
    shares = explained / np.maximum(explained + left, np.finfo(float).tiny)
    denied = _impossible(observation, kept, x[: -observation.n], deviations)
    together = fit_with_offset(observation, kept, weights) if denied.any() else None
    if together is not None:
        deviation = np.sqrt(np.diag(least_squares_covariance(together.G, together.residual)))
        denied &= ~_impossible(observation, kept, together.chi[kept], deviation)
    for j in np.flatnonzero(denied):
        pairs[j], shares[j] = (found.seconds, found.deviation), 0.0
    return replace(
        found, joints=dict(zip(names, pairs)), shares=dict(zip(names, map(float, shares)))
    )


def _impossible(
    observation: Observation, kept: NDArray[np.bool_], values: Array, deviations: Array
) -> NDArray[np.bool_]:
    """
    (n,) joints whose inertia, or that of their rotor, is negative.

    Viscous friction that leads by delta is an inertia of Fv delta: friction that turns before the
    velocity does takes the inertia of a light joint for a delay.

    :param values: of the parameters that are kept.
    :param deviations: of these, and of what follows them.
    """
    robot, b = observation.robot, kept.size
    chi, deviation = np.zeros(b), np.full(b, np.inf)
    chi[kept], deviation[kept] = values, deviations[: len(values)]
    q = np.concatenate([run.position for run in observation.dataset.runs])
    M = dynamics.inertia_matrix(robot, chi, q[:: max(len(q) // POSTURES, 1)])
    rotor = [
        name in robot.base.names
        and bool((chi < -SIGNIFICANT * deviation)[robot.base.names.index(name)])
        for name in (f'Ia{j + 1}' for j in range(robot.n))
    ]
    return np.asarray((np.diagonal(M, axis1=1, axis2=2).mean(axis=0) <= 0.0) | rotor)


def estimate_offset(
    observation: Observation, kept: NDArray[np.bool_], weights: Array, step: float
) -> TimeOffset | None:
    """
    Estimate the offset along with the parameters by weighted least squares.

    :param observation: after its first pass.
    :param kept: (b,) parameters that the motion excites.
    :param weights: (n,) weights of the joints.
    :param step: sampling time of the recording, s.
    :return: None where the rows were too many to keep, or no torque changes.
    """
    solved = fit_with_offset(observation, kept, weights)
    if solved is None:
        return None
    deviation = float(np.sqrt(least_squares_covariance(solved.G, solved.residual)[-1, -1]))
    return TimeOffset(solved.seconds, deviation, step, solved.misfit)


@dataclass(frozen=True)
class OffsetFit:
    """
    A fit with an offset.

    :param G: for each run (M, n, p + 1) weighted rows, that of the offset last.
    :param residual: for each run (M, n) weighted residuals.
    :param chi: (b,) the parameters, zero where not kept.
    :param seconds: the offset.
    :param misfit: see TimeOffset.
    """

    G: list[Array]
    residual: list[Array]
    chi: Array
    seconds: float
    misfit: float


def fit_with_offset(
    observation: Observation, kept: NDArray[np.bool_], weights: Array
) -> OffsetFit | None:
    """Fit parameters and offset by weighted least squares; arguments as above."""
    found = weighted_rows(observation, kept, weights)
    if found is None or not any(g[:, :, -1].any() for g in found[0]):
        return None
    G, Y = found
    p = G[0].shape[2]
    R = triangle(
        np.concatenate([np.column_stack([g.reshape(-1, p), y.ravel()]) for g, y in zip(G, Y)])
    )
    x = sl.solve_triangular(R[:p, :p], R[:p, p])
    residual = [y - g @ x for g, y in zip(G, Y)]
    torque = np.linalg.norm(np.concatenate(Y), axis=0)
    shares = np.linalg.norm(np.concatenate(residual), axis=0)[torque > 0.0] / torque[torque > 0.0]
    misfit = float(np.exp(np.mean(np.log(np.maximum(shares, 1e-12)))))
    chi = np.zeros(kept.size)
    chi[kept] = x[:-1]
    return OffsetFit(G, residual, chi, float(x[-1]), misfit)
