"""The search for the most exciting motion: many starts, a gradient method, a budget."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from robot_id.exceptions import OptionError, TrajectoryError
from robot_id.excitation.hindrance import hindrance
from robot_id.excitation.objective import Figures, Objective
from robot_id.excitation.worker import Board, Worker, ranking
from robot_id.progress import Progress, silent
from robot_id.trajectory.trajectory import Trajectory

MOST_WORKERS = 256


@dataclass(frozen=True)
class SearchResult:
    """
    The result of a search.

    :param trajectory: the best motion.
    :param figures: of it, on a grid ten times finer than the search used.
    :param before: figures of the best random motion that a local search started from; where none
        keeps the limits, of the first that the search made keep them.
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


def search(
    objective: Objective,
    budget_s: float,
    seed: int = 0,
    workers: int = 2,
    progress: Progress = silent,
    target: float = 0.0,
    evaluations: int | None = None,
) -> SearchResult:
    """
    Return the best motion found within the budget, or until Ctrl-C.

    :param budget_s: wall seconds.
    :param workers: threads; the heavy work releases Python's lock.
    :param target: the search ends before its time once the criterion is no larger.
    :param evaluations: of the criterion by each worker, instead of the seconds: the motion does
        not depend on how fast the machine is (with a target it does, unless workers = 1).
    """
    if evaluations is not None and evaluations < 1:
        raise OptionError(
            f'at least 1 evaluation is needed, got {evaluations}', code='no_evaluations'
        )
    if evaluations is None and not budget_s > 0.0:
        raise OptionError(
            f'a budget of {budget_s:g} s leaves no time to search: give a few seconds'
        )
    if not 1 <= workers <= MOST_WORKERS:
        raise OptionError(
            f'workers: {workers} must lie between 1 and {MOST_WORKERS}', key='workers'
        )
    begun = time.monotonic()
    board = Board(workers, target)
    crew = [
        Worker(objective.for_thread(), board, begun, budget_s, evaluations, seed, index)
        for index in range(workers)
    ]
    threads = [threading.Thread(target=worker.run, daemon=True) for worker in crew]
    for thread in threads:
        thread.start()
    interrupted, fraction = False, 0.0
    try:
        while any(thread.is_alive() for thread in threads):
            threads[0].join(0.1) if threads[0].is_alive() else time.sleep(0.02)
            ranked = ranking(board.entries)
            fraction = max(fraction, min(max(worker.used for worker in crew), 1.0))
            progress(fraction, f'best {ranked[0].score:.4g}' if ranked else 'drawing motions')
    except KeyboardInterrupt:
        interrupted = True
    finally:
        board.end()
        for thread in threads:
            thread.join()
    if board.error is not None:
        raise board.error
    count = sum(worker.evaluations for worker in crew)
    drawn = sum(worker.random_motions for worker in crew)
    return _result(objective, board, drawn, count, time.monotonic() - begun, interrupted)


def _result(
    objective: Objective,
    board: Board,
    random_motions: int,
    evaluations: int,
    elapsed: float,
    interrupted: bool,
) -> SearchResult:
    middle = objective.limits.middle
    # A finer look than the search took may make the motion a little smaller.
    fine = max(10 * objective.samples, int(200.0 * objective.family.basis.duration))
    for entry in ranking(board.entries):
        X = objective.shrink(entry.X, fine)
        if X is not None:
            break
    else:
        if interrupted:
            raise TrajectoryError('stopped before the first motion within the limits was found')
        why = hindrance(objective, np.random.default_rng(0))
        raise TrajectoryError(
            f'no motion keeps the torque limits and the clearance: {random_motions} random '
            f'motions tried{why and "; " + why}; search longer, or check the limits, the '
            'expected parameters and the geometry'
        )
    starts = [c for own in board.starts for c in own] or [own[0] for own in board.entries if own]
    start = min(starts, key=lambda c: c.score)
    trajectory = objective.family.member(X, middle)
    objective.limits.check(trajectory)
    return SearchResult(
        trajectory,
        objective.figures(trajectory, refine=10),
        objective.figures(objective.family.member(start.X, middle), refine=10),
        random_motions,
        evaluations,
        elapsed,
        interrupted,
    )
