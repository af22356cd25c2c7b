"""Gentle ways from one state of a robot to another that keep its clearance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from robot_id.exceptions import TrajectoryError
from robot_id.excitation.clearance import Clearance
from robot_id.trajectory import Trajectory, approach
from robot_id.trajectory.trajectory import Array

# Hz at which the ways are compared with the geometry.
CLEARANCE_HZ = 50.0
# Postures that the search draws, and straight moves that then try to shorten what it found.
POSTURES, SHORTCUTS = 2000, 100
# Postures at rest that are tried near an end that moves.
ENTRIES = 100
# Shares of a move that the search tries, where the whole is not clear.
SHARES = 1.0, 0.5, 0.25, 0.125
# Position, velocity and acceleration, (n,) each.
State = tuple[Array, Array, Array]
# Postures (n,) and for each the number of its parent, -1 for the root.
_Tree = tuple[list[Array], list[int]]


@dataclass(frozen=True)
class Bounds:
    """
    What a way may do.

    :param velocity: (n,), `acceleration` alike; `lower` and `upper` bound the position.
    """

    velocity: Array
    acceleration: Array
    lower: Array
    upper: Array

    def way(self, start: State, end: State) -> Trajectory | None:
        """Return a gentle way; where the acceleration would jump at rest it starts from none."""
        bounds = self.velocity, self.acceleration, self.lower, self.upper
        try:
            return approach(start, end, *bounds)
        except TrajectoryError:
            if _moves(start) or _moves(end):
                raise
            return approach(_rest(start[0]), _rest(end[0]), *bounds)

    def ways(self, states: list[State]) -> list[Trajectory]:
        """Return the ways from each state to the next, without those that have no length."""
        ways = (self.way(one, other) for one, other in pairwise(states))
        return [way for way in ways if way is not None]


def check_clearance(motion: Trajectory, clearance: Clearance) -> None:
    """
    Refuse a motion that does not keep the clearance: it may be older than the cell.

    :raises TrajectoryError: naming the pair of links.
    """
    if not _keep(clearance, [motion]):
        distance, pair = clearance.worst(_sampled([motion]))
        raise TrajectoryError(
            f'the motion would bring {pair} within {distance:.3f} m, less than '
            f'{clearance.margin:g} m: find another one (robot-id excite), or allow a smaller '
            'clearance'
        )


def clear_way(
    start: State, end: State, bounds: Bounds, clearance: Clearance | None, what: str
) -> list[Trajectory]:
    """
    Return a gentle way that keeps the clearance: the direct one, or one by way of postures.

    Between postures at rest a gentle way is straight; two trees of such moves grow from both ends
    until they meet (RRT-connect, Kuffner and LaValle 2000), with a fixed seed.

    :param what: name of the way, for the message.
    :raises TrajectoryError: naming the pair of links, where none is found.
    """
    direct = bounds.ways([start, end])
    if clearance is None or not len(clearance) or _keep(clearance, direct):
        return direct
    for state, place in ((start, 'begins'), (end, 'ends')):
        distance, pair = clearance.worst(state[0][None])
        if distance < clearance.margin:
            raise TrajectoryError(
                f'the {what} {place} where {pair} are within {distance:.3f} m, less than '
                f'{clearance.margin:g} m: move the robot by hand first, or choose another motion '
                'or a smaller clearance'
            )
    search = _Search(clearance, bounds)
    states = search.states(start, end)
    if states is None:
        distance, pair = clearance.worst(_sampled(direct))
        raise TrajectoryError(
            f'the {what} would bring {pair} within {distance:.3f} m, and a search of {POSTURES} '
            'postures found no way around: move the robot by hand near the start of the motion '
            'first, or choose another motion or a smaller clearance'
        )
    return bounds.ways(states)


class _Search:
    """Search for postures by way of which a way is clear."""

    def __init__(self, clearance: Clearance, bounds: Bounds) -> None:
        self._clearance, self._bounds = clearance, bounds
        self._low = np.where(np.isfinite(bounds.lower), bounds.lower, -np.pi)
        self._high = np.where(np.isfinite(bounds.upper), bounds.upper, np.pi)
        self._rng = np.random.default_rng(0)

    def states(self, start: State, end: State) -> list[State] | None:
        """Return the states of a clear way from start to end, None where none was found."""
        leave = self._near(start[0], lambda rest: [start, rest]) if _moves(start) else start[0]
        enter = self._near(end[0], lambda rest: [rest, end]) if _moves(end) else end[0]
        path = None if leave is None or enter is None else self._joined(leave, enter)
        if path is None:
            return None
        middle = [_rest(q) for q in self._shortened(path)]
        states = [start, *middle[not _moves(start) : len(middle) - (not _moves(end))], end]
        return states if _keep(self._clearance, self._bounds.ways(states)) else None

    def _near(self, q: Array, leg: Callable[[State], list[State]]) -> Array | None:
        """Return a posture near q (n,) at rest whose leg is clear, from ever further away."""
        for spread in np.linspace(0.0, 1.0, ENTRIES) ** 2:
            posture = q + spread * (self._rng.uniform(self._low, self._high) - q)
            try:
                parts = self._bounds.ways(leg(_rest(posture)))
            except TrajectoryError:
                # The limits leave no room for this leg.
                continue
            if _keep(self._clearance, parts):
                return np.asarray(posture)
        return None

    def _joined(self, start: Array, end: Array) -> list[Array] | None:
        """Return postures from start to end, (n,) each, with clear straight moves between them."""
        trees: list[_Tree] = [([start], [-1]), ([end], [-1])]
        middle = 0.5 * (start + end)
        for number in range(POSTURES):
            here, there = trees[number % 2], trees[1 - number % 2]
            # Near and far ones alike.
            drawn = self._rng.uniform(self._low, self._high)
            new = self._grow(here, middle + self._rng.uniform() * (drawn - middle))
            if new is not None and self._grow(there, new) is new:
                one, other = (_branch(tree) for tree in trees)
                return one[::-1] + other[1:]
        return None

    def _grow(self, tree: _Tree, goal: Array) -> Array | None:
        """Add to a tree where a straight move towards a goal gets to; None where nowhere."""
        postures, parents = tree
        near = int(np.argmin(self._seconds(np.array(postures), goal)))
        for share in SHARES:
            new = goal if share == 1.0 else postures[near] + share * (goal - postures[near])
            if self._clear(postures[near], new):
                postures.append(new)
                parents.append(near)
                return new
        return None

    def _shortened(self, path: list[Array]) -> list[Array]:
        """Return a path with straight moves in place of detours, between any two of its places."""
        for _ in range(SHORTCUTS):
            if len(path) < 3:
                break
            legs = [float(self._seconds(one, other)) for one, other in pairwise(path)]
            i, j = sorted(self._rng.choice(len(legs), 2, p=np.array(legs) / sum(legs)))
            if i == j:
                continue
            u, w = self._rng.uniform(size=2)
            one = path[i] + u * (path[i + 1] - path[i])
            other = path[j] + w * (path[j + 1] - path[j])
            if self._clear(one, other):
                path = [*path[: i + 1], one, other, *path[j + 1 :]]
        return path

    def _seconds(self, one: Array, other: Array) -> Array:
        """Return the seconds of a straight move at full speed, of postures (..., n)."""
        return np.asarray((np.abs(other - one) / self._bounds.velocity).max(axis=-1))

    def _clear(self, one: Array, other: Array) -> bool:
        count = 2 + int(self._seconds(one, other) * CLEARANCE_HZ)
        return self._clearance.keeps(np.linspace(one, other, count))


def _branch(tree: _Tree) -> list[Array]:
    """Return the postures from the newest to the root of a tree."""
    postures, parents = tree
    found, k = [], len(postures) - 1
    while k >= 0:
        found.append(postures[k])
        k = parents[k]
    return found


def _rest(q: Array) -> State:
    return q, np.zeros_like(q), np.zeros_like(q)


def _moves(state: State) -> bool:
    return bool(np.any(np.abs(state[1]) > 1e-9))


def _sampled(parts: list[Trajectory]) -> Array:
    """Return the postures (N, n) that are compared with the geometry."""
    return np.concatenate(
        [
            way.sample(np.linspace(0.0, way.duration, max(2, int(way.duration * CLEARANCE_HZ))))[0]
            for way in parts
        ]
    )


def _keep(clearance: Clearance, parts: list[Trajectory]) -> bool:
    return not parts or clearance.keeps(_sampled(parts))
