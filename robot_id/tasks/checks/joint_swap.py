"""Two joints exchanged: their torques, their positions, or both."""

from __future__ import annotations

from collections.abc import Iterator

from robot_id.tasks.checks.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis, exchanged

THRESHOLD = 1.0


def propose(case: Case) -> Iterator[Proposal]:
    """Try all pairs."""
    n = case.robot.n
    for i in range(n):
        for j in range(i + 1, n):
            columns = exchanged(n, i, j)
            for what, hypothesis in {
                'torques': Hypothesis(torque_columns=columns),
                'positions': Hypothesis(position_columns=columns),
                'positions and torques': Hypothesis(columns, columns),
            }.items():
                make = _finding(case, i, j, what, hypothesis)
                yield proposal(case, 'joint_swap', hypothesis, make, THRESHOLD, (i, j))


def _finding(case: Case, i: int, j: int, what: str, hypothesis: Hypothesis):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        keys = [
            key
            for key, columns in (
                ('position.columns', hypothesis.position_columns),
                ('torque.columns', hypothesis.torque_columns),
            )
            if columns is not None
        ]
        return Finding(
            'joint_swap',
            case.names[i],
            certainty(found.gain, found.threshold),
            f"the {what} of '{case.names[i]}' and '{case.names[j]}' are exchanged: in the right "
            f'order the {improvement(case, found)}',
            f'exchange the entries {i + 1} and {j + 1} of {" and ".join(keys)} in the mapping',
            Remedy(
                position_columns=hypothesis.position_columns,
                torque_columns=hypothesis.torque_columns,
            ),
        )

    return make
