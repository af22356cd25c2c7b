"""Samples that are held: a logger that is faster than its source repeats what it got last."""

from __future__ import annotations

from robot_id.data.cleaning.held_samples import hold
from robot_id.data.dataset import Dataset
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.finding import Finding

KIND = 'held_samples'


def detect(case: Case) -> tuple[list[Finding], Case]:
    """Find positions or torques of all joints that change only once in several samples."""
    details = [repair.detail for repair in case.dataset.repairs if repair.kind == KIND]
    if details:
        return [_finding(min(details), 'nothing to change')], case
    counts = {name: held(case.dataset, name) for name in ('position', 'torque')}
    parts = [
        f'each {name} is there {count:.3g} times' for name, count in counts.items() if count > 1
    ]
    if not parts:
        return [], case
    rate = case.dataset.rate
    own = rate / max(counts.values())
    seen = f'{" and ".join(parts)}: recorded at {rate:.4g} Hz, made at {own:.4g} Hz'
    return [_finding(seen, f'rate_hz: {own:.6g} in the mapping takes each once')], case


def held(dataset: Dataset, name: str) -> float:
    """Return how often each sample of a channel is there in all runs, 1 where all are new."""
    found = [hold(getattr(run, name)) for run in dataset.runs]
    return min((count for count in found if count), default=1.0)


def _finding(seen: str, fix: str) -> Finding:
    return Finding(
        KIND,
        None,
        0.97,
        f'{seen}: between the changes nothing was measured, and the steps look like noise',
        f"{fix}; record at the robot's own rate",
    )
