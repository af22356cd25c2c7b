"""
The control laws, one file each: numbers, memory, compiled torque, gains, sensitivities.

A new law is a file here, named as the law, that ends with `LAW = <its class>`, and its name in
`model.description.LawName`, where robot files are checked against it.
"""

from importlib import import_module
from pathlib import Path

from robot_id.dynamics.simulation.controller import Law
from robot_id.dynamics.simulation.law import control_torque
from robot_id.kernel_cache import made_of

# The compiled loop stands in `dynamics`, with the kernels of these files in it.
made_of(control_torque, Path(__file__).parent.glob('*.py'))


def law_named(name: str, **options: bool) -> Law:
    """
    Return a law by its name in the robot file.

    :param options: of the law.
    """
    law: type[Law] = import_module(f'{__name__}.{name}').LAW
    return law(**options)
