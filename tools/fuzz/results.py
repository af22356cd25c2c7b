"""A result with every key, and everyone who reads one."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.console import Console

from robot_id.export import FORMATS, export
from robot_id.methods.consistency import project
from robot_id.methods.parameters import parameters_for, robot_for
from robot_id.methods.result import Iteration, Result
from robot_id.report.compare import comparison_table, side_by_side
from robot_id.report.tables import judged_unfit, parameter_table, result_lines, verdict_lines
from robot_id.robot import Robot, load_robot
from robot_id.tasks.payload.result import STANDARD
from robot_id.tasks.validation import Conditions

# Top keys of the formats that are YAML.
_YAML_KEYS = {
    'yaml': {'robot', 'method', 'source', 'relative_error_percent', 'converged', 'parameters'},
    'ros-params': {'/**/ctc_controller'},
}


class Injected(Exception):
    """A text of a result that became a key of another language."""


def whole(scale: float = 1.0, physical: bool = False) -> dict[str, Any]:
    """Return the JSON form of a result of the EMPS with every key."""
    robot = load_robot('emps')
    b = len(robot.base)
    values = scale * np.abs(robot.truth()) + 0.1
    root = np.random.default_rng(0).normal(size=(b, b))
    result = Result(
        'emps', 'idim_wls', robot.base.names, values, 1e-4 * root @ root.T,
        essential=np.arange(b) % 2 == 0, relative_error_percent=2.0,
        relative_error_percent_per_joint=np.array([2.0]), condition_number=30.0, iterations=3,
        simulations=2, elapsed_s=0.1, history=(Iteration(values, 3.0, 0.5),) * 2,
        options={'cutoff_hz': 20.0, 'decimation': None, 'rest_band': [0.1],
                 'filter': 'butterworth'},
        warnings=('one', 'two'), verdict='usable', reasons=('a reason',),
        extras={'rate_hz': 1000.0, 'processing': ['a'], 'data_notes': ['b'], 'equations': 9,
                'removed': ['Fv1'], 'residual': {'deviation_factor': [1.0]}},
        holdout_error_percent=2.5,
        findings=({'code': 'rest', 'joint': 'carriage', 'certainty': 0.5, 'message': 'm',
                   'fix': 'f'},),
        friction={'terms': {'carriage': ['viscous', 'coulomb', 'offset']}, 'constants': []},
    )  # fmt: skip
    return (project(robot, result) if physical else result).to_dict()


def load_file() -> str:
    """Return a file as `payload --json` writes it, what `--known` reads."""
    pairs = {name: {'value': 0.1 * (k + 1), 'std': 0.01} for k, name in enumerate(STANDARD)}
    return json.dumps({'schema': 1, 'standard': pairs, 'mass': {'value': 1.0, 'std': 0.01}})


def use(robot: Robot, path: Path, sound: Path) -> Result:
    """Read a result and give it to everyone who takes one."""
    result = Result.load(path)
    result.to_dict()
    judged_unfit(path, result)
    screen = Console(file=io.StringIO(), width=80)
    both = side_by_side([Result.load(sound), result], [sound, path])
    for shown in (comparison_table(both), parameter_table(result)):
        screen.print(shown)
    for line in verdict_lines(result):
        screen.print(line, markup=False)
    Conditions.of(result, 1000.0)
    own = robot_for(robot, result)
    parameters_for(own, result)
    kinds = list(FORMATS)
    kind = kinds[path.stat().st_size % len(kinds)]
    made = export(kind, result, path, 'emps', force=True)
    if kind in _YAML_KEYS and set(yaml.safe_load(made.text)) != _YAML_KEYS[kind]:
        raise Injected(f'{kind} has other keys')
    if made.check is not None:
        made.check(made.text)
    result_lines(result)
    return result
