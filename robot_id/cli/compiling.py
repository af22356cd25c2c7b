"""A line for the user while kernels are compiled."""

from __future__ import annotations

import multiprocessing

from robot_id.cli.console import messages


def compile_first(*kernels: str, in_child: bool = False) -> None:
    """
    Compile the named kernels with a line on stderr; nothing happens when they are ready.

    :param in_child: in a separate process, which frees the memory of the compiler.
    """
    # The laws of control are imported so that their kernels are known.
    from robot_id import dynamics

    cold = dynamics.cold_kernels(*kernels)
    if not cold:
        return
    messages().print('compiling kernels (first use only, a few seconds each) ...', style='dim')
    if in_child:
        child = multiprocessing.get_context('spawn').Process(target=_compile, args=cold)
        child.start()
        child.join()
    else:
        dynamics.warm_up(*cold)


def _compile(*kernels: str) -> None:
    # A function of this file: a new process imports it, and with it every kernel's name.
    from robot_id import dynamics

    dynamics.warm_up(*kernels)
