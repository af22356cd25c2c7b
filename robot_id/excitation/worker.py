"""The work of each thread of a search, and the board that the threads share."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_id.excitation.descent import EXPLORE, IMPROVE, POLISH, Stage, descend
from robot_id.excitation.objective import Objective
from robot_id.trajectory.trajectory import Array

# Shares of the budget at which the workers meet: random starts, the best of them sharper, then
# the best of all to the end.
EXPLORED, IMPROVED, HALF_POLISHED = 0.3, 0.5, 0.75
_COARSE = 80
_DRAWS = 5


def draw(objective: Objective, rng: np.random.Generator) -> Array:
    """
    Return a random motion (P, n) that touches a limit of every joint, anywhere in the range.

    Torques and clearance are not checked: `objective.shrink` makes it smaller for them.
    """
    limits = objective.limits
    X = objective.family.draw(rng, objective.robot.n)
    X[0] = 0.0
    peak = objective.family.member(X, np.zeros(objective.robot.n)).extremes()
    X /= np.maximum.reduce(
        [
            (peak.upper - peak.lower) / (2.0 * limits.half),
            peak.velocity / limits.velocity,
            peak.acceleration / limits.acceleration,
        ]
    )
    peak = objective.family.member(X, limits.middle).extremes()
    low, high = limits.lower - peak.lower, limits.upper - peak.upper
    X[0] = low + rng.random(objective.robot.n) * np.maximum(high - low, 0.0)
    return X


@dataclass(frozen=True)
class Candidate:
    """
    A motion that keeps all limits.

    :param X: (P, n) its coefficients.
    :param score: its figure of the criterion, smaller is better.
    :param origin: (worker, number) of the random start it descends from.
    """

    X: Array
    score: float
    origin: tuple[int, int]


class _RoundOver(Exception):
    """The share of the budget of this round is used up."""


class _Stopped(Exception):
    """The user, the target or an error ends the search."""


class Board:
    """Shared by the workers; they read it only after a meeting, so their speed does not matter."""

    def __init__(self, workers: int, target: float) -> None:
        self.target = target
        self.stop = threading.Event()
        self.entries: list[list[Candidate]] = [[] for _ in range(workers)]
        self.starts: list[list[Candidate]] = [[] for _ in range(workers)]
        self.ranked: list[Candidate] = []
        self.meeting = threading.Barrier(workers, self._rank)
        self.error: BaseException | None = None

    def _rank(self) -> None:
        self.ranked = ranking(self.entries)

    def end(self) -> None:
        self.stop.set()
        self.meeting.abort()


def ranking(entries: list[list[Candidate]]) -> list[Candidate]:
    """Return the best candidate of every random start, the best first."""
    best: dict[tuple[int, int], Candidate] = {}
    for candidate in (c for own in entries for c in list(own)):
        known = best.get(candidate.origin)
        if known is None or candidate.score < known.score:
            best[candidate.origin] = candidate
    return sorted(best.values(), key=lambda c: (c.score, c.origin))


class Worker:
    """
    The search of one thread.

    It explores random starts, makes its share of the best of all workers sharper, then polishes
    one of the best, and goes on from disturbed copies of it when it has converged.
    """

    def __init__(
        self,
        objective: Objective,
        board: Board,
        begun: float,
        budget_s: float,
        most: int | None,
        seed: int,
        index: int,
    ) -> None:
        self.objective, self.board, self.index = objective, board, index
        self.begun, self.budget_s, self.most = begun, budget_s, most
        self.rng = np.random.default_rng([seed, index])
        self.evaluations = 0
        self.random_motions = 0
        self.origin = (index, 0)
        self.until = 0.0

    @property
    def used(self) -> float:
        """Share of the budget that is used up."""
        if self.most is not None:
            return self.evaluations / self.most
        return (time.monotonic() - self.begun) / self.budget_s

    def run(self) -> None:
        """Search until the budget is used up."""
        try:
            self._round(EXPLORED, self._explore)
            self._round(IMPROVED, self._improve)
            for until in (HALF_POLISHED, 1.0):
                self._round(until, self._polish)
        except (_Stopped, threading.BrokenBarrierError):
            pass
        except BaseException as error:
            self.board.error = error
            self.board.end()

    def _round(self, until: float, work: Callable[[], None]) -> None:
        self.until = until
        with contextlib.suppress(_RoundOver):
            work()
        self.board.meeting.wait()

    def _explore(self) -> None:
        while True:
            self.origin = (self.index, self.origin[1] + 1)
            self._descend(self._start(), EXPLORE)

    def _improve(self) -> None:
        for candidate in self.board.ranked[self.index :: len(self.board.entries)]:
            self.origin = candidate.origin
            self._descend(candidate.X, IMPROVE)
        if not self.board.ranked:
            self._explore()

    def _polish(self) -> None:
        if not self.board.ranked:
            self._explore()
        best = self.board.ranked[min(self.index, len(self.board.ranked) - 1)]
        self.origin = best.origin
        self._descend(best.X, POLISH)
        while True:
            mine = [c for c in self.board.entries[self.index] if c.origin == self.origin]
            best = min([best, *mine], key=lambda c: c.score)
            size = 10.0 ** self.rng.uniform(-3.5, -0.5)
            spread = np.sqrt(np.mean(best.X[1:] ** 2, axis=0))
            X = best.X + size * spread * self.rng.normal(size=best.X.shape)
            self._descend(X, IMPROVE + POLISH)

    def _start(self) -> Array:
        """Return the most promising of a few random motions; the board gets all of them."""
        found: list[tuple[float, Array]] = []
        for _ in range(_DRAWS):
            if found and self.used >= self.until:
                break
            X = draw(self.objective, self.rng)
            self.random_motions += 1
            small = self.objective.shrink(X, _COARSE)
            if small is not None:
                candidate = Candidate(small, _score(self.objective, small), self.origin)
                self.board.starts[self.index].append(candidate)
                self.board.entries[self.index].append(candidate)
            self._before_each()
            found.append((self.objective(X.ravel(), EXPLORE[0].power, EXPLORE[0].gauge)[0], X))
        return min(found, key=lambda pair: pair[0])[1]

    def _descend(self, X: Array, stages: tuple[Stage, ...]) -> None:
        descend(self.objective, X, stages, self._before_each, self._offer)

    def _before_each(self) -> None:
        if self.board.stop.is_set():
            raise _Stopped
        if self.used >= self.until:
            raise _RoundOver
        self.evaluations += 1

    def _offer(self, X0: Array) -> None:
        """Put a motion on the board, made feasible."""
        X = self.objective.shrink(self.objective.within_limits(X0), 2 * self.objective.samples)
        if X is None:
            return
        candidate = Candidate(X, _score(self.objective, X), self.origin)
        self.board.entries[self.index].append(candidate)
        if candidate.score <= self.board.target:
            self.board.end()


def _score(objective: Objective, X: Array) -> float:
    trajectory = objective.family.member(X, objective.limits.middle)
    return objective.figures(trajectory)[objective.criterion.name]
