"""The robot of a result, loaded again from the file that the result names."""

from __future__ import annotations

from pathlib import Path

from robot_id.exceptions import DescriptionError
from robot_id.methods.result import Result
from robot_id.robot import Robot, load_robot


def robot_of(
    result: Result, robot: Robot | str | Path | None = None, source: str | Path = 'result'
) -> tuple[Robot, tuple[str, ...]]:
    """
    Return the robot of a result, and a line where it is not the one that it was identified with.

    :param robot: the robot, where it is given; None loads what the result names.
    :param source: of the result, for messages.
    :raises DescriptionError: where the file is not there, naming it.
    """
    stored = result.robot_file
    if robot is not None:
        found = load_robot(robot)
    else:
        name = stored['path'] if stored else result.robot
        options = (
            {key: stored[key] for key in ('locked', 'xacro_args') if key in stored}
            if stored
            else {}
        )
        try:
            found = load_robot(
                name, lock=options.get('locked'), xacro_args=options.get('xacro_args')
            )
        except DescriptionError as error:
            raise DescriptionError(
                f'{error}; {source} names this robot: give its file with --robot (robot=)',
                key='robot',
                value=name,
            ) from error
    if stored and found.source is not None and found.source.sha256 != stored['sha256']:
        return found, (
            f'{source}: the robot was identified with another content of {stored["path"]}, or '
            'with another file: names and values may not fit',
        )
    return found, ()
