"""Which parts of long recordings are looked at: of every file, and of every joint that moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Samples of all blocks together, and of one block at most.
LARGEST, LONGEST = 1200, 200
# Files of which each gets a block, where there are more than fit into LARGEST.
FILES = 40
# A block adds less of what others have shown already: this share of it counts as nothing yet.
SEEN = 0.1


def choose(speeds: list[Array], shortest: int) -> list[tuple[int, int, int]]:
    """
    Return run, first and last row of the blocks to look at, all of them where they are few.

    Each block adds to what is known of every joint (by its rms speed, relative to the fastest
    block of that joint), of every file and of every section of it; taken is the one whose sum of
    logarithms grows most, until the blocks hold LARGEST samples. So no joint and no file is left
    out, stretches without motion come last, and the order of the files does not matter.

    :param speeds: (N, n) speeds of each run.
    :param shortest: samples that a block needs.
    """
    total = sum(len(each) for each in speeds)
    if total <= LARGEST:
        return [(k, 0, len(each)) for k, each in enumerate(speeds)]
    size = int(np.clip(LARGEST // len(speeds), shortest, LONGEST))
    blocks, section = [], []
    for k, each in enumerate(speeds):
        starts = np.linspace(0, max(len(each) - size, 0), max(len(each) // size, 1)).astype(int)
        parts = max(round(LARGEST / size * len(each) / total), 1)
        blocks += [(k, int(s), min(int(s) + size, len(each))) for s in starts]
        section += [(k, part * parts // len(starts)) for part in range(len(starts))]
    rms = block_speeds(speeds, blocks)
    places = sorted(set(section))
    inside = np.array([[own == place for place in places] for own in section], float)
    files = np.array([np.arange(len(speeds)) == k for k, _, _ in blocks], float)
    adds = np.hstack([rms / np.maximum(rms.max(axis=0), 1e-300), files, inside])
    count = max(LARGEST // size, min(len(speeds), FILES))
    seen, left = np.full(adds.shape[1], SEEN), np.ones(len(blocks), bool)
    chosen: list[tuple[int, int, int]] = []
    while len(chosen) < count and left.any():
        gain = np.log1p(adds / seen).sum(axis=1)
        best = int(np.argmax(np.where(left, gain, -1.0)))
        chosen.append(blocks[best])
        seen, left[best] = seen + adds[best], False
    return sorted(chosen)


def block_speeds(speeds: list[Array], blocks: list[tuple[int, int, int]]) -> Array:
    """(B, n) rms speeds of blocks."""
    return np.sqrt([(speeds[k][first:last] ** 2).mean(axis=0) for k, first, last in blocks])
