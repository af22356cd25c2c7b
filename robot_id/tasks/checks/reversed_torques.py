"""
All torques reversed, where no inertias of a robot file tell: bodies of either sign are tried.

With -tau the free model is as good with -chi, but for friction. Only parameters that a robot can
have (pseudo-inertias, rotors and friction positive) explain the torques of one sign alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import RobotIdError
from robot_id.regression.consistency import Fitter
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.trial import CLEAR

Array = NDArray[np.float64]

# Torques that neither sign explains show no sign.
UNKNOWN = 0.5


def detect(case: Case) -> list[Finding]:
    """Return the finding of reversed torques of a robot file without inertias."""
    if case.models.prior is not None:
        return []
    try:
        as_is, turned = (consistent_error(case, sign) for sign in (1.0, -1.0))
    except (RobotIdError, np.linalg.LinAlgError):
        return []
    if turned > UNKNOWN or as_is < CLEAR * turned:
        return []
    signs = (-1.0,) * case.robot.n
    return [
        Finding(
            'torque_sign',
            None,
            float(np.clip(1.0 - 0.3 * CLEAR * turned / as_is, 0.7, 0.99)),
            'all torques have the wrong sign: bodies with positive masses and inertias leave '
            f'{100 * as_is:.3g} % of them unexplained, with the opposite sign '
            f'{100 * turned:.3g} %',
            f'torque.scale: [{", ".join(f"{s:g}" for s in signs)}] in the mapping (times the '
            'present value)',
            Remedy(torque_scale=signs),
        )
    ]


def consistent_error(case: Case, sign: float) -> float:
    """
    Return the share of the torques that no physically consistent parameters explain.

    :param sign: of the torques.
    """
    models, s = case.models, case.signals
    W, Y, size = models.free.equations(s)
    left = models.nominal.free
    weights = 1.0 / (size * np.clip(left, 0.02, 1.0))
    A, y = (W * weights[:, None]).reshape(-1, W.shape[2]), (sign * Y * weights).ravel()
    R = np.asarray(np.linalg.qr(np.column_stack([A, y]), mode='r'))
    b = W.shape[2]
    fitter = Fitter(models.free.tilted)
    chi = fitter.fit(R[: b + 1, :b], R[: b + 1, b]).chi
    rest = (sign * Y - W @ chi) / size
    counts = s.valid_equations.sum(axis=0)
    share = np.sqrt((rest**2).sum(axis=0) / counts)[s.moving]
    return float(np.sqrt((share**2).mean()))
