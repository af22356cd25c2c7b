"""The processing of a recording: slope of the friction, time offset, filters."""

from __future__ import annotations

from dataclasses import dataclass

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.regression.preprocessing.alignment import Alignment, align
from robot_id.regression.preprocessing.options import (
    ResolvedOptions,
    resolve_for_loop,
    resolve_options,
)
from robot_id.robot import Robot


@dataclass(frozen=True)
class Resolved:
    """
    How a recording is processed.

    :param derived: the processing, nothing left to derive, and the reasons.
    :param slope: alpha of the friction 2/pi atan(alpha dq), None for sign(dq).
    :param offset_std: deviation of the time offset of the torques that is corrected, s.
    :param fine: this friction explains the torques so well that it is known in detail.
    """

    derived: ResolvedOptions
    slope: float | None
    offset_std: float = 0.0
    fine: bool = False

    @property
    def processing(self) -> Processing:
        """The options."""
        return self.derived.processing


def resolve(
    robot: Robot,
    dataset: Dataset,
    slope: float | str | None = 'auto',
    processing: Processing | None = None,
) -> Resolved:
    """
    Return the processing of a recording: given options, and the rest from the data.

    :param dataset: the measurements, columns in the order of the robot's joints.
    :param slope: of the friction, None for sign(dq); 'auto' finds it.
    :param processing: given options; None for none.
    """
    given = Processing() if processing is None else processing
    if isinstance(slope, str) or given.offset_open:
        alignment = align(robot, dataset, slope)
    else:
        alignment = Alignment(slope, 'given', None, row_slope=slope)
    aligned, reasons = alignment.apply(given)
    found = alignment.row_slope
    derived = resolve_options(
        aligned, dataset, robot, found, 'unknown' if found is None else 'known'
    )
    if slope == 'auto':
        reasons['coulomb_slope'] = alignment.slope_reason
    whole = ResolvedOptions(
        derived.processing, {**derived.reasons, **reasons}, alignment.law_doubt
    )
    return Resolved(whole, found, alignment.offset_std(given), alignment.fine)


def resolve_for_filter(
    robot: Robot, dataset: Dataset, slope: float | str | None, processing: Processing
) -> tuple[Alignment, ResolvedOptions]:
    """
    Return what holds for a recording, for methods that filter the data themselves.

    :return: how friction turns and when the torque acts, and the processing of what is predicted.
    """
    alignment = align(robot, dataset, slope)
    aligned, reasons = alignment.apply(processing)
    derived = resolve_for_loop(aligned, dataset, robot, alignment.slope)
    reasons = {**derived.reasons, **reasons}
    return alignment, ResolvedOptions(derived.processing, reasons, alignment.law_doubt)
