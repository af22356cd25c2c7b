"""
Motion that was there before: where a recording repeats itself, or another one.

A window of 0.6 s is described by the positions of the joints at four times, in shares of their
ranges. It repeats an earlier window where none of these positions is farther from that one's than
1 % of a range and half of what is moved between two windows. What has not moved away since is no
repetition, however slow it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from robot_id.data.dataset import Run

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
WINDOW_S, POINTS = 0.6, 4
# Time between two windows, longer where there would be more than so many.
STEP_S, MOST = 0.04, 15_000
# In shares of a joint's range: positions that are the same, and those of another place.
SAME, AWAY = 0.01, 0.1


class SeenMotion:
    """
    The windows of motion that were new when they came, with a label each.

    They are kept in trees of growing size, so that adding and looking up stay cheap.

    :param scale: (n,) range of each joint; joints with 0 are not looked at.
    :param duration_s: of all that will be looked at.
    """

    def __init__(self, scale: Array, duration_s: float) -> None:
        self._step_s = max(STEP_S, duration_s / MOST)
        self._joints = scale > 0.0
        self._scale = scale[self._joints]
        width = POINTS * int(self._joints.sum())
        self._near = np.empty((0, width)), np.empty(0, int)
        self._known: list[tuple[cKDTree, Labels]] = []

    def labels(self, run: Run, first: int, last: int, own: int) -> Labels:
        """
        Return (last - first,) the labels of the motion that samples repeat, their own if none.

        The windows are compared with those that came before; the new ones are remembered.
        """
        step = max(1, round(self._step_s * run.rate))
        reach = round(WINDOW_S * run.rate)
        starts = np.arange(first, min(last, len(run) - reach), step)
        if not len(starts) or not self._joints.any():
            return np.full(last - first, own)
        windows = self._windows(run, starts, reach)
        following = self._windows(run, np.minimum(starts + step, len(run) - reach - 1), reach)
        moved = np.abs(following - windows).max(axis=1)
        self._left(windows[0])
        before = self._find(windows, SAME + 0.5 * moved, own)
        new = before == own
        near, labels = self._near
        self._near = (
            np.concatenate([near, windows[new]]),
            np.concatenate([labels, before[new]]),
        )
        # The samples behind the last window are as that one.
        return before[np.minimum(np.arange(last - first) // step, len(before) - 1)]

    def _windows(self, run: Run, starts: Labels, reach: int) -> Array:
        """Return the positions of the joints at the times of each window, in a row."""
        offsets = np.linspace(0, reach, POINTS).round().astype(int)
        places = run.position[starts[:, None] + offsets][:, :, self._joints] / self._scale
        return np.asarray(places.reshape(len(starts), -1))

    def end_run(self) -> None:
        """Take what comes next as another motion."""
        self._add(*self._near)
        self._near = self._near[0][:0], self._near[1][:0]

    def _left(self, window: Array) -> None:
        """Compare from now on with windows that the motion has moved away from."""
        near, labels = self._near
        away = np.abs(near - window).max(axis=1, initial=0.0) > AWAY
        self._add(near[away], labels[away])
        self._near = near[~away], labels[~away]

    def _find(self, windows: Array, tolerance: Array, own: int) -> Labels:
        """Return the labels of the nearest known windows, their own where none is near."""
        best, label = np.full(len(windows), np.inf), np.full(len(windows), own)
        for tree, labels in self._known:
            bound = float(tolerance.max()) * (1.0 + 1e-12)
            distance, at = tree.query(windows, p=np.inf, distance_upper_bound=bound)
            nearer = (distance < best) & (distance <= tolerance)
            best[nearer], label[nearer] = distance[nearer], labels[at[nearer]]
        return label

    def _add(self, windows: Array, labels: Labels) -> None:
        if not len(windows):
            return
        while self._known and len(self._known[-1][1]) <= 2 * len(labels):
            tree, own = self._known.pop()
            windows = np.concatenate([tree.data, windows])
            labels = np.concatenate([own, labels])
        self._known.append((cKDTree(windows), labels))
