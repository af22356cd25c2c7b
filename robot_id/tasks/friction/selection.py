"""
Selection of friction terms by blocked cross-validation of candidate structures.

Beginning with the plain structure, the term that lowers the error on blocks that were not fitted
the most is added to all joints, as long as the gain is larger than its own standard error over the
blocks (the one-standard-error rule on paired differences). The fit alone never decides: it falls
with every term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.dynamics.load import takes_load
from robot_id.progress import Progress, silent
from robot_id.regression.preprocessing.rest_band import top_speeds
from robot_id.regression.rows.observation import Observation
from robot_id.robot import Robot
from robot_id.robot.friction import DEFAULT, TERMS
from robot_id.robot.friction.replacement import with_friction
from robot_id.tasks.friction.blocks import Blocks, CrossValidation

Array = NDArray[np.float64]
MOST_TERMS = 4
# Stribeck velocities that are tried, of the top speed of each joint.
STRIBECK = (0.02, 0.06, 0.15)

# Percent of the squared error that a term must remove to be worth its parameters.
WORTH = 5.0


@dataclass(frozen=True)
class Candidate:
    """
    One structure of all joints.

    :param terms: of every joint.
    :param share: of the top speed that the Stribeck velocity is, None without any.
    :param parameters: number of base parameters.
    :param fit_percent: relative torque error of the fit to all data.
    :param cross_validated_percent: the same on blocks that were left out.
    :param gain_percent: of the weighted squared error on these blocks against the structure it
        extends.
    :param gain_error_percent: its standard error over the blocks.
    :param remark: why it cannot be chosen, whatever its gain.
    """

    terms: tuple[str, ...]
    share: float | None
    parameters: int
    fit_percent: float
    cross_validated_percent: float
    gain_percent: float
    gain_error_percent: float
    remark: str = ''


@dataclass(frozen=True)
class Selection:
    """
    The chosen structure, the candidates and the reason.

    :param robot: with the chosen terms.
    :param terms: the chosen terms.
    :param candidates: all that were tried, in order.
    :param reason: one line.
    :param blocks: how the data were split.
    """

    robot: Robot
    terms: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    reason: str
    blocks: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a file; the first candidate has no gain."""
        rows = [asdict(row) for row in self.candidates]
        return {
            'terms': list(self.terms),
            'reason': self.reason,
            'blocks': self.blocks,
            'candidates': [{**row, 'terms': list(row['terms'])} for row in rows],
        }


def select_friction(
    robot: Robot,
    dataset: Dataset,
    processing: Processing,
    coulomb_slope: float | None = None,
    progress: Progress = silent,
    start: Sequence[str] = DEFAULT,
) -> Selection:
    """
    Return the friction structure that is best on left-out data, the same for all joints.

    :param processing: resolved for these data.
    :param start: the plain structure.
    """
    blocks = Blocks.of(dataset, processing)
    trial = _Trial(robot, dataset, processing, coulomb_slope, blocks)
    current = trial.run(tuple(start), None)
    trial.take_load(current)
    candidates = [_row(current, None)]
    refused: list[Candidate] = []
    for depth in range(MOST_TERMS):
        rows: list[tuple[Candidate, _Outcome]] = []
        options = _extensions(current.terms, current.share, dataset)
        for k, (terms, share) in enumerate(options):
            done = (depth + (k + 1) / len(options)) / MOST_TERMS
            progress(min(done, 1.0), f'friction: {", ".join(terms)}')
            outcome = trial.run(terms, share)
            rows.append((_row(outcome, current), outcome))
        candidates += [row for row, _ in rows]
        paying = [pair for pair in rows if _pays(pair[0], current.cv)]
        refused = [row for row, _ in rows if not any(row is p for p, _ in paying)]
        if not paying:
            break
        current = min(paying, key=lambda pair: pair[1].cv.weighted)[1]
    progress(1.0, 'friction chosen')
    return Selection(
        current.robot,
        current.terms,
        tuple(candidates),
        _reason(candidates[0], current, refused),
        str(blocks),
    )


@dataclass(frozen=True)
class _Outcome:
    terms: tuple[str, ...]
    share: float | None
    robot: Robot
    cv: CrossValidation


