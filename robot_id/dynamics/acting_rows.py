"""
The entries of a regressor that act, of many samples, and how a function of them changes.

Not every parameter acts on every joint: a wrist joint of a six-axis arm feels a few of them. A
search for motions computes the entries thousands of times on one grid; a row for each entry, the
samples side by side, lets the generated code take eight samples at once.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.generated.lanes import LANES
from robot_id.dynamics.generated.library import ACTING, Code, code_for
from robot_id.dynamics.generated.pointer import rows_at, slopes_at
from robot_id.dynamics.load import takes_load
from robot_id.dynamics.regressor import regressor, regressor_slopes
from robot_id.dynamics.states import Array
from robot_id.robot import Robot

Indices = NDArray[np.intp]
# Random states that tell a structural zero from one by chance.
STATES = 64
_known: WeakKeyDictionary[Robot, tuple[Indices, ...]] = WeakKeyDictionary()


def acting_columns(robot: Robot) -> tuple[Indices, ...]:
    """
    Return for each joint the base parameters that act on it in some of many random states.

    A structural zero of the regressor is zero, or rounding, in all of them.
    """
    if robot not in _known:
        _known[robot] = _acting(robot)
    return _known[robot]


def _acting(robot: Robot) -> tuple[Indices, ...]:
    rng = np.random.default_rng(0)
    robot = robot.at_temperature(robot.description.reference_temperature + 10.0)
    q, dq, ddq = (rng.uniform(-3.0, 3.0, (STATES, robot.n)) for _ in range(3))
    # Slow ones too: Stribeck friction vanishes at high speed.
    dq *= 10.0 ** rng.uniform(-4.0, 0.0, dq.shape)
    W = np.abs(regressor(robot, q, dq, ddq)).max(axis=0)
    largest = W.max(axis=0)
    return tuple(np.flatnonzero(row > 1e-12 * largest) for row in W)


class ActingRows:
    """
    The A entries of W (n, b) that are not zero in all states, joint by joint.

    Coulomb friction is sign(dq), whose slope is zero.

    :param robot: whose regressor it is.
    :param calls: expected number of calls, see `regressor`.
    """

    def __init__(self, robot: Robot, calls: int = 1) -> None:
        self.robot, self.calls = robot, calls
        self._loaded = takes_load(robot)
        self.columns = acting_columns(robot)
        b = len(robot.base)
        self.ends = np.cumsum([0, *(len(own) for own in self.columns)])
        self.flat = np.concatenate([j * b + own for j, own in enumerate(self.columns)])

    def parts(self, rows: Array) -> list[Array]:
        """Return the rows (A, N) of each joint, (b_j, N)."""
        return [rows[low:high] for low, high in zip(self.ends, self.ends[1:])]

    def parameters(self, chi: Array) -> Array:
        """Return (A,) the parameter, of chi (b,), that each entry is multiplied with."""
        return chi[np.concatenate(self.columns)]

    def torques(self, chi: Array, rows: Array) -> Array:
        """Return the torques (n, N) of the parameters chi (b,) from the entries (A, N)."""
        parts = zip(self.columns, self.parts(rows))
        return np.stack([chi[own] @ part for own, part in parts])

    def __call__(self, states: Array) -> Array:
        """Return the entries (A, N) at q, dq, ddq (3, n, N)."""
        N = states.shape[2]
        code = None if self._loaded else self._code('regressor', N)
        if code is None:
            q, dq, ddq = states.transpose(0, 2, 1)
            W = regressor(self.robot, q, dq, ddq, calls=self.calls)
            return np.asarray(W.reshape(N, -1).T[self.flat], order='C')
        rows = np.empty((len(self.flat), N))
        rows_at(code.address, np.ascontiguousarray(states), rows)
        return rows

    def slopes(self, states: Array, G: Array) -> Array:
        """
        Return the slopes (3, n, N) of f in q, dq, ddq.

        :param states: (3, n, N) as before.
        :param G: (A, N) slope of f in each entry.
        """
        n, N = states.shape[1:]
        code = self._code('regressor_slopes', N)
        if code is None:
            whole = np.zeros((N, n * len(self.robot.base)))
            whole[:, self.flat] = G.T
            q, dq, ddq = states.transpose(0, 2, 1)
            G = whole.reshape(N, n, -1)
            found = regressor_slopes(self.robot, q, dq, ddq, G, calls=self.calls)
            return np.stack([part.T for part in found])
        slopes = np.empty(states.shape)
        G = np.ascontiguousarray(G)
        slopes_at(code.address, np.ascontiguousarray(states), G, slopes)
        return slopes

    def _code(self, name: str, samples: int) -> Code | None:
        if samples < LANES:
            return None
        return code_for(self.robot, f'{ACTING}{name}', 0.0, self.calls * samples, self.flat)
