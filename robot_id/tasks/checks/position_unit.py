"""The unit of positions: degrees, turns or millirad for rad, mm or cm for m, and the reverse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi

import numpy as np
from numpy.typing import NDArray

from robot_id.tasks.checks import mapped_units
from robot_id.tasks.checks.case import (
    Case,
    Proposal,
    certainty,
    improvement,
    proposal,
)
from robot_id.tasks.checks.finding import Finding, Remedy
from robot_id.tasks.checks.hypothesis import Hypothesis

THRESHOLD = 1.0
# Plausible range of a joint, rad and m.
LARGEST, SMALLEST = 4 * pi, 0.02
# Usual range of a joint: only a range outside of it suggests a wrong unit.
USUAL = (0.35, 2 * pi)
# Gear ratios of motor positions, and steps of the refinement (factors).
RATIOS = np.geomspace(2.0, 300.0, 15)
FINE = (1.15, 1.07, 1.03, 1.015)


def propose(case: Case) -> Iterator[Proposal]:
    """Try other units of all turning, and of all sliding joints, and gears, where plausible."""
    for flags, si in ((~case.robot.prismatic, 'rad'), (case.robot.prismatic, 'm')):
        if not flags.any():
            continue
        reach = float(np.ptp(case.signals.spread[0], axis=0)[flags].max())
        scales_of = _scales(case, si, reach)
        for unit, scale in scales_of.items():
            if SMALLEST <= reach * scale <= LARGEST:
                scales = _only(flags, scale)
                make = _finding(case, unit, reach, scales)
                change = Hypothesis(position_scale=scales)
                yield proposal(case, 'position_unit', change, make, THRESHOLD)
        if reach > LARGEST:
            yield from _gears(case, flags, reach, [1.0 / scale for scale in scales_of.values()])


def _scales(case: Case, si: str, reach: float) -> dict[str, float]:
    """
    Return units and the factors that they would put on the positions.

    Without a unit in the mapping, a wrong conversion may have been done before, from any unit.
    """
    sizes = mapped_units.others(case.dataset, 'position', si)
    found = {unit: 1.0 / size for unit, size in sizes.items()}
    if 'position' not in case.dataset.units and not USUAL[0] < reach < USUAL[1]:
        before = {f'{si}, not {unit}': size for unit, size in sizes.items()}
        return found | before
    return found


def _gears(
    case: Case, flags: NDArray[np.bool_], reach: float, units: Sequence[float]
) -> Iterator[Proposal]:
    """
    Try one gear ratio of all joints: positions of the motors.

    :param units: factors of wrong units; a ratio that the search cannot distinguish from one of
        them is that unit.
    """
    ratios = RATIOS[(reach / RATIOS < LARGEST) & (reach / RATIOS > SMALLEST)]
    if not ratios.size:
        return
    best = max((_geared(case, flags, float(r)) for r in ratios), key=lambda each: each.screened)
    for step in FINE:
        scale = _scale_of(best, flags)
        tried = [_geared(case, flags, 1.0 / (scale * f)) for f in (step, 1.0 / step)]
        best = max(best, *tried, key=lambda each: each.screened)
    ratio = 1.0 / _scale_of(best, flags)
    if not any(max(ratio / unit, unit / ratio) < FINE[-1] for unit in units):
        yield best


def _geared(case: Case, flags: NDArray[np.bool_], ratio: float) -> Proposal:
    scales = _only(flags, 1.0 / ratio)

    def make(found: Proposal) -> Finding:
        return Finding(
            'gear_ratio',
            None,
            certainty(found.gain, found.threshold),
            'the positions are those of the motors: divided by a gear ratio of about '
            f'{ratio:.3g} the {improvement(case, found)}',
            f'position.scale: {1 / ratio:.3g} in the mapping, 1 / gear ratio (times the present '
            'value)',
            Remedy(position_scale=scales),
        )

    change = Hypothesis(position_scale=scales)
    return proposal(case, 'gear_ratio', change, make, THRESHOLD)


def _only(flags: NDArray[np.bool_], scale: float) -> tuple[float, ...]:
    return tuple(float(s) for s in np.where(flags, scale, 1.0))


def _scale_of(found: Proposal, flags: NDArray[np.bool_]) -> float:
    scales = found.hypothesis.position_scale
    assert scales is not None
    return scales[int(np.argmax(flags))]


def _finding(case: Case, unit: str, reach: float, scales: tuple[float, ...]):  # type: ignore[no-untyped-def]
    name = unit.split(',')[0]

    def make(found: Proposal) -> Finding:
        return Finding(
            'position_unit',
            None,
            certainty(found.gain, found.threshold),
            f'positions span {reach:.4g}; taken as {unit} the {improvement(case, found)}',
            f'position.unit: {name} in the mapping (and velocity.unit: {name}/s)',
            Remedy(position_scale=scales),
        )

    return make
