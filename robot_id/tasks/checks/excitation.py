"""A motion that is not rich enough: parameters act alike along it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.tasks.checks import position_unit
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.checks.hypothesis import Hypothesis

Array = NDArray[np.float64]

AS_IS = Hypothesis()
# Factor by which parameters are separated worse than by a random trajectory.
POORER = 50.0
# States of the random trajectory it is compared with: within this of the middle, rad and m.
STATES, REACH = 400, 1.0


def detect(case: Case, change: Hypothesis = AS_IS) -> list[Finding]:
    """
    Compare the condition of the equations with that of a random trajectory of the same robot.

    Positions beyond the range of any joint are a problem of the unit, not of the motion.

    :param change: of the recording, after which the motion is judged.
    """
    motion = change.motion(case.signals.spread)
    span = np.ptp(motion[0], axis=0)
    if span.max() > position_unit.LARGEST:
        return []
    own, usual = conditions(case, motion)
    if own < POORER * usual:
        return []
    return [
        Finding(
            'excitation',
            None,
            float(np.clip(1.0 - 0.3 * POORER * usual / own, 0.7, 0.99)),
            f'the condition number of the equations is {own:.3g}, of a random trajectory of this '
            f'robot {usual:.3g}; the joints move by {span.min():.2g} to {span.max():.2g} rad or '
            'm: too little, or all alike, to tell the parameters apart',
            'robot-id excite --robot R --out motion.csv plans a motion that does',
        )
    ]


def conditions(case: Case, motion: tuple[Array, Array, Array]) -> tuple[float, float]:
    """
    Return the condition numbers of the recorded and of a random motion, columns of size 1.

    :param motion: q, dq and ddq (S, n).
    """
    models, s = case.models, case.signals
    size = models.free.equations(s)[2]
    rng = np.random.default_rng(0)
    middle = np.median(motion[0], axis=0)
    usual = (
        middle + rng.uniform(-REACH, REACH, (STATES, s.n)),
        rng.normal(0.0, 1.0, (STATES, s.n)),
        rng.normal(0.0, 3.0, (STATES, s.n)),
    )
    own, best = (
        dynamics.regressor(models.robot, q, dq, ddq, standard=True)[:, :, models.free.columns]
        for q, dq, ddq in (motion, usual)
    )
    return _condition(own, size), _condition(best, size)


def _condition(W: Array, size: Array) -> float:
    """Return the condition number, columns that no motion reaches left out."""
    A = (W / size[:, None]).reshape(-1, W.shape[2])
    norms = np.linalg.norm(A, axis=0)
    live = norms > 1e-12 * norms.max()
    values = np.linalg.svd(A[:, live] / norms[live], compute_uv=False)
    # Combinations that this gravity does not show at all do not depend on the motion.
    values = values[values > 1e-9 * values[0]]
    return float(values[0] / values[-1])
