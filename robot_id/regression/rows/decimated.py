"""Rows chunk by chunk, decimated: the one way from samples to the rows of W and Y."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from robot_id.data.signals.decimation import Decimator

Array = NDArray[np.float64]
# Samples at a time: the regressor of a six-axis arm then takes some 25 MB.
CHUNK = 8192


def decimated(
    block: Callable[[int, int], Array],
    first: int,
    last: int,
    factor: int = 1,
    filtered: bool = True,
    chunk: int = CHUNK,
) -> Iterator[tuple[Array, int]]:
    """
    Yield rows first, first + factor, ... of columns that are computed from samples.

    The rows do not depend on the chunk, and the columns are never held whole. They are equations:
    the ends are mirrored, so that no row hangs on the noise of a single sample.

    :param block: gives the (high - low, C) columns of samples low to high.
    :param first: first sample, last: one past the last one.
    :param factor: n_d, one row in n_d is kept.
    :param filtered: low-pass all columns alike before (see `data.signals.decimation`).
    :return: rows, and the sample up to which the columns were computed.
    """
    decimator = Decimator(factor, even=True) if filtered and factor > 1 else None
    for low in range(first, last, chunk):
        high = min(low + chunk, last)
        values = block(low, high)
        if decimator is None:
            yield values[-(low - first) % factor :: factor], high
            continue
        rows = decimator.push(values)
        if high == last:
            rows = np.concatenate([rows, decimator.finish()])
        yield rows, high
