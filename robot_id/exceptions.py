"""
Every error a user can cause, one class per room.

The message is one line that names the file, key or joint, the offending value, and the fix.
The command line prints it and exits with code 2; nodes put it into their error string.
"""

import difflib
from collections.abc import Iterable
from typing import Any


class RobotIdError(Exception):
    """
    Base of all errors that are the user's to mend, never a bug of ours.

    What the message names can be read as data too, each None where it does not apply.

    :param joint: name of the joint.
    :param key: option, key of a file or parameter.
    :param value: what was found.
    :param bound: what it must keep to.
    """

    def __init__(
        self,
        message: str = '',
        *,
        joint: str | None = None,
        key: str | None = None,
        value: Any = None,
        bound: Any = None,
    ) -> None:
        super().__init__(message)
        self.joint = joint
        self.key = key
        self.value = value
        self.bound = bound


class DescriptionError(RobotIdError):
    """A robot file, URDF or MDH table that cannot be used."""


class DataError(RobotIdError):
    """Measurements that cannot be read or make no sense."""


class OptionError(RobotIdError):
    """An unknown option, or a value outside its range."""


class IdentificationError(RobotIdError):
    """An estimator that cannot give an honest answer on these data."""


class SimulationError(RobotIdError):
    """A simulation that diverged, with the time and the joint."""


class TrajectoryError(RobotIdError):
    """A trajectory that cannot be built within the limits."""


class ControlError(RobotIdError):
    """A controller set-up or parameter update that is not safe."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known name, or with all of them when none is near."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if near:
        return f"did you mean '{near[0]}'?"
    return 'known: ' + ', '.join(known) if known else 'none are known'
