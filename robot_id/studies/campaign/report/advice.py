"""Advice which method to use when, from the figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

from robot_id.report.html.markup import number
from robot_id.studies.campaign.summary import Group, Summary

# A method that fails more often than this is not advised.
ENOUGH_SUCCESS = 0.95
# Errors this close to the smallest one count as equal.
AS_GOOD = 1.1


def advice(summary: Summary) -> list[str]:
    """Return one line per condition."""
    return [_condition(groups) for groups in summary.conditions()]


def front(groups: Sequence[Group]) -> list[Group]:
    """Return the methods that no other one beats in both time and error, fastest first."""
    left = sorted(
        (g for g in groups if math.isfinite(g.torque_error)),
        key=lambda g: (g.seconds, g.torque_error),
    )
    found: list[Group] = []
    for group in left:
        if not found or group.torque_error < found[-1].torque_error:
            found.append(group)
    return found


def honest(group: Group) -> bool:
    """Whether the reported 95 % intervals hold, within the uncertainty of the runs."""
    return group.coverage_95.low <= 0.95 <= group.coverage_95.high


def _condition(groups: Sequence[Group]) -> str:
    title = groups[0].title
    usable = [
        g for g in groups if g.success.value >= ENOUGH_SUCCESS and math.isfinite(g.torque_error)
    ]
    if not usable:
        return f'{title}: no method succeeds in {100 * ENOUGH_SUCCESS:.0f} % of the runs'
    least = min(g.torque_error for g in usable)
    good = [g for g in usable if g.torque_error <= AS_GOOD * least]
    best = min(good, key=lambda g: g.seconds)
    text = (
        f'{title}: {best.method} ({best.torque_error:.3g} % on hold-out, '
        f'{number(1e3 * best.seconds, 3)} ms)'
    )
    others = [g.method for g in good if g is not best]
    text += f', as good but slower: {", ".join(others)}' if others else ''
    return text + '; ' + _intervals(best, usable)


def _intervals(best: Group, usable: Sequence[Group]) -> str:
    inside = f'{100 * best.coverage_95.value:.0f} %'
    if math.isnan(best.coverage_95.value):
        return 'it reports no deviations'
    if honest(best):
        return f'its 95 % intervals hold ({inside})'
    small = best.coverage_95.value < 0.95
    text = f'its 95 % intervals are too {"narrow" if small else "wide"} ({inside})'
    true = [g.method for g in usable if honest(g)]
    return text + (f', those of {", ".join(true)} hold' if true else '')
