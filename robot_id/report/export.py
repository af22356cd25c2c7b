"""A result for other programs: YAML, a ROS 2 parameter file, or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from robot_id.estimation.result import Result
from robot_id.model.json_numbers import finite_or_none

CONTROLLER = '/**/ctc_controller'


def to_yaml(result: Result, robot: str, source: Path) -> str:
    """Return every parameter by its name, with what one needs to judge it."""
    content = {
        'robot': robot,
        'method': result.method,
        'source': str(source),
        'relative_error_percent': finite_or_none(result.relative_error_percent),
        'converged': result.converged,
        'parameters': {
            name: {
                'value': finite_or_none(value),
                'std': finite_or_none(std),
                'percent_std': finite_or_none(percent),
                'essential': bool(flag),
            }
            for name, value, std, percent, flag in _rows(result)
        },
    }
    return _head(result, 'SI units on the joint side') + _dump(content)


def to_ros_parameters(result: Result, robot: str, source: Path) -> str:
    """
    Return the parameter file of `ctc_controller`: its robot, and the result it starts with.

    The controller reads the values from the result itself, so that nothing is rounded and names
    are checked; the file lists them for the reader.
    """
    lines = ''.join(
        f'#   {name} = {value:.6g} (deviation {std:.2g})\n'
        for name, value, std, _, _ in _rows(result)
    )
    settings = {'robot': robot, 'parameters': str(source.resolve())}
    content = {CONTROLLER: {'ros__parameters': settings}}
    usage = 'ros2 run robot_id ctc_controller --ros-args --params-file THIS_FILE'
    return _head(result, usage) + lines + _dump(content)


def to_csv(result: Result, robot: str, source: Path) -> str:
    """Return one line for each parameter; an empty cell where a number is not known."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator='\n')
    writer.writerow(('name', 'value', 'std', 'percent_std', 'essential'))
    for name, value, std, percent, flag in _rows(result):
        cells = (
            '' if finite_or_none(x) is None else repr(float(x)) for x in (value, std, percent)
        )
        writer.writerow((name, *cells, 'true' if flag else 'false'))
    return text.getvalue()


FORMATS: dict[str, Callable[[Result, str, Path], str]] = {
    'yaml': to_yaml,
    'ros-params': to_ros_parameters,
    'csv': to_csv,
}


def _rows(result: Result) -> list[tuple[str, float, float, float, bool]]:
    flags = [True] * len(result.names) if result.essential is None else result.essential
    return list(zip(result.names, result.values, result.std, result.percent_std, flags))


def _head(result: Result, note: str) -> str:
    return (
        f'# {len(result.names)} base parameters of {result.robot} by {result.method}\n# {note}\n'
    )


def _dump(content: Any) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=99)
