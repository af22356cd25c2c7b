"""The JSON form of a result, checked key by key before a Result is built of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from robot_id import budget
from robot_id.exceptions import DataError, shorten

# Keys with one number each; null stands for what is not known.
_NUMBERS = (
    'relative_error_percent', 'condition_number', 'elapsed_s', 'holdout_error_percent',
)  # fmt: skip
_COUNTS = ('iterations', 'simulations')
_MOST_PARAMETERS = 5000
_MOST_COUNTED = 1 << 53
# No parameter of a robot is larger.
_LARGEST = 1e15


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; NaN and Infinity, which are not JSON, become null."""
    try:
        length = path.stat().st_size
        budget.check_memory(16 * length, 0, f'{path}:')
        return json.loads(path.read_text(encoding='utf-8'), parse_constant=lambda word: None)
    except OSError as error:
        raise DataError(f'{path}: {error.strerror or error}') from error
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, ValueError) else 'nested too deeply'
        raise DataError(f'{path}: not a JSON file ({reason})') from error


def check_form(data: dict[str, Any], source: str) -> None:
    """Refuse a result with a wrong entry, naming its key."""
    parameters = _list(data['parameters'], f'{source}: parameters')
    b = len(parameters)
    if not 0 < b <= _MOST_PARAMETERS:
        raise DataError(f'{source}: parameters has {b} entries, must be 1 to {_MOST_PARAMETERS}')
    names = set()
    for number, entry in enumerate(parameters, start=1):
        where = f'{source}: parameter {number}'
        _table(entry, where)
        name = entry.get('name')
        if not isinstance(name, str) or not name or not name.isprintable():
            raise DataError(f"{where}: 'name' is {_shown(name)}, a text is needed")
        if name in names:
            raise DataError(f"{where}: '{name}' appears twice")
        names.add(name)
        _number(entry.get('value'), f"{where}: 'value' of {name}", null=False)
        _number(entry.get('std'), f"{where}: 'std' of {name}")
    for key in _NUMBERS:
        _number(data.get(key), f'{source}: {key}')
    for key in _COUNTS:
        _count(data.get(key, 1), f'{source}: {key}')
    for key in ('robot', 'method'):
        if not isinstance(data.get(key, ''), str):
            raise DataError(f'{source}: {key} is {_shown(data[key])}, a text is needed')
    _numbers(data.get('relative_error_percent_per_joint') or [], f'{source}: error per joint')
    _check_covariance(data.get('covariance'), b, source)
    for number, step in enumerate(_list(data.get('history') or [], f'{source}: history'), start=1):
        where = f'{source}: step {number} of the history'
        _numbers(_table(step, where).get('parameters'), where, b)
        _number(step.get('relative_error_percent'), where)
        _number(step.get('step', 1.0), where, null=False)
    for line in _list(data.get('warnings') or [], f'{source}: warnings'):
        if not isinstance(line, str):
            raise DataError(f'{source}: warnings has {_shown(line)}, a text is needed')
    for key in ('options', 'extras'):
        _table(data.get(key) or {}, f'{source}: {key}')


def _check_covariance(rows: Any, b: int, source: str) -> None:
    if rows is None or rows == []:
        return
    if len(_list(rows, f'{source}: covariance')) != b:
        raise DataError(f'{source}: covariance has {len(rows)} rows for {b} parameters')
    for number, row in enumerate(rows, start=1):
        _numbers(row, f'{source}: covariance, row {number}', b)


def _numbers(values: Any, where: str, count: int | None = None) -> None:
    if count is not None and len(_list(values, where)) != count:
        raise DataError(f'{where} has {len(values)} numbers, {count} are needed')
    for value in _list(values, where):
        _number(value, where)


def _number(value: Any, where: str, null: bool = True) -> None:
    if value is None and null:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise DataError(f'{where} is {_shown(value)}, a number is needed')
    try:
        size = abs(float(value))
    except OverflowError:
        size = math.inf
    if not math.isfinite(size):
        raise DataError(f'{where} is not a finite number')
    if not null and size > _LARGEST:
        raise DataError(f'{where} is {value:g}, beyond {_LARGEST:g}')


def _count(value: Any, where: str) -> None:
    _number(value, where)
    if value is None or not 0 <= value <= _MOST_COUNTED or value != int(value):
        raise DataError(f'{where} is {_shown(value)}, a count is needed')


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f'{where} is {_shown(value)}, a list is needed')
    return value


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f'{where} is {_shown(value)}, keys and values are needed')
    return value


def _shown(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 1000:
        return 'a huge number'
    return shorten(repr(value), 80) if not isinstance(value, (list, dict)) else 'a list or table'
