"""The identified model as C99 for a controller: one folder with library, example and self-test."""

from __future__ import annotations

import re

from robot_id.export.c_code import documents, self_test
from robot_id.export.c_code.model_source import ModelSource
from robot_id.export.parts import Exported, Request


def write(request: Request) -> Exported:
    """Return the folder; refuse parameters that no robot should move with."""
    robot, chi = request.controller_model()
    model = ModelSource(robot, chi, identifier(robot.name))
    origin = request.origin
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
