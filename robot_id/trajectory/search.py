"""The search for the most exciting motion: many starts, a gradient method, a budget in seconds."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np
import scipy

from robot_id.exceptions import OptionError, TrajectoryError
from robot_id.progress import Progress, silent
from robot_id.trajectory.objective import Figures, Objective
from robot_id.trajectory.trajectory import Array, Trajectory

# Power of the smooth condition number, and whether friction is smooth: first the shape of the
# whole, then the worst direction, with sign(dq) as in the figures.
Stage = tuple[float, bool]
EXPLORE: tuple[Stage, ...] = ((2.0, True), (6.0, False))
POLISH: tuple[Stage, ...] = ((8.0, False), (16.0, False), (32.0, False))
_COARSE = 80
_DRAWS = 5


@dataclass(frozen=True)
class Candidate:
    """
    A motion that keeps all limits.

    :param X: (P, n) its coefficients.
    :param score: its figure of the criterion, smaller is better.
    """

    X: Array
    score: float


@dataclass(frozen=True)
class SearchResult:
    """
    What a search found.

    :param trajectory: the best motion.
    :param figures: of it, on a grid ten times finer than the search used.
    :param before: figures of the best random motion that a local search started from.
    :param random_motions: how many random motions were drawn.
    :param evaluations: of the criterion with its gradient.
    :param elapsed_s: wall seconds.
    :param interrupted: whether the user stopped it before its time.
    """

    trajectory: Trajectory
    figures: Figures
    before: Figures
    random_motions: int
    evaluations: int
    elapsed_s: float
    interrupted: bool


class _TimeIsUp(Exception):
    pass


class _Board:
    """What the threads share."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.entries: list[Candidate] = []
        self.start: Candidate | None = None
        self.random_motions = 0
        self.evaluations = 0
        self.error: BaseException | None = None

    def best(self, rank: int = 0) -> Candidate | None:
        with self.lock:
            ordered = sorted(self.entries, key=lambda c: c.score)
        return ordered[min(rank, len(ordered) - 1)] if ordered else None