class _Trial:
    """Fits and cross-validates structures of one robot on one data set."""

    def __init__(
        self,
        robot: Robot,
        dataset: Dataset,
        processing: Processing,
        slope: float | None,
        blocks: Blocks,
    ) -> None:
        self.robot, self.dataset, self.processing = robot, dataset, processing
        self.slope, self.blocks = slope, blocks
        self.top = top_speeds(dataset)
        self.weights: Array | None = None
        self.load: dict[str, float] = {}

    def run(self, terms: tuple[str, ...], share: float | None) -> _Outcome:
        names = self.robot.joint_names
        constants = {
            name: {t: share * float(v) for t in terms if t == 'stribeck'}
            for name, v in zip(names, np.maximum(self.top, 1e-3))
            if share is not None
        }
        robot = with_friction(self.robot, dict.fromkeys(names, terms), constants)
        if takes_load(robot):
            robot = robot.with_load(
                np.array([self.load.get(name, 0.0) for name in robot.base.names])
            )
        observation = Observation(robot, self.dataset, self.processing, self.slope)
        cv = self.blocks.validate(observation, self.weights)
        self.weights = cv.weights
        return _Outcome(terms, share, robot, cv)

    def take_load(self, outcome: _Outcome) -> None:
        """From now on take the load from these parameters."""
        self.load = dict(zip(outcome.robot.base.names, outcome.cv.chi.tolist()))


def _extensions(
    terms: tuple[str, ...], share: float | None, dataset: Dataset
) -> list[tuple[tuple[str, ...], float | None]]:
    """Return the structures with one term more, and the Stribeck velocities to try."""
    found: list[tuple[tuple[str, ...], float | None]] = []
    for name, term in TERMS.items():
        if name in terms or name in DEFAULT or name in ('asymmetric_coulomb', 'smooth_coulomb'):
            continue
        if term.modulation == 'temperature' and not _warms(dataset):
            continue
        rest = tuple(t for t in terms if t not in (*term.replaces, *term.holds))
        for value in STRIBECK if name == 'stribeck' else (share,):
            found.append(((*rest, name), value))
    return found


def _warms(dataset: Dataset) -> bool:
    """Return whether the temperature is measured and changes by a few kelvin."""
    return all(run.temperature is not None for run in dataset.runs) and any(
        run.temperature is not None and np.ptp(run.temperature) > 2.0 for run in dataset.runs
    )


def _row(outcome: _Outcome, before: _Outcome | None) -> Candidate:
    gain = error = float('nan')
    if before is not None:
        gain, error = outcome.cv.gain_over(before.cv)
    return Candidate(
        outcome.terms,
        outcome.share,
        len(outcome.robot.base),
        outcome.cv.fit_percent,
        outcome.cv.percent,
        gain,
        error,
        _remark(outcome),
    )


def _remark(outcome: _Outcome) -> str:
    """Return what is wrong with a structure: a term whose parameters are mostly negative."""
    values = dict(zip(outcome.robot.base.names, outcome.cv.chi.tolist()))
    for name in outcome.terms:
        if TERMS[name].not_negative:
            names = [column.name.split('{')[0] for column in TERMS[name].columns]
            own = [
                values.get(f'{stem}{j + 1}', 0.0) for stem in names for j in range(outcome.robot.n)
            ]
            if sum(v < 0.0 for v in own) > len(own) / 2:
                return f' ({names[0]} is negative)'
    return ''


def _pays(row: Candidate, current: CrossValidation) -> bool:
    """Return whether a term lowers the error by more than its standard error, in torques too."""
    better = row.cross_validated_percent < current.percent
    return not row.remark and row.gain_percent > max(row.gain_error_percent, WORTH) and better


def _reason(plain: Candidate, chosen: _Outcome, refused: Sequence[Candidate]) -> str:
    if chosen.terms == plain.terms:
        return (
            'no further term lowers the error on left-out blocks by more than its standard error'
        )
    added = [t for t in chosen.terms if t not in plain.terms]
    text = (
        f'{" and ".join(added)} lower the error on left-out blocks from '
        f'{plain.cross_validated_percent:.2f} to {chosen.cv.percent:.2f} %'
    )
    return text + ('; no further term helps' if refused else '')
