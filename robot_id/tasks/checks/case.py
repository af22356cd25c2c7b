"""The input of the detectors, and their proposals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robot_id.data.dataset import Dataset
from robot_id.robot import Robot
from robot_id.tasks.checks.finding import Finding
from robot_id.tasks.checks.hypothesis import Hypothesis
from robot_id.tasks.checks.models import Explanation, Models
from robot_id.tasks.checks.signals import Signals, prepare

# Share of a threshold that the free model has to gain where there is no prior model.
FREE_ALONE = 0.6


@dataclass
class Case:
    """
    One recording with its robot file.

    :param robot: as described.
    :param dataset: columns in the order of the robot's joints.
    """

    robot: Robot
    dataset: Dataset

    @cached_property
    def signals(self) -> Signals:
        """The recording at a modest rate."""
        key = ('signals', *self.robot.prismatic.tolist())
        return self.dataset.kept.get(key, lambda: prepare(self.dataset, self.robot.prismatic))

    @cached_property
    def models(self) -> Models:
        """The two models of the recording."""
        return Models(self.robot, self.signals)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return self.robot.joint_names


@dataclass(frozen=True)
class Proposal:
    """
    One change that may explain the recording better.

    :param hypothesis: the change.
    :param screened: its gain in the fast screening.
    :param threshold: gain it needs.
    :param finding: makes the finding when the proposal wins.
    :param joints: indices of the joints that it names, none for all.
    :param gain: gain by both models, see Explanation.gain; None before the last round.
    :param after: what stays unexplained with it.
    """

    code: str
    hypothesis: Hypothesis
    screened: float
    threshold: float
    finding: Callable[[Proposal], Finding]
    joints: tuple[int, ...] = ()
    gain: float = 0.0
    after: Explanation | None = None

    def judged(self, models: Models) -> Proposal:
        """Return the proposal with its gain by both models."""
        after = models.explain(self.hypothesis)
        return replace(self, gain=after.gain(models.nominal), after=after)


def proposal(
    case: Case,
    code: str,
    hypothesis: Hypothesis,
    finding: Callable[[Proposal], Finding],
    threshold: float,
    joints: tuple[int, ...] = (),
) -> Proposal:
    """
    Return a change with its gain in the fast screening.

    :param joints: that it names, none for all.
    :param threshold: gain by both models that it needs; one model alone gains less.
    """
    if case.models.prior is None:
        threshold *= FREE_ALONE
    return Proposal(code, hypothesis, case.models.screen(hypothesis), threshold, finding, joints)


def percent(values: np.ndarray) -> str:
    """Return relative residuals as the text of their rms, in percent."""
    return f'{100 * float(np.sqrt((values**2).mean())):.3g} %'


def improvement(case: Case, found: Proposal) -> str:
    """Return the figures of a proposal: unexplained torque before and after, in percent."""
    before, after = case.models.nominal, found.after
    assert after is not None
    way = 'falls' if np.mean(after.free**2) < np.mean(before.free**2) else 'goes'
    text = f'unexplained torque {way} from {percent(before.free)} to {percent(after.free)}'
    if before.prior is not None and after.prior is not None:
        text += f' (with the inertias of the robot file: {percent(before.prior)} to '
        text += f'{percent(after.prior)})'
    return text


def certainty(gain: float, threshold: float) -> float:
    """Return how sure a proposal is: 0.7 at its threshold, near 1 at several times that."""
    return float(np.clip(1.0 - 0.3 * np.exp(1.0 - gain / threshold), 0.5, 0.995))
