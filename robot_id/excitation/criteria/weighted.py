"""The condition number of Phi = W diag(chi_bar): relative accuracy, eq. 9 of paper 004."""

from __future__ import annotations

from robot_id.excitation.criteria.condition import (
    condition,
    log_condition_of_factor,
    smooth_log_condition,
)
from robot_id.excitation.criteria.criterion import Criterion

CRITERION = Criterion(
    name='weighted',
    label='cond(Phi)',
    key='condition_number_weighted',
    weighted=True,
    figure=condition,
    smooth=smooth_log_condition,
    direct=log_condition_of_factor,
)
