"""Reading a robot file, with errors that name the file, the key and the fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from robot_id.exceptions import DescriptionError, did_you_mean
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


class _UniqueKeys(yaml.SafeLoader):
    """YAML where a key that stands twice is a mistake, not an override."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                line = key.start_mark.line + 1
                raise yaml.YAMLError(f"key '{key.value}' appears twice, again in line {line}")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_description(path: Path) -> RobotDescription:
    """Read and check a robot file; a mistake is one line with the file, the key and the fix."""
    try:
        data = yaml.load(path.read_text(), _UniqueKeys)
    except OSError as error:
        raise DescriptionError(f'{path}: {error.strerror}') from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DescriptionError(f'{path}: not YAML ({" ".join(str(error).split())})') from error
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
    got = f', got {value!r}' if isinstance(value, (str, int, float)) else ''
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
