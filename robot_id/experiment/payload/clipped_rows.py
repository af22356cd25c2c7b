"""Rows in which a torque was clipped: what was recorded there is not what moved the joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.data.clipping import clipped
from robot_id.regression.observation import Observation

Flags = NDArray[np.bool_]
# The filter before decimation spreads a sample over this many rows on either side.
SPREAD = 2


def unclipped(observation: Observation) -> list[Flags]:
    """
    Return for each run the (M, n) rows that no clipped sample reaches.

    :param observation: whose rows were made and kept.
    """
    found: dict[int, list[Flags]] = {}
    for piece in observation.kept_rows or []:
        run = observation.dataset.runs[piece.run]
        limits, flags = clipped(run)
        free = np.ones((len(piece.time), observation.n), dtype=bool)
        if limits:
            reach = SPREAD * (observation.processing.decimation or 1) * run.step
            first = np.searchsorted(run.time, piece.time - reach)
            last = np.searchsorted(run.time, piece.time + reach, side='right')
            counted = np.concatenate([np.zeros((1, observation.n)), np.cumsum(flags, axis=0)])
            free = counted[last] == counted[first]
        found.setdefault(piece.run, []).append(free)
    return [np.concatenate(parts) for parts in found.values()]
