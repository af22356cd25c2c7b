"""Reading a robot file, with errors that name the file, the key and the fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from robot_id.exceptions import DescriptionError, did_you_mean, shorten
from robot_id.model.bounds import Bounds, LinkBounds, Plate, TotalMass
from robot_id.model.description import (
    Alias,
    Joint,
    JointLimits,
    Loop,
    MdhRow,
    Noise,
    RobotDescription,
)
from robot_id.yaml_text import YamlError, read_yaml


def read_description(path: Path) -> RobotDescription:
    """Read and check a robot file; a mistake is one line with the file, the key and the fix."""
    try:
        data = read_yaml(path)
    except (OSError, ValueError) as error:
        raise DescriptionError(f'{path}: {getattr(error, "strerror", None) or error}') from error
    except YamlError as error:
        raise DescriptionError(f'{path}: {error}') from error
    if not isinstance(data, dict):
        raise DescriptionError(
            f'{path}: a robot file is a mapping of keys, got {type(data).__name__}'
        )
    return parse_description(data, str(path))


def parse_description(data: dict[str, Any], source: str) -> RobotDescription:
    """Check a robot file that is already a dictionary."""
    try:
        return RobotDescription.model_validate(data)
    except ValidationError as error:
        raise DescriptionError(f'{source}: {_first_problem(error)}') from error


def _first_problem(error: ValidationError) -> str:
    problems = error.errors()
    # A misspelt key is often also a missing one: the misspelling is the helpful half.
    unknown = [p for p in problems if p['type'] == 'extra_forbidden']
    problem = (unknown or problems)[0]
    place = '.'.join(str(part) for part in problem['loc'])
    if problem['type'] == 'extra_forbidden':
        known = _known_keys(problem['loc'][:-1])
        return f"unknown key '{place}', {did_you_mean(str(problem['loc'][-1]), known)}"
    message = problem['msg'].removeprefix('Value error, ')
    if problem['type'] == 'missing':
        return f"key '{place}' is missing"
    if not place:
        return message
    value = problem['input']
    got = f', got {shorten(repr(value))}' if isinstance(value, (str, int, float)) else ''
    return f'{place}: {message}' + ('' if got[6:] in message else got)


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the model at this place of the file knows."""
    models: dict[str, type[BaseModel]] = {
        'mdh': MdhRow, 'joints': Joint, 'limits': JointLimits, 'loops': Loop, 'noise': Noise,
        'renamed': Alias, 'bounds': Bounds, 'links': LinkBounds, 'planar': Plate,
        'total_mass': TotalMass,
    }  # fmt: skip
    model: type[BaseModel] = RobotDescription
    for part in location:
        model = models.get(str(part), model)
    return list(model.model_fields)
