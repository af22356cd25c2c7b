"""
Generated functions called from compiled loops, by their address.

The address is a number like any other, so a loop is compiled once for all robots and kept on the
disk; 0 stands for no generated code. `direct_at` and its like are for one state.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from robot_id.dynamics.kernels import INLINED

_DOUBLE, _COUNT = ir.DoubleType(), ir.IntType(64)
_POINTER = _DOUBLE.as_pointer()
# N, chi, slope, q, dq, x, G, out0, out1, out2: see `batch`.
_SIGNATURE = ir.FunctionType(_COUNT, [_COUNT, _POINTER, _DOUBLE, *[_POINTER] * 7])


@intrinsic
def _call(context: Any, address: Any, chi: Any, slope: Any, q: Any, dq: Any, x: Any, outputs: Any):  # type: ignore[no-untyped-def]
    """Call a function for one state; outputs is a tuple of up to three arrays."""
    if any(kind.layout != 'C' for kind in (chi, q, dq, x, *outputs.types)):
        raise TypingError('generated code takes contiguous arrays')
    signature = types.int64(types.int64, chi, types.float64, q, dq, x, outputs)

    def generate(ctx: Any, builder: Any, _: Any, values: Any) -> Any:
        def place(kind: Any, value: Any) -> Any:
            return ctx.make_array(kind)(ctx, builder, value).data

        number, parameters, slope_value, *states, filled = values
        function = builder.inttoptr(number, _SIGNATURE.as_pointer())
        inputs = [place(kind, value) for kind, value in zip((q, dq, x), states)]
        out = [
            place(kind, builder.extract_value(filled, k)) for k, kind in enumerate(outputs.types)
        ]
        nothing = ir.Constant(_POINTER, None)
        arguments = [ir.Constant(_COUNT, 1), place(chi, parameters), slope_value, *inputs, nothing]
        return builder.call(function, arguments + out + [nothing] * (3 - len(out)))

    return signature, generate


@numba.njit(**INLINED)
def state_at(address, chi, slope, q, dq, x, out):
    """
    Fill out with a function of one state; False where it has no value (M(q) is not positive).

    :param address: of the generated function.
    :param chi: (b,); q, dq, x (n,): contiguous, as is out.
    """
    return _call(address, chi, slope, q, dq, x, (out,)) < 0  # type: ignore[call-arg]


@numba.njit(**INLINED)
def derivatives_at(address, chi, slope, q, dq, ddq, by_q, by_dq, by_ddq):
    """Fill the derivatives of the torque by q, dq and ddq, (n, n) each."""
    _call(address, chi, slope, q, dq, ddq, (by_q, by_dq, by_ddq))  # type: ignore[call-arg]
