"""Friction before and after a fit: its terms, its constants, and the part that a Result keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from robot_id.data.dataset import Dataset
from robot_id.data.signals.processing import Processing
from robot_id.dynamics.load import takes_load
from robot_id.dynamics.temperature import feels_temperature
from robot_id.exceptions import OptionError
from robot_id.methods.friction_fit import Constants, fit_friction, is_linear
from robot_id.methods.registry import Method
from robot_id.methods.result import Result
from robot_id.progress import Progress, part_of, silent
from robot_id.regression.preprocessing.resolve import resolve
from robot_id.robot import Robot
from robot_id.robot.friction import parse_terms
from robot_id.robot.friction.replacement import with_friction
from robot_id.tasks.friction.selection import Selection, select_friction

AUTO = 'auto'
# The temperature is known sample by sample only where W is made of measured motion.
_MEASURED = ('idim_ols', 'idim_wls', 'idim_irls', 'idim_tls')


@dataclass(frozen=True)
class PreparedFriction:
    """
    A robot whose friction terms, constants and load are fixed before a method runs.

    :param robot: with its terms, constants and load.
    :param constants: what was found for them.
    :param selection: what was chosen among, None where the terms were given.
    """

    robot: Robot
    constants: Constants
    selection: Selection | None = None

    def complete(self, result: Result, given: bool) -> Result:
        """
        Return the result with its friction, its deviations widened by those of the constants.

        :param given: whether the terms are not the robot file's.
        """
        if not given and is_linear(self.robot):
            return result
        covariance, effect = result.covariance, self.constants.effect
        if effect.size and effect.shape[0] == len(result.names):
            covariance = covariance + effect @ self.constants.covariance @ effect.T
        warnings = tuple(
            f"friction: '{name}' is at the bound of its range and is not determined"
            for name, bound in zip(self.constants.names, self.constants.at_bound)
            if bound
        )
        return replace(
            result,
            covariance=covariance,
            friction=self.describe(),
            warnings=(*result.warnings, *warnings),
        )

    def describe(self) -> dict[str, Any]:
        """Return the form for a file."""
        found: dict[str, Any] = {
            'terms': {joint.name: list(joint.friction) for joint in self.robot.joints},
            'constants': [
                {'name': name, 'joint': joint, 'term': term, 'value': float(v), 'std': float(s)}
                for name, joint, term, v, s in zip(
                    self.constants.names,
                    self.constants.joints,
                    self.constants.terms,
                    self.constants.values,
                    self.constants.std,
                )
            ],
        }
        if self.selection is not None:
            found['selection'] = self.selection.to_dict()
        return found


def prepare_friction(
    robot: Robot,
    dataset: Dataset,
    method: Method,
    choice: str | None = None,
    progress: Progress = silent,
) -> PreparedFriction:
    """
    Resolve the friction of a robot for a method and its data.

    :param method: its processing and its slope of the Coulomb friction are taken over.
    :param choice: names of terms, separated by commas, for all joints; 'auto' for those that
        improve the error on left-out data; None for those of the robot file.
    """
    selection = None
    slope = getattr(method, 'coulomb_slope', None)
    processing = getattr(method, 'processing', None)
    ordered = dataset.select(robot.joint_names)

    def resolved(robot: Robot) -> tuple[Processing, float | None]:
        found = resolve(robot, ordered, slope, processing)
        return found.processing, found.slope

    if choice == AUTO:
        part = part_of(progress, 0.0, 0.7)
        selection = select_friction(robot, dataset, *resolved(robot), part)
        robot = selection.robot
    elif choice is not None:
        robot = with_friction(robot, dict.fromkeys(robot.joint_names, parse_terms(choice)))
    _refuse(robot, method.name)
    if is_linear(robot):
        return PreparedFriction(robot, Constants(), selection)
    robot, constants = fit_friction(robot, dataset, *resolved(robot), part_of(progress, 0.7, 1.0))
    return PreparedFriction(robot, constants, selection)


def _refuse(robot: Robot, method: str) -> None:
    """Refuse a method that cannot have a term of this robot."""
    if takes_load(robot) and method == 'integral':
        raise OptionError(
            "friction: method 'integral' cannot have load-dependent terms, since the load depends "
            'on the acceleration; choose another method or other terms'
        )
    if feels_temperature(robot) and method not in _MEASURED:
        raise OptionError(
            f"friction: method '{method}' cannot have temperature-dependent terms; choose one of "
            f'{", ".join(_MEASURED)} or other terms'
        )


def selection_lines(friction: dict[str, Any]) -> list[str]:
    """Return the candidates of a result's friction as lines of text."""
    selection = friction.get('selection')
    if not selection:
        return []
    lines = [
        f'friction candidates on {selection["blocks"]} (training error of the trial, '
        'cross-validated error, gain):'
    ]
    # Of one structure with several Stribeck velocities the one with the largest gain is taken.
    same = [row for row in selection['candidates'] if row['terms'] == selection['terms']]
    chosen = max(same, key=lambda row: row['gain_percent'] or 0.0, default=None)
    for row in selection['candidates']:
        gain, error, share = row['gain_percent'], row['gain_error_percent'], row.get('share')
        known = gain is not None and math.isfinite(gain)
        judged = f', {gain:+.1f} +- {error:.1f} %' if known else ''
        at = f' (at {100.0 * share:.2g} % of the top speed)' if share else ''
        mark = ' <- chosen' if row is chosen else ''
        lines.append(
            f'  {", ".join(row["terms"])}{at}: {row["fit_percent"]:.2f} %, '
            f'{row["cross_validated_percent"]:.2f} %{judged}{row["remark"]}{mark}'
        )
    return [*lines, f'friction chosen: {", ".join(selection["terms"])}; {selection["reason"]}']
