"""The detectors: one line each, a file of this folder each."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from robot_id.tasks.checks import (
    gear_ratio,
    gravity_direction,
    gravity_removed,
    held_samples,
    joint_offset,
    joint_swap,
    kinematics,
    limits_unit,
    position_unit,
    rest,
    saturation,
    stamps,
    time_scale,
    time_unit,
    torque_delay,
    torque_sign,
    velocity_channel,
    wrap_around,
    zero_torque,
)
from robot_id.tasks.checks.case import Case, Proposal
from robot_id.tasks.checks.finding import Finding

# Detectors that need the channels alone; each corrects its mistake for the next ones.
CHANNELS: tuple[Callable[[Case], tuple[list[Finding], Case]], ...] = (
    wrap_around.detect,
    stamps.detect,
    held_samples.detect,
    time_unit.detect,
    velocity_channel.detect,
    saturation.detect,
    rest.detect,
    zero_torque.detect,
)
# Those that look at no torques.
WITHOUT_TORQUE = (
    *(each for each in CHANNELS if each not in (saturation.detect, zero_torque.detect)),
    limits_unit.detect,
)
# Changes that are tried on every recording.
ALWAYS: tuple[Callable[[Case], Iterable[Proposal]], ...] = (
    torque_delay.propose,
    kinematics.propose,
)
# Changes that are tried where the inertias of the robot file do not explain the torques.
STRUCTURE: tuple[Callable[[Case], Iterable[Proposal]], ...] = (
    position_unit.propose,
    torque_sign.propose,
    joint_swap.propose,
    gear_ratio.propose,
    joint_offset.propose,
    gravity_direction.propose,
    gravity_removed.propose,
    time_scale.propose,
)
