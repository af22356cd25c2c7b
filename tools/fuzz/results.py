"""A result with every key, and everyone who reads one."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.console import Console

from robot_id.dynamics.simulation.servo.drives import DRIVES
from robot_id.export import FORMATS, export
from robot_id.export.servo import WRITERS
from robot_id.export.writing import write_exported
from robot_id.methods.consistency import project
from robot_id.methods.parameters import parameters_for, robot_for
from robot_id.methods.registry import TORQUE_FREE
from robot_id.methods.result import Iteration, Result
from robot_id.methods.torque_free.unknowns import places
from robot_id.report.compare import comparison_table, side_by_side
from robot_id.report.html.servo import servo_section
from robot_id.report.tables import (
    judged_unfit,
    parameter_table,
    result_lines,
    servo_lines,
    verdict_lines,
)
from robot_id.robot import Robot, load_robot
from robot_id.tasks.payload.result import STANDARD
from robot_id.tasks.torque_free import method_of
from robot_id.tasks.validation import Conditions

# Top keys of the formats that are YAML.
_YAML_KEYS = {
    'yaml': {'robot', 'method', 'source', 'relative_error_percent', 'converged', 'parameters'},
    'ros-params': {'/**/ctc_controller'},
    'joints': {'robot', 'method', 'drive', 'friction_terms', 'scale', 'joints'},
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


def servo(drive: str = 'current') -> dict[str, Any]:
    """Return the JSON form of a result without torques, limits that are not known among it."""
    joint, terms = 'carriage', ['viscous', 'coulomb']
    numbers = {
        place.name: 0.1 if place.start is None else place.start
        for place in places(DRIVES[drive], terms, 0.1)
    }
    names = ('armature.carriage', 'viscous.carriage', 'coulomb.carriage', 'delay')
    row = {'run': 1, 'samples': 9, 'mean_absolute_error': 0.01, 'rms_error': 0.02,
           'largest_error': float('nan'), 'per_joint': [0.01]}  # fmt: skip
    result = Result(
        'emps', 'servo_oe', names, np.array([0.1, 0.2, 0.3, 0.01]), np.diag([1e-4] * 4),
        relative_error_percent=2.0, options={'drive': drive, 'friction': 'M1'}, verdict='usable',
        extras={
            'rate_hz': 1000.0, 'drive': drive, 'friction': terms, 'scale': 'kp sets the scale',
            'joints': {joint: numbers}, 'joint_names': [joint], 'data_notes': ['a'],
            'inputs': {'gain': [1.0], 'supply': [1.0], 'load': [0.5]}, 'runs': [row],
            'horizons': [{'horizon_s': h, 'mean_absolute_error': 0.01, 'predictions': 3}
                         for h in (0.1, None)],
            'holdout': [row], 'not_identifiable': ['kt.carriage: fixed'],
            'friction_choice': [{'friction': 'M1', 'holdout_error': 0.01}],
        },
    )  # fmt: skip
    return result.to_dict()


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
    kinds = [kind for kind in FORMATS if kind != 'joints']
    if result.method in TORQUE_FREE:
        kinds = list(WRITERS)
        servo_section(result)
        servo_lines(result)
        method_of(result)
    else:
        Conditions.of(result, 1000.0)
        parameters_for(robot_for(robot, result), result)
    result_lines(result)
    kind = kinds[path.stat().st_size % len(kinds)]
    made = export(kind, result, path, 'emps', force=True)
    if kind in _YAML_KEYS and set(yaml.safe_load(made.text)) != _YAML_KEYS[kind]:
        raise Injected(f'{kind} has other keys')
    write_exported(made, path.with_name('exported'))
    return result
