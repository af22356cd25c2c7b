"""
The torque of one sample from a table of addresses, for a loop that has no time to lose.

Robot, law and memory are some thirty arrays. Numba takes each of them out of its Python object in
every call, which on the cold caches of a loop that sleeps between samples costs several times the
computation. Here the addresses and shapes are written down once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from robot_id.control.laws.computed_torque import ComputedTorqueSettings, Memory, torque
from robot_id.dynamics.kernels.rigid_body import FAST, INLINED
from robot_id.dynamics.kernels.tree import Tree
from robot_id.dynamics.simulation.law import control_work
from robot_id.kernel_cache import njit

Array = NDArray[np.float64]
# Row of the measured velocity among the inputs.
MEASURED = 4
FLOAT, INDEX, FLAG = np.float64, np.int64, np.bool_
# What the kernels below take the arrays for, row by row: dimensions and kind of each field. They
# read addresses, so an array of another kind would be read as what it is not.
OF_TREE: dict[str, tuple[int, Any]] = {
    'parent': (1, INDEX), 'fixed': (3, FLOAT), 'cosine': (3, FLOAT), 'sine': (3, FLOAT),
    'origin': (2, FLOAT), 'slide': (2, FLOAT), 'axis': (2, FLOAT), 'prismatic': (1, FLAG),
    'dof': (1, INDEX), 'ratio': (1, FLOAT), 'offset': (1, FLOAT), 'gravity': (1, FLOAT),
    'ancestor': (2, FLAG), 'term_parameter': (1, INDEX), 'term_kind': (1, INDEX),
    'term_row': (1, INDEX), 'term_gain': (1, FLOAT), 'term_direction': (2, FLOAT),
    'term_constant': (1, FLOAT),
}  # fmt: skip
OF_SETTINGS: dict[str, tuple[int, Any]] = dict.fromkeys(
    ('kp', 'kv', 'ki', 'limit', 'jump'), (1, FLOAT)
)
OF_MEMORY: dict[str, tuple[int, Any]] = {
    'before': (2, FLOAT), 'integral': (1, FLOAT), 'blend': (1, FLOAT), 'inertia': (3, FLOAT),
    'values': (2, FLOAT),
}  # fmt: skip
# Settings that are no arrays, see BoundTorque.flags.
SCALARS = ('measured', 'averaged', 'slope')


def rows_of(of: NamedTuple, wanted: dict[str, tuple[int, Any]], first: int = 0) -> list[Any]:
    """
    Return the arrays of a tuple, which are what the kernels take them for.

    :param wanted: dimensions and kind of each field, in the order of the fields.
    :param first: fields before them that are no arrays.
    :raises ValueError: where a field was added, moved or has another kind.
    """
    if tuple(wanted) != of._fields[first:]:
        raise ValueError(f'{type(of).__name__}: its fields are not those of its table')
    for name, (dimensions, kind) in wanted.items():
        array = getattr(of, name)
        if array.ndim != dimensions or array.dtype != kind:
            raise ValueError(f'{name} is of another kind than in its table')
        if not (array.flags.c_contiguous and array.flags.aligned):
            raise ValueError(f'{name} is not contiguous')
    return [getattr(of, name) for name in wanted]


class BoundTorque:
    """
    The law of one robot, called with the numbers that change alone.

    The arrays are used where they are: what is written into the memory or the settings counts in
    the next call.

    :param tree: of the robot.
    :param settings: of the law.
    :param memory: moved on by every call.
    """

    def __init__(self, tree: Tree, settings: ComputedTorqueSettings, memory: Memory) -> None:
        self._arrays = (
            *rows_of(tree, OF_TREE),
            *rows_of(settings, OF_SETTINGS, len(SCALARS)),
            *rows_of(memory, OF_MEMORY),
        )
        self._flags = np.array([float(getattr(settings, name)) for name in SCALARS])
        self._bind()

    def _bind(self) -> None:
        self._table = np.zeros((len(self._arrays), 4), np.int64)
        for row, array in zip(self._table, self._arrays):
            row[0] = array.ctypes.data
            row[1 : 1 + array.ndim] = array.shape

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made of: its arrays are elsewhere, so are its addresses."""
        return {'_arrays': self._arrays, '_flags': self._flags}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    @property
    def table(self) -> NDArray[np.int64]:
        """Addresses and shapes of the arrays, for kernels that work on the same robot."""
        return self._table

    @property
    def flags(self) -> Array:
        """Whether the model is taken at the measured state, averaged velocity, Coulomb slope."""
        return self._flags

    def __call__(self, inputs: Array, h: float, tau: Array) -> bool:
        """
        Fill tau (n,); False, with nothing done, where an input is not finite or h not positive.

        :param inputs: (5, n) qr, dqr, ddqr, q, and the measured velocity; NaN for one from
            differences of positions.
        :param h: seconds since the last sample.
        """
        return bool(_bound_torque(self._table, self._flags, inputs, h, tau))


