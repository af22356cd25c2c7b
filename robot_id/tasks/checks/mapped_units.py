"""The units that a channel could have, in the terms of the mapping that it was read with."""

from __future__ import annotations

from robot_id.data import units
from robot_id.data.dataset import Dataset

# Units of one kind: a mapping that gives one of them may mean another one.
KINDS = (
    ('N.m', 'N.cm', 'N.mm', 'kN.m'),
    ('N', 'kN'),
    ('A', 'mA'),
    ('V', 'mV'),
    ('%', '1'),
    ('rad', 'deg', 'mrad', 'rev'),
    ('m', 'cm', 'mm'),
)


def others(dataset: Dataset, channel: str, default: str) -> dict[str, float]:
    """
    Return the other units of the same kind, and how much too large the values are if it is that.

    :param default: unit of values that no mapping gives a unit.
    """
    given, known = dataset.units.get(channel, default), units.OF_CHANNEL[channel]
    same = next((kind for kind in KINDS if given in kind), ())
    return {unit: known[given] / known[unit] for unit in same if unit != given}


def is_signal(dataset: Dataset) -> bool:
    """Return whether the torques are made from the signal of a drive, by its gain."""
    return dataset.units.get('torque') in units.SIGNAL
