"""The identified model as a Python package that needs nothing but numpy: a folder for pip."""

from __future__ import annotations

from robot_id.export.c_code import identifier
from robot_id.export.parts import Exported, Request
from robot_id.export.python_package.model_module import ModelModule, compare
from robot_id.texts import markdown


def write(request: Request) -> Exported:
    """Return the folder; refuse parameters that no robot should move with."""
    robot, chi = request.controller_model()
    package = f'{identifier(robot.name)}_model'
    module = ModelModule(robot, chi)
    origin = request.origin
    return Exported(
        text='',
        folder={
            'pyproject.toml': _pyproject(package),
            'README.md': _readme(package, markdown(robot.name), markdown(origin), module),
            f'{package}/__init__.py': module.source(origin),
        },
        check=lambda folder: compare(robot, chi, folder, package),
    )


def _pyproject(package: str) -> str:
    return f"""\
[build-system]
requires = ['setuptools>=61']
build-backend = 'setuptools.build_meta'

[project]
name = '{package.replace('_', '-')}'
version = '0.1.0'
requires-python = '>=3.10'
dependencies = ['numpy>=1.26']

[tool.setuptools]
packages = ['{package}']
"""


def _readme(package: str, robot: str, origin: str, module: ModelModule) -> str:
    rows = ''.join(f'| `{call}` | {about} |\n' for call, about in module.calls())
    return f"""\
# Dynamic model of {robot}

Identified parameters ({origin}) as numpy functions: `pip install .`, or copy `{package}/`.

```python
import {package} as model

tau = model.inverse_dynamics(q, dq, ddq)  # (..., {module.robot.n}) each, any number of states
```

| function | what |
|---|---|
{rows}
`model.JOINTS` are the joints in their order, `model.PARAMETERS` the base parameters by name.
SI units on the joint side; Coulomb friction is 2/pi atan({module.slope:g} dq).
"""
