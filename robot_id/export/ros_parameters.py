"""The parameter file of `ctc_controller`: its robot, and the result it starts with."""

from __future__ import annotations

from pathlib import Path

from robot_id.exceptions import DataError
from robot_id.export.parts import Exported, Request, dump, head, rows
from robot_id.methods.parameters import parameters_for
from robot_id.regression.consistency import Fitter
from robot_id.regression.consistency.membership import consistent_standard
from robot_id.texts import comment

CONTROLLER = '/**/ctc_controller'


def write(request: Request) -> Exported:
    """
    Return the file; refuse parameters that no robot should move with.

    The controller reads the values from the result itself, so that nothing is rounded and names
    are checked; the file lists them for information.
    """
    result, source = request.result, request.source
    if not result.converged:
        raise DataError(
            f'{source}: {result.method} did not converge, a controller must not start with it'
        )
    robot = request.loaded
    notes: tuple[str, ...] = ()
    if consistent_standard(Fitter(robot), parameters_for(robot, result)) is None:
        notes = (
            'the parameters are not physically consistent: the controller refuses them; identify '
            'with physical=true',
        )
    lines = ''.join(
        f'#   {comment(name)} = {value:.6g} (standard deviation {std:.2g})\n'
        for name, value, std, _, _ in rows(result)
    )
    given = Path(request.name)
    named = str(given.resolve()) if given.suffix else request.name
    settings = {'robot': named, 'parameters': str(source.resolve())}
    content = {CONTROLLER: {'ros__parameters': settings}}
    usage = 'ros2 run robot_id ctc_controller --ros-args --params-file THIS_FILE'
    return Exported(head(result, usage) + lines + dump(content), notes=notes)
