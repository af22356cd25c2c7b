"""Name the wait when the kernels must be compiled first."""

from __future__ import annotations

from robot_id import dynamics
from robot_id.cli.console import messages


def compile_first(*kernels: str) -> None:
    """Compile the named kernels with a line on stderr; nothing happens when they are ready."""
    cold = dynamics.cold_kernels(*kernels)
    if cold:
        messages().print('compiling kernels (once, this takes some seconds each) ...', style='dim')
        dynamics.warm_up(*cold)
