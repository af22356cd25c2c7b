"""Ctrl-C while C code calls back into Python, as the compiler of the kernels does."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

# Time until it is tried again, s.
AGAIN_S = 0.02


def keep(kind: type[BaseException] = KeyboardInterrupt) -> None:
    """
    Let no callback of C code swallow Ctrl-C.

    Such a callback cannot pass an exception on: Python prints it and goes on. It is sent again
    instead, until it arrives outside.

    :param kind: what the handler of the signal raises.
    """

    def again(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, kind):
            sys.__unraisablehook__(unraisable)
            return
        later = threading.Timer(AGAIN_S, os.kill, (os.getpid(), signal.SIGINT))
        later.daemon = True
        later.start()

    sys.unraisablehook = again
