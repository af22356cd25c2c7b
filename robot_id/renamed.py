"""
Names of earlier versions: each is refused in one line that says the name of today.

An option, flag, value or key is renamed once. `exceptions.did_you_mean` looks here before it
guesses, so whatever refuses an unknown name (`--set`, flags, YAML keys, ROS parameters, keys and
values of a result file) names the new one.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal['option', 'value', 'flag', 'motion', 'verdict']


@dataclass(frozen=True)
class Renamed:
    """
    One name of an earlier version.

    :param kind: an option of a method, a value of one, a flag of the command line, a motion, or a
        verdict.
    :param old: the name that is refused.
    :param new: the name of today.
    :param of: the option or flag that a value belongs to, '' for the others.
    """

    kind: Kind
    old: str
    new: str
    of: str = ''

    @property
    def hint(self) -> str:
        """The new name, for a message."""
        return f"its name is '{self.new}'"


RENAMED: tuple[Renamed, ...] = (
    Renamed('option', 'dead_band', 'rest_band'),
    Renamed('option', 'torque_offset_s', 'torque_delay_s'),
    Renamed('option', 'attenuation', 'correct_attenuation'),
    Renamed('value', 'freed', 'project_out', 'reversals'),
    Renamed('value', 'kept', 'keep', 'reversals'),
    Renamed('flag', '--way', '--strategy'),
    Renamed('value', 'a', 'subtract', '--strategy'),
    Renamed('value', 'b', 'known_arm', '--strategy'),
    Renamed('value', 'c', 'joint', '--strategy'),
    Renamed('motion', 'lively', 'random'),
    Renamed('verdict', 'care', 'caution'),
)
_BY_NAME = {each.old: each for each in RENAMED}


def hint(name: str, known: Container[str]) -> str:
    """Return a hint with the new name of an old one, '' where it is not renamed, or not here."""
    found = _BY_NAME.get(name)
    return found.hint if found is not None and found.new in known else ''


def in_result(result: Mapping[str, Any]) -> tuple[str, Renamed] | None:
    """
    Return the first old name in a result file and its key; None where there is none.

    :param result: the content of the file.
    """
    verdict = _BY_NAME.get(str(result.get('verdict')))
    if verdict is not None and verdict.kind == 'verdict':
        return 'verdict', verdict
    options = result.get('options')
    for key, value in (options if isinstance(options, Mapping) else {}).items():
        for each in RENAMED:
            if each.kind == 'option' and key == each.old:
                return f'options.{key}', each
            if each.kind == 'value' and (key, value) == (each.of, each.old):
                return f'options.{key}', each
    return None
