"""
Positions as a share of the calibrated range of each motor, as LeRobot's drivers write them.

joint position = low + (raw - raw_low) / (raw_high - raw_low) * (high - low), that is a scale and
an offset for each joint.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PERCENT_OF_RANGE = 'percent_of_range'
# Raw values at both ends unless a mapping says otherwise; grippers often have [0, 100].
USUAL_RAW = (-100.0, 100.0)
# Keys that say the same in another way.
_OTHERS = ('scale', 'offset', 'motor_matrix')


def with_scale_and_offset(channel: dict[str, Any]) -> dict[str, Any]:
    """
    Return the keys of a channel with `scale` and `offset` (rad or m) in place of its ranges.

    :param channel: keys as a user gave them; without this unit they are returned as they are.
    """
    given = {key: channel.get(key) for key in ('range', 'raw_range')}
    if channel.get('unit') != PERCENT_OF_RANGE:
        for key, value in given.items():
            if value is not None:
                raise ValueError(f"'{key}' belongs to 'unit: {PERCENT_OF_RANGE}'")
        return channel
    for key in _OTHERS:
        if channel.get(key) is not None:
            raise ValueError(
                f"'{key}' does not go with 'unit: {PERCENT_OF_RANGE}': 'range' says it"
            )
    if given['range'] is None:
        raise ValueError(
            f"'unit: {PERCENT_OF_RANGE}' needs 'range': rad (or m) of each joint at both ends of "
            'its calibrated range, such as [[-1.9, 1.9], [-1.7, 1.8]]'
        )
    joint = _pairs(given['range'], 'range')
    raw = _pairs(USUAL_RAW if given['raw_range'] is None else given['raw_range'], 'raw_range')
    if len(raw) != len(joint) and 1 not in (len(raw), len(joint)):
        raise ValueError(f"'range' has {len(joint)} pairs, 'raw_range' {len(raw)}")
    scale = (joint[:, 1] - joint[:, 0]) / (raw[:, 1] - raw[:, 0])
    offset = joint[:, 0] - scale * raw[:, 0]
    rest = {key: value for key, value in channel.items() if key not in given}
    return rest | {'unit': 'rad', 'scale': scale.tolist(), 'offset': offset.tolist()}


def _pairs(value: Any, key: str) -> Array:
    """Return the (n, 2) ends of a range, (1, 2) where one pair is for all joints."""
    try:
        pairs = np.atleast_2d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        pairs = np.empty((0, 0))
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.isfinite(pairs).all():
        raise ValueError(f"'{key}' is a pair of numbers for each joint, or one for all")
    if np.any(pairs[:, 0] == pairs[:, 1]):
        raise ValueError(f"'{key}' has two ends that are equal")
    return pairs
