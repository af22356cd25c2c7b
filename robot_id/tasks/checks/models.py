"""How well a hypothesis explains the torques of a recording, by the free and the prior model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.kernels.tree import Tree, tree_of
from robot_id.robot import Robot
from robot_id.tasks.checks.free_model import FreeModel
from robot_id.tasks.checks.hypothesis import Hypothesis
from robot_id.tasks.checks.plain_robot import prior_inertia, with_plain_terms
from robot_id.tasks.checks.prior_model import PriorModel
from robot_id.tasks.checks.signals import Signals

Array = NDArray[np.float64]

# No residual counts as smaller than this share of the torque: below it lies the filters' error.
FLOOR = 0.004
# A prior model that leaves this many times more than the free one is a poor one.
ROUGH = 1.5


@dataclass(frozen=True)
class Explanation:
    """
    The unexplained torques under a hypothesis.

    :param free: (n,) rms of the residuals of the free model, relative to the torques.
    :param held_out: (n,) the same of either half of the recording, by the other half's fit.
    :param prior: (n,) the same of the prior model, None without usable inertias.
    :param scale: (n,) s_j of the prior model.
    :param scale_std: (n,) its deviations.
    :param chi: (b,) parameters of the free model.
    :param moving: (n,) joints that count: the residual of a resting one is friction of unknown
        sign.
    """

    free: Array
    held_out: Array
    prior: Array | None
    scale: Array
    scale_std: Array
    chi: Array
    moving: NDArray[np.bool_]

    def gain(self, before: Explanation) -> float:
        """
        Return how much better this is than another explanation.

        The sum over the joints and both models of log(residual before / residual now): half the
        ratio of the log-likelihoods per equation, each joint having noise of unknown size.
        """
        better = float(np.log(before.free / self.free)[self.moving].sum())
        if self.prior is not None and before.prior is not None:
            better += float(np.log(before.prior / self.prior)[self.moving].sum())
        return better


class Models:
    """
    The two models of one recording.

    :param robot: as the user described it.
    :param signals: the recording at a modest rate.
    """

    def __init__(self, robot: Robot, signals: Signals) -> None:
        self.signals = signals
        self.robot = with_plain_terms(robot, robot.gravity)
        self.free = FreeModel(self.robot, signals)
        inertia = prior_inertia(robot)
        self.prior = None if inertia is None else PriorModel(self.robot, inertia)

    @cached_property
    def nominal(self) -> Explanation:
        """The recording as it is."""
        return self.explain(Hypothesis())

    def explain(self, hypothesis: Hypothesis) -> Explanation:
        """Fit both models under a hypothesis."""
        s, tree = hypothesis.apply(self.signals), self._tree(hypothesis)
        left, held_out, chi = self.free.tried(s, tree)
        prior, scale, std = None, np.full(s.n, np.nan), np.full(s.n, np.inf)
        if self.prior is not None:
            prior = np.maximum(self.prior.residuals(s, tree), FLOOR)
            scale, std = self.prior.scales(s, tree)
        left, held_out = np.maximum(left, FLOOR), np.maximum(held_out, FLOOR)
        return Explanation(left, held_out, prior, scale, std, chi, self.signals.moving)

    def screen(self, hypothesis: Hypothesis) -> float:
        """
        Return what a hypothesis gains, roughly and fast: by the prior model where there is one.

        The prior model has few unknowns and sees nearly everything, so a change that does not
        improve it need not be tried on the free model.
        """
        nominal = self.nominal.free if self.prior is None else self.nominal.prior
        assert nominal is not None
        ratio = nominal / np.maximum(self.residuals(hypothesis), FLOOR)
        return float(np.log(ratio)[self.signals.moving].sum())

    def residuals(self, hypothesis: Hypothesis) -> Array:
        """(n,) relative residuals by the prior model, by the free one where there is no prior."""
        s, tree = hypothesis.apply(self.signals), self._tree(hypothesis)
        if self.prior is None:
            return self.free.residuals(s, tree)[0]
        return self.prior.residuals(s, tree)

    def best_residuals(self, hypothesis: Hypothesis) -> Array:
        """(n,) relative residuals by the prior model, by the free one where the prior is poor."""
        nominal = self.nominal
        if nominal.prior is not None and np.all(nominal.prior < ROUGH * nominal.free):
            return self.residuals(hypothesis)
        return self.free.residuals(hypothesis.apply(self.signals), self._tree(hypothesis))[0]

    def _tree(self, hypothesis: Hypothesis) -> Tree | None:
        """Return the robot with the gravity and the lengths of a hypothesis, None for as it is."""
        gravity, lengths = hypothesis.gravity, hypothesis.lengths
        if gravity is None and lengths is None:
            return None
        tree = tree_of(self.robot)
        if gravity is not None:
            tree = tree._replace(gravity=np.array(gravity, float))
        if lengths is not None:
            tree = tree._replace(origin=tree.origin * np.array(lengths)[:, None])
        return tree
