"""Options of the learner, for studies and for the node `ctc_controller`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from robot_id.ranges import Frequency, Range, check

Window = Annotated[float, Range(1e-3, 3600.0)]


@dataclass(frozen=True)
class IlicOptions:
    """
    What the learner requires of a window, and how often it learns.

    :param window_s: Window of ILIC, a multiple of the cycle time for a cyclic motion [s]; default:
        the duration of the robot file's motion.
    :param update_s: Time between two updates [s]; default: the window.
    :param equations_hz: Rate after the decimation, whose filter cuts off at 0.4 times it [Hz];
        default: 5 Hz as in the paper, more where a window would give less than 5 equations for
        each parameter.
    :param sigma_max: Update only parameters with a smaller standard deviation [%].
    :param smallest_inertia: The eigenvalues of a new M_hat against the current one must exceed it.
    :param largest_condition: Of W with columns of norm 1; beyond it a direction counts as not
        excited.
    :param saturated_share: A window with a larger share of samples at a torque limit is refused.
    :param physical: Take and learn only physically consistent parameters, which keeps M(q)
        positive definite in every posture; false: a search over postures in place of the proof.
    """

    window_s: Window | None = None
    update_s: Window | None = None
    equations_hz: Frequency | None = None
    sigma_max: Annotated[float, Range(10.0, 30.0)] = 15.0
    smallest_inertia: Annotated[float, Range(0.0, 0.999)] = 0.02
    largest_condition: Annotated[float, Range(1.0, 1e15)] = 1e4
    saturated_share: Annotated[float, Range(0.0, 1.0)] = 0.1
    physical: bool = False

    def __post_init__(self) -> None:
        check(self)
