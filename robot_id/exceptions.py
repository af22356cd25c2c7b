"""
Every error a user can cause, one class per room.

The message is one line that names the file, key or joint, the offending value, and the fix.
The command line prints it and exits with code 2; nodes put it into their error string.
"""

import difflib
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from robot_id import renamed
from robot_id.texts import one_line

# Of an offending value, and of a whole line.
LONGEST_VALUE, LONGEST_LINE = 200, 1200
_LISTED = 40
_LONG_WORD = re.compile(rf'[^\s\']{{{LONGEST_VALUE + 1},}}|\'[^\']{{{LONGEST_VALUE + 1},}}\'')


class RobotIdError(Exception):
    """
    Base of all errors that the user can correct; never a bug.

    The message is always one printable line; of a long value it shows the beginning and the end.
    The names in the message can also be read as data, None if they do not apply; an error that was
    raised from another one takes over its data.

    :param code: what is wrong, a word that stays when the message is improved.
    :param joint: name of the joint.
    :param key: option, key of a file or parameter.
    :param value: what was found.
    :param bound: the bound that it violates.
    """

    def __init__(
        self,
        message: object = '',
        *,
        code: str | None = None,
        joint: str | None = None,
        key: str | None = None,
        value: Any = None,
        bound: Any = None,
    ) -> None:
        super().__init__(printable(message))
        self._named = {'code': code, 'joint': joint, 'key': key, 'value': value, 'bound': bound}

    def add(self, more: str) -> None:
        """Say more, behind what is said."""
        self.args = (printable(f'{self}; {more}'),)

    @property
    def code(self) -> str | None:
        """What is wrong, a word that stays when the message is improved."""
        return self._of('code')

    @property
    def joint(self) -> str | None:
        """Name of the joint."""
        return self._of('joint')

    @property
    def key(self) -> str | None:
        """Option, key of a file or parameter."""
        return self._of('key')

    @property
    def value(self) -> Any:
        """What was found."""
        return self._of('value')

    @property
    def bound(self) -> Any:
        """The bound that it violates."""
        return self._of('bound')

    def _of(self, name: str) -> Any:
        own = self._named[name]
        return getattr(self.__cause__, name, None) if own is None else own


class DescriptionError(RobotIdError):
    """A robot file, URDF or MDH table that cannot be used."""


class DataError(RobotIdError):
    """Measurements that cannot be read or make no sense."""


class OptionError(RobotIdError):
    """An unknown option, or a value outside its range."""


class IdentificationError(RobotIdError):
    """An estimator that cannot give a reliable answer on these data."""


class OutOfTimeError(IdentificationError):
    """An estimator that its own time limit ended."""


class SimulationError(RobotIdError):
    """A simulation that diverged, with the time and the joint."""


class TrajectoryError(RobotIdError):
    """A trajectory that cannot be built within the limits."""


class ControlError(RobotIdError):
    """A controller set-up or parameter update that is not safe."""


class TimeLimitError(RobotIdError):
    """Work that did not end within the time it was given."""


def shorten(value: object, longest: int = LONGEST_VALUE) -> str:
    """Return a value as text of limited length: its beginning and its end."""
    text = str(value)
    if len(text) <= longest:
        return text
    mark = f' ... ({len(text)} characters) ... '
    rest = max(longest - len(mark), 20)
    return text[: rest - rest // 3] + mark + text[len(text) - rest // 3 :]


def printable(message: object) -> str:
    """Return a message as one line that any terminal can show, with long values shortened."""
    line = _LONG_WORD.sub(lambda found: shorten(found[0]), one_line(message))
    return shorten(line, LONGEST_LINE)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the new name, the nearest known one, or all when none is near."""
    known = [str(each) for each in islice(known, 5000)]
    if said := renamed.hint(str(name), known):
        return said
    # Comparing costs the product of the lengths, and such a long name is no misspelling.
    short = [each for each in known if len(each) <= 100]
    near = difflib.get_close_matches(str(name)[:100], short, n=1, cutoff=0.5)
    if near:
        return f"did you mean '{near[0]}'?"
    more = ' ...' if len(known) > _LISTED else ''
    return 'known: ' + ', '.join(known[:_LISTED]) + more if known else 'none are known'
