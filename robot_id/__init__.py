"""
Dynamic identification of robots: from measurements to a model, from the model to control.

The names of `__all__` are the public Python API; each is imported when it is first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

__version__ = '0.1.0'

# Public name -> the module that holds it; the same for type checkers stands in __init__.pyi.
_NAMES = {
    'Dataset': 'robot_id.data.dataset',
    'Excitation': 'robot_id.excitation.design',
    'Fit': 'robot_id.api.fit',
    'Method': 'robot_id.api.methods',
    'Model': 'robot_id.api.model',
    'Parameters': 'robot_id.api.parameters',
    'Robot': 'robot_id.robot.robot',
    'RobotIdError': 'robot_id.exceptions',
    'Run': 'robot_id.data.dataset',
    'check': 'robot_id.api.verbs',
    'compare': 'robot_id.api.fit',
    'excite': 'robot_id.api.verbs',
    'guess': 'robot_id.api.verbs',
    'identify': 'robot_id.api.verbs',
    'identify_payload': 'robot_id.api.verbs',
    'load': 'robot_id.api.verbs',
    'load_fit': 'robot_id.api.verbs',
    'load_robot': 'robot_id.robot.files.loading',
    'methods': 'robot_id.methods.registry',
    'on_line': 'robot_id.api.verbs',
    'simulate': 'robot_id.api.verbs',
    'validate': 'robot_id.api.verbs',
    **dict.fromkeys(
        (
            'IdimOls', 'IdimWls', 'IdimIrls', 'IdimTls', 'IdimMl', 'IdimIv', 'Didim', 'Cloe',
            'Clie', 'Ekf', 'SrEkf', 'Ukf', 'Cdkf', 'Ckf', 'Rls', 'Riv', 'Integral', 'ServoOe',
        ),
        'robot_id.api.methods',
    ),
}  # fmt: skip

__all__ = ['__version__', *sorted(_NAMES)]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _NAMES:
        # With name and obj Python names the nearest one that is there.
        raise AttributeError(
            f'module {__name__!r} has no attribute {name!r}', name=name, obj=sys.modules[__name__]
        )
    found = getattr(importlib.import_module(_NAMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
