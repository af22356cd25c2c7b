"""
The generated functions of a robot: found in the cache, or traced, compiled and kept there.

Whether a call uses them depends on the robot and on the number of states alone, never on what the
cache holds, so that a program gives the same digits every time. `ROBOT_ID_GENERATED=0` switches
them off.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import tempfile
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from llvmlite import binding  # type: ignore[import-untyped]
from numba.core.event import trigger_event
from numpy.typing import NDArray

import robot_id
from robot_id.dynamics.generated import cache
from robot_id.dynamics.generated.compiler import (
    FLAGS,
    CompileError,
    TooSlow,
    compile_library,
    compiler,
)
from robot_id.dynamics.kernels.tree import tree_of
from robot_id.robot import Robot

Array = NDArray[np.float64]

ENOUGH_STATES = 500  # fewer do not pay for a compilation
MOST_OPERATIONS = 60_000  # more take a compiler longer than a minute
SWITCH = 'ROBOT_ID_GENERATED'
# Event of numba's kind, while a compiler works.
COMPILING = 'robot_id:compile'
ACTING = 'acting_'  # before the name of a function over the acting entries alone, see `lanes`

_log = logging.getLogger('robot_id')
_lock = threading.RLock()
_loaded: WeakKeyDictionary[Robot, dict[tuple[str, bool], Code | None]] = WeakKeyDictionary()
_said: set[str] = set()


class Code:
    """
    One compiled function over many samples, see `c_writer` for its signature.

    :param content: the library.
    """

    def __init__(self, content: bytes) -> None:
        self._run = _open(content).run
        pointers = [ctypes.c_void_p] * 7
        self._run.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_double, *pointers]
        self._run.restype = ctypes.c_int64
        self.address = int(ctypes.cast(self._run, ctypes.c_void_p).value or 0)

    def __call__(
        self,
        chi: Any,
        slope: float,
        inputs: tuple[Array, ...],
        outputs: tuple[Array, ...],
    ) -> int:
        """
        Fill the outputs for all samples; return -1, or the first sample without a solution.

        :param chi: (b,), None for a function that does not read it.
        :param inputs: q, dq, x (N, n) and G (N, n, b), contiguous; the last ones may be left out.
        :param outputs: what the function fills, (N, ...) contiguous.
        """
        parameters = None if chi is None else np.ascontiguousarray(chi, dtype=float)
        first = None if parameters is None else parameters.ctypes.data
        read = [x.ctypes.data for x in inputs] + [None] * (4 - len(inputs))
        filled = [x.ctypes.data for x in outputs] + [None] * (3 - len(outputs))
        return int(self._run(len(inputs[0]), first, slope, *read, *filled))


def _open(content: bytes) -> ctypes.CDLL:
    """Load a library from memory; its calls release the GIL."""
    # The descriptor stays open: the loader knows a library by its name, which is its number.
    handle = os.memfd_create('robot_id', os.MFD_CLOEXEC)
    try:
        # A write may take a part only, as where a limit on the size of files is in the way.
        left = memoryview(content)
        while left:
            left = left[os.write(handle, left) :]
        return ctypes.CDLL(f'/proc/self/fd/{handle}')
    except OSError:
        os.close(handle)
        raise


def code_for(
    robot: Robot,
    name: str,
    slope: float,
    states: int = ENOUGH_STATES,
    entries: NDArray[np.intp] | None = None,
) -> Code | None:
    """
    Return the compiled function for a robot, None where the generic kernels are to be used.

    :param slope: 0 for sign(dq); any other gets the function with smooth friction.
    :param states: how many states are to be computed.
    :param entries: for a function over the acting entries alone (its name begins with `ACTING`):
        which these are in W (n, b), flattened.
    """
    if states < ENOUGH_STATES or os.environ.get(SWITCH, '1') == '0':
        return None
    assert name.startswith(ACTING) == (entries is not None)
    key = (name, slope > 0.0)
    with _lock:
        known = _loaded.setdefault(robot, {})
        if key not in known:
            known[key] = _load(robot, *key, entries)
        return known[key]


def forget() -> None:
    """Forget all loaded functions, so that the next call looks at the cache again."""
    with _lock:
        _loaded.clear()
        _said.clear()


def _load(robot: Robot, name: str, smooth: bool, entries: NDArray[np.intp] | None) -> Code | None:
    try:
        key = key_of(robot, name, smooth)
        found = cache.find(key)
        if found is None:
            if compiler() is None:
                raise CompileError('there is no C compiler')
            with trigger_event(COMPILING, data={'function': name}):
                found = _build(robot, name, smooth, entries, key)
        if isinstance(found, bytes):
            return Code(found)
        raise CompileError(found)
    except (CompileError, OSError, AttributeError) as error:
        _say(f'{robot.name}: generic kernels instead of generated code: {error}')
        return None


def _build(
    robot: Robot, name: str, smooth: bool, entries: NDArray[np.intp] | None, key: str
) -> bytes | str:
    # Imported here: code that is in the cache needs no tracing.
    from robot_id.dynamics.generated.c_writer import batch_source
    from robot_id.dynamics.generated.evaluate import operations_in_order
    from robot_id.dynamics.generated.functions import trace
    from robot_id.dynamics.generated.lanes import lanes_source

    formula = trace(robot, name.removeprefix(ACTING), smooth)
    size = len(operations_in_order(formula))
    if size > MOST_OPERATIONS:
        return f'{name} takes {size} operations, over {MOST_OPERATIONS}'
    if entries is not None:
        source = lanes_source(formula, entries)
    else:
        source = batch_source(formula)
    why = ''
    # A cache that is full or cannot be written fails; the code is then built for this run alone.
    for workplace in (cache.workplace, tempfile.TemporaryDirectory):
        try:
            with workplace() as place:
                library = Path(place) / 'function.so'
                compile_library(source, library)
                return cache.store(key, library, ' '.join(compiler() or ()))
        except TooSlow as error:
            cache.refuse(key, f'{name}: {error}')
            return f'{name}: {error}'
        except (CompileError, OSError) as error:
            why = f'{name}: {error}'
    return why


def _say(line: str) -> None:
    """Log a line, once."""
    if line not in _said:
        _said.add(line)
        _log.warning('%s', line)


def key_of(robot: Robot, name: str, smooth: bool) -> str:
    """Return the hash of the model, the generator, the flags and the processor."""
    tree, base = tree_of(robot), robot.base
    parts = [name, str(smooth), *FLAGS, _generator(), _processor()]
    digest = hashlib.sha256('\n'.join(parts).encode())
    for data in (*tree, base.columns, base.factor, robot.inertial_index, robot.term_index):
        array: Any = np.ascontiguousarray(data)
        digest.update(f'{array.dtype.str} {array.shape}'.encode())
        digest.update(array.tobytes())
    return f'{name}-{digest.hexdigest()[:40]}'


@lru_cache
def _generator() -> str:
    """Hash of all sources that the code is made from."""
    root = Path(robot_id.__file__).parent
    digest = hashlib.sha256()
    for room in ('dynamics', 'robot'):
        for path in sorted((root / room).rglob('*.py')):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache
def _processor() -> str:
    """The processor, since the code is made for it: a home folder may serve several machines."""
    features = binding.get_host_cpu_features().flatten()
    return f'{platform.machine()} {binding.get_host_cpu_name()} {features}'
