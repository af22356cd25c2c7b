"""When measured torques act, beside those of a simulated loop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals.processing import Processing
from robot_id.data.signals.torque_delay import torque_at_samples
from robot_id.methods.kalman.initial_state import torque_from_sample_on, torque_per_interval
from robot_id.regression.preprocessing.alignment import Alignment

Array = NDArray[np.float64]


def torques_on_reference(
    dataset: Dataset, processing: Processing, alignment: Alignment
) -> Dataset:
    """
    Return a recording with a reference, its torques at the times of those of the simulated loop.

    There they act from their sample to the next; a recording may have them a sample late, as
    what acted until then. Where they are not late nothing is shifted: noise that the loop
    feeds back into its torque moves the estimate by a part of a sample.
    """
    offset, given = alignment.offset, processing.torque_delay_s
    if processing.held_torque:
        return dataset
    if given is not None:
        return torque_from_sample_on(dataset, np.atleast_1d(np.asarray(given, float)))
    if offset is None or not offset.late:
        return dataset
    return torque_per_interval(dataset, alignment)


def torques_on_motion(run: Run, processing: Processing, hold_s: float) -> Array:
    """
    (N, n) torques of a run, beside a simulated loop that follows its measured position.

    The measured torque belongs to the positions by its time offset, as in the inverse model. A
    simulated one is held from its sample on: it is the mean torque of that time, tau(t + T/2).

    :param processing: with the time offset.
    :param hold_s: T, s; 0 for a rigid loop.
    """
    torque = torque_at_samples(run, processing, 0, len(run))
    if not hold_s:
        return torque
    later = Processing(torque_delay_s=0.5 * hold_s)
    return torque_at_samples(replace(run, torque=torque), later, 0, len(run))
