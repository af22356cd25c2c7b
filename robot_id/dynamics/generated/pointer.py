"""
Generated functions called from compiled loops, by their address.

The address is a number like any other, so a loop is compiled once for all robots and kept on the
disk; 0 stands for no generated code. `state_at` and its like are for one state, `rows_at` and
`slopes_at` for all samples of the functions in `lanes`: a call from Python costs a microsecond, a
tenth of one by ctypes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from robot_id.dynamics.kernels.rigid_body import FAST, INLINED
from robot_id.kernel_cache import njit

_DOUBLE, _COUNT = ir.DoubleType(), ir.IntType(64)
_POINTER = _DOUBLE.as_pointer()
# N, chi, slope, q, dq, x, G, out0, out1, out2: see `c_writer`.
_SIGNATURE = ir.FunctionType(_COUNT, [_COUNT, _POINTER, _DOUBLE, *[_POINTER] * 7])


@intrinsic
def _call(context: Any, address: Any, count: Any, chi: Any, slope: Any, inputs: Any, outputs: Any):  # type: ignore[no-untyped-def]
    """
    Call a function for so many samples.

    :param inputs: tuple of q, dq, x and, where it is read, G.
    :param outputs: tuple of up to three arrays.
    """
    if any(kind.layout != 'C' for kind in (chi, *inputs.types, *outputs.types)):
        raise TypingError('generated code takes contiguous arrays')
    signature = types.int64(types.int64, types.int64, chi, types.float64, inputs, outputs)

    def generate(ctx: Any, builder: Any, _: Any, values: Any) -> Any:
        def place(kind: Any, value: Any) -> Any:
            return ctx.make_array(kind)(ctx, builder, value).data

        def places(kinds: Any, arrays: Any, most: int) -> list[Any]:
            found = [place(kind, builder.extract_value(arrays, k)) for k, kind in enumerate(kinds)]
            return found + [ir.Constant(_POINTER, None)] * (most - len(found))

        number, samples, parameters, slope_value, read, filled = values
        function = builder.inttoptr(number, _SIGNATURE.as_pointer())
        states, out = places(inputs.types, read, 4), places(outputs.types, filled, 3)
        first = [samples, place(chi, parameters), slope_value]
        return builder.call(function, first + states + out)

    return signature, generate


@njit(**INLINED)
def state_at(address, chi, slope, q, dq, x, out):
    """
    Fill out with a function of one state; False where it has no value (M(q) is not positive).

    :param address: of the generated function.
    :param chi: (b,); q, dq, x (n,): contiguous, as is out.
    """
    return _call(address, 1, chi, slope, (q, dq, x), (out,)) < 0  # type: ignore[call-arg]


@njit(**INLINED)
def derivatives_at(address, chi, slope, q, dq, ddq, by_q, by_dq, by_ddq):
    """Fill the derivatives of the torque by q, dq and ddq, (n, n) each."""
    _call(address, 1, chi, slope, (q, dq, ddq), (by_q, by_dq, by_ddq))  # type: ignore[call-arg]


@njit(**FAST)
def rows_at(address, states, rows):
    """Fill the acting entries of the regressor, rows (A, N), at states (3, n, N)."""
    if address:
        inputs = states[0], states[1], states[2]
        _call(address, rows.shape[1], rows, 0.0, inputs, (rows,))  # type: ignore[call-arg]


@njit(**FAST)
def slopes_at(address, states, G, slopes):
    """Fill the slopes (3, n, N) of a function of the acting entries from its slopes G (A, N)."""
    if address:
        inputs = states[0], states[1], states[2], G
        outputs = slopes[0], slopes[1], slopes[2]
        _call(address, G.shape[1], G, 0.0, inputs, outputs)  # type: ignore[call-arg]