def draw(objective: Objective, rng: np.random.Generator) -> Array:
    """
    Return a random motion (P, n) that touches a limit of every joint, anywhere in the range.

    Torques and clearance are not looked at: `objective.shrink` makes it smaller for them.
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


def search(
    objective: Objective,
    budget_s: float,
    seed: int = 0,
    workers: int = 2,
    progress: Progress = silent,
    target: float = 0.0,
) -> SearchResult:
    """
    Return the best motion found within the budget, or until Ctrl-C.

    A quarter of the time explores: short local searches from random motions. Then each thread
    polishes one of the best, and goes on from disturbed copies of the best when it has converged.

    :param budget_s: wall seconds.
    :param workers: threads; the heavy work releases Python's lock.
    :param target: the search ends before its time once the criterion is no larger.
    """
    if not budget_s > 0.0:
        raise OptionError(
            f'a budget of {budget_s:g} s leaves no time to search: give some seconds'
        )
    if workers < 1:
        raise OptionError(f'at least 1 worker is needed, got {workers}')
    begun = time.monotonic()
    board = _Board()
    threads = [
        threading.Thread(
            target=_work,
            args=(objective.for_thread(), board, begun, budget_s, seed, index),
            daemon=True,
        )
        for index in range(workers)
    ]
    for thread in threads:
        thread.start()
    interrupted = False
    try:
        while any(thread.is_alive() for thread in threads):
            threads[0].join(0.1) if threads[0].is_alive() else time.sleep(0.02)
            best = board.best()
            fraction = min((time.monotonic() - begun) / budget_s, 1.0)
            progress(fraction, f'best {best.score:.4g}' if best else 'drawing motions')
            if best is not None and best.score <= target:
                break
    except KeyboardInterrupt:
        interrupted = True
    finally:
        board.stop.set()
        for thread in threads:
            thread.join()
    if board.error is not None:
        raise board.error
    return _result(objective, board, time.monotonic() - begun, interrupted)


def _result(
    objective: Objective, board: _Board, elapsed: float, interrupted: bool
) -> SearchResult:
    middle = objective.limits.middle
    # A finer look than the search took may make the motion a little smaller.
    fine = max(10 * objective.samples, int(200.0 * objective.family.basis.duration))
    for rank in range(len(board.entries)):
        entry = board.best(rank)
        X = objective.shrink(entry.X, fine) if entry is not None else None
        if X is not None:
            break
    else:
        raise TrajectoryError(
            f'no motion keeps the torque limits and the clearance: {board.random_motions} random '
            'motions tried; check the limits, the expected parameters and the geometry'
            if not interrupted
            else 'stopped before the first motion within the limits was found'
        )
    start = board.start or Candidate(X, float('inf'))
    trajectory = objective.family.member(X, middle)
    objective.limits.check(trajectory)
    return SearchResult(
        trajectory,
        objective.figures(trajectory, refine=10),
        objective.figures(objective.family.member(start.X, middle), refine=10),
        board.random_motions,
        board.evaluations,
        elapsed,
        interrupted,
    )


def _work(
    objective: Objective, board: _Board, begun: float, budget_s: float, seed: int, index: int
) -> None:
    """Search in one thread until the time is up."""
    rng = np.random.default_rng([seed, index])
    try:
        explore_until = begun + budget_s / 4.0
        deadline = begun + budget_s
        while True:
            X = _start(objective, board, rng, deadline)
            _descend(objective, board, X, EXPLORE, 60, explore_until)
            if time.monotonic() >= explore_until:
                break
        entry = board.best(index)
        while time.monotonic() < deadline:
            if entry is None:
                # Nothing admissible yet: keep drawing.
                _descend(
                    objective,
                    board,
                    _start(objective, board, rng, deadline),
                    EXPLORE,
                    60,
                    deadline,
                )
                entry = board.best()
                continue
            _descend(objective, board, entry.X, POLISH, 400, deadline)
            entry = board.best()
            assert entry is not None
            size = 10.0 ** rng.uniform(-3.5, -0.5)
            spread = np.sqrt(np.mean(entry.X[1:] ** 2, axis=0))
            X = entry.X + size * spread * rng.normal(size=entry.X.shape)
            entry = Candidate(X, float('inf'))
    except _TimeIsUp:
        pass
    except BaseException as error:
        board.error = error


def _start(
    objective: Objective, board: _Board, rng: np.random.Generator, deadline: float
) -> Array:
    """Return the most promising of a few random motions; what they are worth goes to the board."""
    starts: list[Candidate] = []
    for _ in range(_DRAWS):
        if starts and (board.stop.is_set() or time.monotonic() > deadline):
            break
        X = draw(objective, rng)
        starts.append(Candidate(X, objective(X.ravel(), *EXPLORE[0])[0]))
        small = objective.shrink(X, _COARSE)
        with board.lock:
            board.random_motions += 1
        if small is not None:
            entry = Candidate(small, _score(objective, small))
            with board.lock:
                board.entries.append(entry)
                if board.start is None or entry.score < board.start.score:
                    board.start = entry
    if board.stop.is_set():
        raise _TimeIsUp
    return min(starts, key=lambda c: c.score).X


def _score(objective: Objective, X: Array) -> float:
    trajectory = objective.family.member(X, objective.limits.middle)
    return objective.figures(trajectory).score(objective.criterion)


def _descend(
    objective: Objective,
    board: _Board,
    X: Array,
    stages: tuple[Stage, ...],
    iterations: int,
    deadline: float,
) -> None:
    """Run L-BFGS with growing sharpness; what each stage reaches goes to the board."""
    C = objective.gauge.factors()
    last = np.einsum('jpq,qj->jp', C, X).ravel()

    def coefficients(x: Array) -> Array:
        return np.linalg.solve(C, x.reshape(*C.shape[:2], 1))[..., 0].T

    def value(x: Array, power: float, smooth: bool) -> tuple[float, Array]:
        if board.stop.is_set() or time.monotonic() > deadline:
            raise _TimeIsUp
        with board.lock:
            board.evaluations += 1
        f, g = objective(coefficients(x).ravel(), power, smooth)
        pulled = np.linalg.solve(np.swapaxes(C, 1, 2), g.reshape(X.shape).T[..., None])
        return f, pulled.ravel()

    def keep(x: Array) -> None:
        nonlocal last
        last = x.copy()

    for stage in stages:
        try:
            scipy.optimize.minimize(  # type: ignore[call-overload]
                value,
                last,
                args=stage,
                jac=True,
                method='L-BFGS-B',
                callback=keep,
                options={'maxiter': iterations, 'maxcor': 60},
            )
        except _TimeIsUp:
            _offer(objective, board, coefficients(last))
            if board.stop.is_set():
                raise
            return
        _offer(objective, board, coefficients(last))


def _offer(objective: Objective, board: _Board, X0: Array) -> None:
    """Put a motion on the board, made admissible."""
    X = objective.within_limits(X0)
    X_safe = objective.shrink(X, 2 * objective.samples)
    if X_safe is None:
        return
    with_score = Candidate(X_safe, _score(objective, X_safe))
    with board.lock:
        board.entries.append(with_score)
