"""Torques that are not there: a driver that fills `effort` with a constant."""

from __future__ import annotations

import numpy as np

from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Find joints that move while their torque is one and the same number."""
    tau = np.concatenate([run.torque for run in case.dataset.runs])
    q = np.concatenate([run.position for run in case.dataset.runs])
    still = np.flatnonzero((np.ptp(tau, axis=0) == 0.0) & (np.ptp(q, axis=0) > 0.0))
    if not still.size:
        return [], case
    everywhere = still.size == case.robot.n
    names = 'all joints' if everywhere else ', '.join(case.names[j] for j in still)
    return [
        Finding(
            'zero_torque',
            None if everywhere else case.names[int(still[0])],
            0.99,
            f'the torque of {names} is {tau[0, still[0]]:g} in every sample while it moves: the '
            'driver does not publish efforts',
            'joint_states of a driver with the effort state interface, or torque.columns in the '
            'mapping (see doc/how_to/what_effort_is.md)',
        )
    ], case
