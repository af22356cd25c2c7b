"""Stamps of a logger: reports that the reader rebuilt the robot's clock."""

from __future__ import annotations

from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Report the clocks that the reader rebuilt from the motion."""
    details = [repair.detail for repair in case.dataset.repairs if repair.kind == 'stamps']
    if not details:
        return [], case
    more = f' (and {len(details) - 1} more pieces)' if len(details) > 1 else ''
    finding = Finding(
        'stamps',
        None,
        0.97,
        f"{details[0]}{more}: the stamps are the logger's, and the clock is rebuilt from "
        'position and velocity wherever it is read',
        "nothing to change; record the robot's own time where it has one, or give rate_hz "
        'and no time in the mapping',
    )
    return [finding], case
