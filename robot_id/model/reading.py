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
        line, key, value = _first_problem(error)
        raise DescriptionError(f'{source}: {line}', key=key, value=value) from error


def _first_problem(error: ValidationError) -> tuple[str, str | None, Any]:
    """Return what is wrong in words, the key, and its value unless that is a whole mapping."""
    problems = error.errors()
    # A misspelt key is often also a missing one: the misspelling is the more helpful message.
    unknown = [p for p in problems if p['type'] == 'extra_forbidden']
    problem = (unknown or problems)[0]
    place = '.'.join(str(part) for part in problem['loc'])
    if problem['type'] == 'extra_forbidden':
        known = _known_keys(problem['loc'][:-1])
        hint = did_you_mean(str(problem['loc'][-1]), known)
        return f"unknown key '{place}', {hint}", place, None
    message = problem['msg'].removeprefix('Value error, ')
    if problem['type'] == 'missing':
        return f"key '{place}' is missing", place, None
    if not place:
        return message, None, None
    value = problem['input']
    if not isinstance(value, (str, int, float)):
        return f'{place}: {message}', place, None
    got = f', got {shorten(repr(value))}'
    return f'{place}: {message}' + ('' if got[6:] in message else got), place, value


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
