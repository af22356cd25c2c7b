"""Trajectories as plain data and as files (YAML or JSON)."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_id import files
from robot_id.data.border import LARGEST
from robot_id.exceptions import TrajectoryError, did_you_mean
from robot_id.trajectory.concatenate import Concatenation
from robot_id.trajectory.derived import Shifted, SlowDown, TimeScaled
from robot_id.trajectory.fourier import Fourier
from robot_id.trajectory.piecewise import PiecewisePolynomial
from robot_id.trajectory.quintic import Quintic
from robot_id.trajectory.sampled_motion import SampledMotion
from robot_id.trajectory.select import Selection
from robot_id.trajectory.trajectory import Trajectory
from robot_id.trajectory.trapezoid import Trapezoid
from robot_id.yaml_text import LARGEST_TABLE, YamlError, read_yaml

SCHEMA = 1
KINDS: dict[str, type[Trajectory]] = {
    kind.kind: kind
    for kind in (
        Trapezoid,
        Quintic,
        Fourier,
        PiecewisePolynomial,
        SampledMotion,
        Concatenation,
        Selection,
        TimeScaled,
        Shifted,
        SlowDown,
    )
}


def make_trajectory(spec: dict[str, Any]) -> Trajectory:
    """
    Build a trajectory from plain data: `kind` and the arguments of that kind's constructor.

    :param spec: for example {'kind': 'quintic', 'waypoints': [[0], [1]], 'durations': 2}.
    """
    if not isinstance(spec, dict) or not isinstance(spec.get('kind'), str):
        raise TrajectoryError("a trajectory needs a key 'kind': " + ', '.join(KINDS))
    name = spec['kind']
    if name not in KINDS:
        raise TrajectoryError(f"no trajectory kind '{name}': {did_you_mean(name, KINDS)}")
    kind = KINDS[name]
    arguments = {key: value for key, value in spec.items() if key != 'kind'}
    accepted = inspect.signature(kind.__init__).parameters
    for key in arguments:
        if key not in accepted or key == 'self':
            known = [parameter for parameter in accepted if parameter != 'self']
            raise TrajectoryError(f"{name}: unknown key '{key}': {did_you_mean(str(key), known)}")
    for key, parameter in accepted.items():
        if parameter.default is parameter.empty and key != 'self' and key not in arguments:
            raise TrajectoryError(f"{name}: missing key '{key}'")
    if not isinstance(arguments.get('periodic', False), bool):
        raise TrajectoryError(f"{name}: 'periodic' must be true or false")
    impossible = TrajectoryError(
        f'{name}: times, positions, velocities or accelerations that are not finite: numbers too '
        'large, or times too short?'
    )
    try:
        with np.errstate(all='ignore'):
            for key in kind.nested:
                arguments[key] = _built(arguments[key])
            made = kind.from_spec(arguments)
            states = made.sample(np.linspace(0.0, made.duration, 17))
    except ArithmeticError as error:
        raise impossible from error
    if not all(np.all(np.abs(each) <= LARGEST) for each in (*states, made.duration)):
        raise impossible
    return made


def _built(spec: Any) -> Any:
    """Return the trajectory of a spec, or those of a list; the kind refuses anything else."""
    if isinstance(spec, list):
        return [make_trajectory(part) for part in spec]
    return make_trajectory(spec) if isinstance(spec, dict) else spec


def save_trajectory(
    trajectory: Trajectory, path: str | Path, joint_names: Sequence[str] | None = None
) -> None:
    """
    Write a trajectory to a .yaml or .json file, to the last digit.

    :param joint_names: names of its n joints, so that a reader can match them.
    """
    path = Path(path)
    data: dict[str, Any] = {'schema': SCHEMA}
    if joint_names is not None:
        if len(joint_names) != trajectory.n:
            raise TrajectoryError(
                f'{len(joint_names)} joint names for a trajectory of {trajectory.n} joints'
            )
        data['joint_names'] = list(joint_names)
    data.update(trajectory.to_spec())
    if path.suffix == '.json':
        text = json.dumps(data, indent=1) + '\n'
    elif path.suffix in ('.yaml', '.yml'):
        text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=99)
    else:
        raise TrajectoryError(
            f'{path}: the name of a trajectory file must end in .yaml or .json',
            code='wrong_suffix',
        )
    try:
        files.write_text(path, text)
    except OSError as error:
        raise TrajectoryError(f'{path}: {error.strerror or error}') from error


def load_trajectory(path: str | Path, joint_names: Sequence[str] | None = None) -> Trajectory:
    """
    Read a trajectory file; its columns are put in the order of joint_names where both name them.

    :param joint_names: the robot's joints; None keeps the order of the file.
    """
    path = Path(path)
    try:
        data = read_yaml(path, LARGEST_TABLE)
    except OSError as error:
        raise TrajectoryError(f'{path}: {error.strerror or error}', code='no_file') from error
    except YamlError as error:
        raise TrajectoryError(
            f'{path}: not a YAML or JSON file ({error})', code='not_yaml'
        ) from error
    if not isinstance(data, dict):
        raise TrajectoryError(f"{path}: not a trajectory file, it has no key 'kind'")
    schema = data.pop('schema', SCHEMA)
    if schema != SCHEMA:
        raise TrajectoryError(f'{path}: schema {schema!r}, this version reads {SCHEMA}')
    names = data.pop('joint_names', None)
    try:
        trajectory = make_trajectory(data)
        if names is not None and (not isinstance(names, list) or len(names) != trajectory.n):
            raise TrajectoryError(f'joint_names must name its {trajectory.n} joints')
        if joint_names is None:
            return trajectory
        if names is None:
            if trajectory.n != len(joint_names):
                raise TrajectoryError(
                    f'{trajectory.n} joints, the robot has {len(joint_names)} '
                    f'({", ".join(joint_names)})'
                )
            return trajectory
        return Selection.by_name(trajectory, names, joint_names)
    except TrajectoryError as error:
        raise TrajectoryError(f'{path}: {error}') from error
