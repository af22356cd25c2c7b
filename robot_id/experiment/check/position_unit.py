"""The unit of positions: degrees, turns or millirad for rad, mm or cm for m, and the reverse."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

import numpy as np

from robot_id.experiment.check.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.experiment.check.finding import Finding, Remedy
from robot_id.experiment.check.hypothesis import Hypothesis

THRESHOLD = 1.0
TURNING = {'deg': pi / 180, 'mrad': 1e-3, 'rev': 2 * pi}
SLIDING = {'mm': 1e-3, 'cm': 1e-2}
# Plausible range of a joint, rad and m.
LARGEST, SMALLEST = 4 * pi, 0.02
# Usual range of a joint: only a range outside of it suggests a wrong unit.
USUAL = (0.35, 2 * pi)


def propose(case: Case) -> Iterator[Proposal]:
    """Try other units of all turning, and of all sliding joints, where they are plausible."""
    for flags, units, si in ((~case.slides, TURNING, 'rad'), (case.slides, SLIDING, 'm')):
        if not flags.any():
            continue
        reach = float(np.ptp(case.signals.q, axis=0)[flags].max())
        for unit, factor in units.items():
            for scale, name in ((factor, unit), (1.0 / factor, si)):
                if not SMALLEST <= reach * scale <= LARGEST:
                    continue
                if name == si and USUAL[0] < reach < USUAL[1]:
                    continue
                scales = tuple(float(s) for s in np.where(flags, scale, 1.0))
                yield proposal(
                    case,
                    'position_unit',
                    Hypothesis(position_scale=scales),
                    _finding(case, name, reach, scales),
                    THRESHOLD,
                )


def _finding(case: Case, unit: str, reach: float, scales: tuple[float, ...]):  # type: ignore[no-untyped-def]
    def make(found: Proposal) -> Finding:
        return Finding(
            'position_unit',
            None,
            certainty(found.gain, found.threshold),
            f'positions span {reach:.4g}; taken as {unit} the {improvement(case, found)}',
            f'position.unit: {unit} in the mapping (and velocity.unit: {unit}/s)',
            Remedy(position_scale=scales),
        )

    return make
