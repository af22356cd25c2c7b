"""
The executables of all nodes: `start.data_logger()` runs the node of that name.

Ctrl-C ends them cleanly from the first moment on, also while they still load their libraries.
"""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Callable


def __getattr__(name: str) -> Callable[[], None]:
    def main() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            # Until the node takes over there is nothing to close.
            signal.signal(number, lambda *_: os._exit(0))
        importlib.import_module(f'robot_id.nodes.{name}').main()

    if name.startswith('_'):
        raise AttributeError(name)
    return main
