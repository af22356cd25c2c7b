"""The identified model as C99 for a controller: one folder with library, example and self-test."""

from __future__ import annotations

import re

from robot_id.exceptions import DataError
from robot_id.export.c_code import documents, self_test
from robot_id.export.c_code.model_source import ModelSource
from robot_id.export.parts import Exported, Request
from robot_id.methods.parameters import parameters_for


def write(request: Request) -> Exported:
    """Return the folder; refuse parameters that no robot should move with."""
    result, robot = request.result, request.loaded
    if not result.converged:
        raise DataError(
            f'{request.source}: {result.method} did not converge, a controller must not use it'
        )
    chi = parameters_for(robot, result)
    model = ModelSource(robot, chi, identifier(robot.name))
    origin = f'{result.method}, {request.source.name}'
    p = model.prefix
    files = {
        f'{p}_model.h': model.header(origin),
        f'{p}_model.c': model.source(),
        'example.c': documents.example(model),
        'self_test.c': self_test.source(model),
        'CMakeLists.txt': documents.cmake(model),
        'README.md': documents.readme(model, origin),
    }
    return Exported(text='', folder=files, notes=model.notes)


def identifier(name: str) -> str:
    """Return a robot's name as a C identifier."""
    text = re.sub(r'[^0-9a-zA-Z]+', '_', name).strip('_').lower() or 'robot'
    return text if text[0].isalpha() else f'robot_{text}'
