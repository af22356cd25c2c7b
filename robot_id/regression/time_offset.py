"""
The time offset between torque and motion, from the fit itself.

A torque that is recorded delta late is Y(t) = tau(t - delta), so Y = W chi - delta dY/dt to first
order: one more column, common to all joints, tells delta with its deviation. The zero-order hold
of a sampled controller acts half a sample after its command was recorded: delta = -T/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.regression.deviations import least_squares_covariance, weighted_rows
from robot_id.regression.observation import Observation
from robot_id.regression.triangular import triangle

Array = NDArray[np.float64]
# An offset within this many deviations is none.
SIGNIFICANT = 3.0
# Samples around -1/2 that mean the hold of a sampled controller: noise that the loop feeds back
# into its torque moves the estimate by that much.
HOLD = 0.25


@dataclass(frozen=True)
class TimeOffset:
    """
    How late the recorded torque is.

    :param seconds: the estimate; negative where the torque is recorded early.
    :param deviation: its standard deviation, s.
    :param step: sampling time, s.
    :param misfit: geometric mean over the joints of ||rho_j|| / ||Y_j|| with it.
    """

    seconds: float
    deviation: float
    step: float
    misfit: float

    @property
    def significant(self) -> bool:
        """Whether it is more than its own uncertainty."""
        return bool(abs(self.seconds) > SIGNIFICANT * self.deviation)

    @property
    def held(self) -> bool:
        """Whether it is half a sample early: the command is held until the next one."""
        return self.significant and abs(self.seconds / self.step + 0.5) <= HOLD

    def describe(self) -> str:
        """Return what was found, in words."""
        size = f'{1e3 * abs(self.seconds):.3g} +- {1e3 * self.deviation:.1g} ms'
        samples = self.seconds / self.step
        if not self.significant:
            return f'time offset: none ({1e3 * self.seconds:.2g} +- {1e3 * self.deviation:.1g} ms)'
        if self.held:
            return (
                f'time offset: torque recorded {size} early, the hold of a sampled controller: '
                'commands are averaged to the time of the positions'
            )
        way = 'late' if self.seconds > 0.0 else 'early'
        note = ''
        if abs(samples) > 2.0:
            note = f', {abs(samples):.1f} samples: look for a delay in the recording or a filter'
        return f'time offset: torque recorded {size} {way} against the motion{note}'


def estimate_offset(
    observation: Observation, kept: NDArray[np.bool_], weights: Array, step: float
) -> TimeOffset | None:
    """
    Estimate the offset along with the parameters by weighted least squares.

    :param observation: after its first pass.
    :param kept: (b,) parameters that the motion excites.
    :param weights: (n,) weights of the joints.
    :param step: sampling time of the recording, s.
    :return: None where the rows were too many to keep.
    """
    found = weighted_rows(observation, kept, weights)
    if found is None:
        return None
    G, Y = found
    p = G[0].shape[2]
    R = triangle(
        np.concatenate([np.column_stack([g.reshape(-1, p), y.ravel()]) for g, y in zip(G, Y)])
    )
    x = sl.solve_triangular(R[:p, :p], R[:p, p])
    residual = [y - g @ x for g, y in zip(G, Y)]
    deviation = float(np.sqrt(least_squares_covariance(G, residual)[-1, -1]))
    torque = np.linalg.norm(np.concatenate(Y), axis=0)
    shares = np.linalg.norm(np.concatenate(residual), axis=0)[torque > 0.0] / torque[torque > 0.0]
    misfit = float(np.exp(np.mean(np.log(np.maximum(shares, 1e-12)))))
    return TimeOffset(float(x[-1]), deviation, step, misfit)