@intrinsic
def _pointer(context: Any, address: Any) -> Any:
    """Return an address as a pointer."""

    def generate(_: Any, builder: Any, __: Any, values: Any) -> Any:
        return builder.inttoptr(values[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


@njit(**INLINED)
def _at(address):
    return _pointer(address)  # type: ignore[call-arg]


@njit(**INLINED)
def _line(table, k, kind):
    return numba.carray(_at(table[k, 0]), (table[k, 1],), kind)


@njit(**INLINED)
def _matrix(table, k, kind):
    return numba.carray(_at(table[k, 0]), (table[k, 1], table[k, 2]), kind)


@njit(**INLINED)
def _stack(table, k, kind):
    return numba.carray(_at(table[k, 0]), (table[k, 1], table[k, 2], table[k, 3]), kind)


@njit(**INLINED)
def tree_at(table):
    """Return the robot, rebuilt around its arrays."""
    return Tree(
        _line(table, 0, INDEX), _stack(table, 1, FLOAT), _stack(table, 2, FLOAT),
        _stack(table, 3, FLOAT), _matrix(table, 4, FLOAT), _matrix(table, 5, FLOAT),
        _matrix(table, 6, FLOAT), _line(table, 7, FLAG), _line(table, 8, INDEX),
        _line(table, 9, FLOAT), _line(table, 10, FLOAT), _line(table, 11, FLOAT),
        _matrix(table, 12, FLAG), _line(table, 13, INDEX), _line(table, 14, INDEX),
        _line(table, 15, INDEX), _line(table, 16, FLOAT), _matrix(table, 17, FLOAT),
        _line(table, 18, FLOAT),
    )  # fmt: skip


@njit(**INLINED)
def memory_at(table):
    """Return the memory of the law, with the model in use, rebuilt around its arrays."""
    return Memory(
        _matrix(table, 24, FLOAT), _line(table, 25, FLOAT), _line(table, 26, FLOAT),
        _stack(table, 27, FLOAT), _matrix(table, 28, FLOAT),
    )  # fmt: skip


@njit(**FAST)
def _bound_torque(table, flags, inputs, h, tau):
    """Rebuild robot, law and memory around their arrays, in the order of BoundTorque."""
    total = h
    for i in range(MEASURED):
        for j in range(inputs.shape[1]):
            total += inputs[i, j]
    if not (np.isfinite(total) and h > 0.0):
        return False
    tree = tree_at(table)
    settings = ComputedTorqueSettings(
        flags[0] != 0.0, flags[1] != 0.0, flags[2], _line(table, 19, FLOAT),
        _line(table, 20, FLOAT), _line(table, 21, FLOAT), _line(table, 22, FLOAT),
        _line(table, 23, FLOAT),
    )  # fmt: skip
    memory = memory_at(table)
    work = control_work(tree.parent.shape[0], tau.shape[0])
    qr, dqr, ddqr, q = inputs[0], inputs[1], inputs[2], inputs[3]
    for j in range(tau.shape[0] if inputs.shape[0] > MEASURED else 0):
        speed = inputs[MEASURED, j]
        if not np.isnan(speed):
            # The law takes the difference of its last positions: those that give this velocity.
            memory.before[0, j], memory.before[1, j] = q[j] - h * speed, q[j] - 2.0 * h * speed
    torque(settings, tree, memory, work, qr, dqr, ddqr, q, h, tau)
    return True
