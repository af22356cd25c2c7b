"""One entry of each axis of the grid, read to plain values; a mistake names its key."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.methods import registry
from robot_id.studies.campaign.random_robots import MOST_JOINTS

Entry = dict[str, Any]
# Noise factors: None is what the robot file has.
NOISE: dict[str, Any] = {
    'encoder_step': None, 'position_std': None, 'torque_std': None, 'colour': 0.0, 'missed': 0.0
}  # fmt: skip
MOST_MISSED, MOST_OFF = 0.5, 0.5
MOST_ROBOTS = 1000


def robots(given: Any, key: str, folder: Path) -> list[Entry]:
    """Read a shipped name, a file, or `{random: COUNT, joints: N, seed: FIRST}`."""
    if isinstance(given, str):
        given = {'robot': given}
    if isinstance(given, dict) and 'random' in given:
        table(given, ('random', 'joints', 'seed'), key)
        count = whole(given['random'], f'{key}.random', 1, MOST_ROBOTS)
        joints = whole(given.get('joints', 6), f'{key}.joints', 1, MOST_JOINTS)
        first = whole(given.get('seed', 0), f'{key}.seed', 0, 1 << 32)
        return [{'random': first + k, 'joints': joints} for k in range(count)]
    table(given, ('robot', 'loop', 'random', 'joints', 'seed'), key, 'robot')
    loop = text(given.get('loop', 'default'), f'{key}.loop')
    return [{'robot': located(text(given['robot'], f'{key}.robot'), folder), 'loop': loop}]


def motions(given: Any, key: str, folder: Path) -> list[Entry]:
    """Read `default` (the robot's own), a motion by name or file, or `{random: SECONDS}`."""
    if isinstance(given, str):
        name = None if given == 'default' else located(given, folder)
        return [{'motion': name, 'seconds': None, 'seed': 0}]
    table(given, ('random', 'seed'), key, 'random')
    seconds = number(given['random'], f'{key}.random', 0.5, 600.0)
    seed = whole(given.get('seed', 0), f'{key}.seed', 0, 1 << 32)
    return [{'motion': 'random', 'seconds': seconds, 'seed': seed}]


def noise(given: Any, key: str, folder: Path) -> list[Entry]:
    """Read `file`, one factor for all, or factors and the other disturbances by name."""
    if given == 'file':
        return [dict(NOISE)]
    if not isinstance(given, dict):
        factor = number(given, key, 0.0, 1e6)
        return [{**NOISE, 'encoder_step': factor, 'torque_std': factor}]
    table(given, NOISE, key)
    found = dict(NOISE)
    for name, value in given.items():
        most = {'missed': MOST_MISSED, 'colour': 0.999}.get(name, 1e6)
        found[name] = number(value, f'{key}.{name}', 0.0, most)
    return [found]


def rates(given: Any, key: str, folder: Path) -> list[Any]:
    """Read `controller` (every control sample is recorded) or Hz."""
    return [None if given == 'controller' else number(given, key, 1e-3, 1e6)]


def starts(given: Any, key: str, folder: Path) -> list[Any]:
    """Read `method` (its own start) or how far off the truth it is, 0 to 0.5."""
    return [None if given == 'method' else number(given, key, 0.0, MOST_OFF)]


def controller(given: Any, key: str, folder: Path) -> list[Entry]:
    """Read what is known of the loop: `exact`, `unknown`, `no_reference`, or what is wrong."""
    if isinstance(given, str):
        one_of(given, ('exact', 'unknown', 'no_reference'), key)
        return [{'knowledge': given, 'bandwidth': 1.0, 'delay': 0}]
    table(given, ('bandwidth', 'delay'), key)
    factor = number(given.get('bandwidth', 1.0), f'{key}.bandwidth', 0.01, 100.0)
    delay = whole(given.get('delay', 0), f'{key}.delay', 0, 100)
    return [{'knowledge': 'partial', 'bandwidth': factor, 'delay': delay}]


def friction(given: Any, key: str, folder: Path) -> list[Any]:
    """Read the friction that is fitted at every joint: `same` as the plant's, or terms."""
    if given == 'same':
        return [None]
    if not isinstance(given, list) or not all(isinstance(term, str) for term in given):
        raise OptionError(f"{key}: give 'same' or a list of friction terms, got {given!r}")
    return [list(given)]


def methods(given: Any, key: str, folder: Path) -> list[Entry]:
    """Read a method by its name, or `{method: NAME, options: {...}, label: TEXT}`."""
    if isinstance(given, str):
        given = {'method': given}
    table(given, ('method', 'options', 'label'), key, 'method')
    name = text(given['method'], f'{key}.method')
    one_of(name, registry.with_torques(), f'{key}.method')
    options = given.get('options') or {}
    if not isinstance(options, dict):
        raise OptionError(f'{key}.options: a table of options, got {options!r}')
    changed = ' '.join(f'{k}={v}' for k, v in options.items())
    label = text(given.get('label', f'{name} {changed}'.strip()), f'{key}.label')
    return [{'method': name, 'options': dict(options), 'label': label}]


# Key of the file -> (reader, what stands there when the file has no such key).
AXES: dict[str, tuple[Callable[[Any, str, Path], list[Any]], Sequence[Any] | None]] = {
    'robots': (robots, None),
    'motions': (motions, ('default',)),
    'noise': (noise, ('file',)),
    'rates': (rates, ('controller',)),
    'starts': (starts, ('method',)),
    'controller': (controller, ('exact',)),
    'friction': (friction, ('same',)),
    'methods': (methods, None),
}


def table(given: Any, known: Sequence[str] | Mapping[str, Any], key: str, must: str = '') -> None:
    """Refuse what is no table, a key that is not known, and a missing one."""
    if not isinstance(given, dict):
        raise OptionError(f'{key}: a table with {", ".join(known)} is needed, got {given!r}')
    for name in given:
        if name not in known:
            raise OptionError(f"{key}: unknown key '{name}', {did_you_mean(str(name), known)}")
    if must and must not in given:
        raise OptionError(f"{key}: key '{must}' is missing")


def text(value: Any, key: str) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise OptionError(f'{key}: a text is needed, got {value!r}')
    return value


def number(value: Any, key: str, least: float, most: float) -> float:
    """Return a number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e300:
        raise OptionError(f'{key}: a number is needed, got {value!r}')
    if not least <= value <= most:
        raise OptionError(f'{key}: {value:g} must lie between {least:g} and {most:g}')
    return float(value)


def whole(value: Any, key: str, least: int, most: int) -> int:
    """Return a whole number within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise OptionError(f'{key}: a whole number is needed, got {value!r}')
    return int(number(value, key, least, most))


def one_of(value: str, known: Sequence[str], key: str) -> None:
    """Refuse a word that is none of the known ones."""
    if value not in known:
        raise OptionError(f"{key}: '{value}' is not known, {did_you_mean(value, known)}")


def located(name: str, folder: Path) -> str:
    """Return a name as it is, a file with its whole path: it may stand beside the campaign."""
    path = folder / name
    return str(path.resolve()) if Path(name).suffix or os.path.isfile(path) else name
