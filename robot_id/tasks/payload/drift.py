"""
How much friction changed between recordings, learned from all joints together.

A change f of the friction that is free in every joint costs accuracy where nothing changed: on a
motion of 10 s it doubles the deviation of a mass. So the changes are taken as drawn from one
distribution, f_i ~ N(0, (omega S_i)^2), with S_i the size at which the parameter alone would make
the friction torque of its joint, and omega, the share by which friction drifts, is found from the
data: its likelihood is that of f ~ N(0, V_ff + omega^2 S^2), its prior flat in the root of omega
(one flat in omega is too cautious where nothing changed, one flat in its logarithm too bold where
few joints tell). The estimate is the mean over omega, so that an omega that is not well known
counts as a deviation. Where friction clearly drifted the changes are as good as free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from robot_id.regression.solvers.triangular import triangle
from robot_id.tasks.payload.solution import Solution

Array = NDArray[np.float64]
# The shares by which friction may have drifted: next to none, up to as much again.
SHARES = np.geomspace(1e-5, 1.0, 51)


def with_drift(
    found: Solution, A: Sequence[Array], changes: Sequence[slice], friction: Array
) -> Solution:
    """
    Return a solution whose changes of friction are as likely as all of them together say.

    x - K f with K = B_xf (B_ff + (omega S)^2)^-1, B the covariance of white rows in the size of V:
    off by (I - K) times the error of x, and by K f, so the covariance is (I - K) V (I - K)' +
    K (omega S)^2 K', and the scatter of x - K f over omega.

    :param A: for each run (M, n, p) the weighted rows.
    :param changes: where the change of the friction of each recording stands among the unknowns.
    :param friction: (f,) friction parameters of the arm.
    """
    places = np.concatenate([np.arange(part.start, part.stop) for part in changes])
    sizes = np.concatenate([change_sizes(A, part, friction) for part in changes])
    usable = found.determined[places] & (sizes > 0.0)
    places, S = places[usable], sizes[usable]
    if not len(places):
        return found
    f, V = found.x[places], found.covariance
    V_ff = V[np.ix_(places, places)] / np.outer(S, S)
    B = _white(found, A)[:, places] / S
    B_ff = B[places] / S[:, None]
    share = float(np.trace(V_ff) / np.trace(B_ff))
    weights = _likely(f / S, V_ff)
    gains = [
        np.linalg.solve(share * B_ff + omega**2 * np.eye(len(S)), share * B.T).T / S
        for omega in SHARES
    ]
    K = np.asarray(sum(w * gain for w, gain in zip(weights, gains)))
    keep = np.eye(len(V))
    keep[:, places] -= K
    covariance = keep @ V @ keep.T
    for w, gain, omega in zip(weights, gains, SHARES):
        covariance += w * (gain * (omega * S) ** 2) @ gain.T
        covariance += w * np.outer((gain - K) @ f, (gain - K) @ f)
    return replace(found, x=found.x - K @ f, covariance=covariance)


def change_sizes(A: Sequence[Array], part: slice, friction: Array) -> Array:
    """
    (f,) change of each friction parameter that alone has the size of the friction torque.

    Root of the mean squares, over the rows in which the parameter acts.
    """
    columns = np.concatenate([rows[:, :, part].reshape(-1, len(friction)) for rows in A])
    torque = columns @ friction
    acts = columns != 0.0
    own = np.sum(columns**2, axis=0)
    return np.sqrt(torque**2 @ acts / np.where(own > 0.0, own, np.inf))


def _white(found: Solution, A: Sequence[Array]) -> Array:
    """(p, p) covariance of the solution if the noise of its rows were white and of size 1."""
    p = A[0].shape[2]
    R = triangle(np.concatenate([rows.reshape(-1, p) for rows in A]) @ found.basis)
    root = sl.solve_triangular(R, found.basis.T, trans='T').T
    return np.asarray(root @ root.T)


def _likely(f: Array, V: Array) -> Array:
    """Return the weight of each of SHARES, given changes f with covariance V (in sizes S)."""
    values, vectors = np.linalg.eigh(V)
    total = np.maximum(values, 1e-12 * values[-1]) + SHARES[:, None] ** 2
    logs = -0.5 * np.sum(np.log(total) + (vectors.T @ f) ** 2 / total, axis=1)
    # Steps of equal ratio: a weight of root omega makes the prior flat in that root.
    weights = np.sqrt(SHARES) * np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())
