"""
Compiled state-space model one sampling period ahead, in as many parts as its friction needs.

A joint that turns meets a friction that changes within 1 / alpha (rad/s), often a small part of
what its acceleration adds in a period: one step over it misses the moment of the turn, and with it
the friction of half a period. So a period is halved, and halved again, until

    part |ddq_j| <= (|dq_j| + 1 / alpha) c,  c = 1/2 towards rest and 1 away from it,
    part |d ddq_j / d dq_j| <= 1/2           where |dq_j| < 20 / alpha,

for all joints j. Parts are the period over a power of two, so that the map is smooth between the
borders and F is its exact derivative. With sign(dq), which has no slope, at most 8 parts.
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.kernels.rigid_body import FAST
from robot_id.kernel_cache import njit
from robot_id.methods.kalman.state_kernels import accelerations, linearise

# Largest number of parts, as powers of two.
SMOOTH_HALVINGS, SIGN_HALVINGS = 6, 3
STEEP, STIFFEST = 20.0, 0.5
# How a period is passed: euler, midpoint, or midpoint with periods cut where a joint turns.
EULER, MIDPOINT, CUT = range(3)


@njit(**FAST)
def _near_rest(z, n, slope):  # type: ignore[no-untyped-def]
    """Tell whether a joint is so slow that its friction is steep."""
    return slope > 0.0 and slope * np.min(np.abs(z[:n])) < STEEP


@njit(**FAST)
def _halvings(z, ddq, K, steep, slope, step):  # type: ignore[no-untyped-def]
    """Return how often a period must be halved for the part that begins with z."""
    n = ddq.shape[0]
    most = SMOOTH_HALVINGS if slope > 0.0 else SIGN_HALVINGS
    slow = 1.0 / slope if slope > 0.0 else 0.0
    part, count = step, 0
    for j in range(n):
        way = abs(z[j]) + slow
        if z[j] * ddq[j] < 0.0:
            way *= 0.5
        while count < most and part * abs(ddq[j]) > way:
            part *= 0.5
            count += 1
        if steep and slope * abs(z[j]) < STEEP:
            while count < most and part * abs(K[j, j]) > STIFFEST:
                part *= 0.5
                count += 1
    return count


@njit(**FAST)
def _next_part(done, count):  # type: ignore[no-untyped-def]
    """
    Return the length of the next part in shortest parts.

    A long one begins at a multiple of itself, so that it ends within the step.
    """
    part = 1 << (SMOOTH_HALVINGS - count)
    while done % part != 0:
        part >>= 1
    return part


@njit(**FAST)
def advance(model, z, torques, slope, step, order, ahead, F):  # type: ignore[no-untyped-def]
    """
    Fill f(z, tau) and the first 2n rows of its Jacobian; False if M(q) is not positive.

    :param torques: (m, n), each held for an m-th of the step.
    :param ahead: (2n + b,) the state one step later.
    :param F: (2n, 2n + b).
    """
    n2, total = F.shape
    G, before = np.empty((n2, total)), np.empty((n2, total))
    ahead[:] = z
    F[:] = 0.0
    for i in range(n2):
        F[i, i] = 1.0
    held = step / torques.shape[0]
    whole = 1 << SMOOTH_HALVINGS
    for k in range(torques.shape[0]):
        done = 0
        while done < whole:
            part = _part(model, ahead, torques[k], slope, held, order, done, G)
            if part == 0:
                return False
            before[:] = F
            F[:, :n2] = 0.0
            F[:, n2:] = G[:, n2:]
            for i in range(n2):
                for j in range(n2):
                    for c in range(total):
                        F[i, c] += G[i, j] * before[j, c]
            done += part
    return True


@njit(**FAST)
def _part(model, z, tau, slope, step, order, done, G):  # type: ignore[no-untyped-def]
    """
    Advance z in place by the next part; return its length in shortest parts, 0 if M(q) is lost.

    :param done: shortest parts of the step that lie behind.
    :param G: (2n, 2n + b) first rows of the Jacobian of the part.
    """
    n, total = tau.shape[0], z.shape[0]
    ddq, J, K = np.empty(n), np.zeros((n, total)), np.empty((n, total))
    if not linearise(model, z, tau, slope, ddq, K):
        return 0
    count = 0
    if order == CUT:
        count = _halvings(z, ddq, K, _near_rest(z, n, slope), slope, step)
    part = _next_part(done, count)
    h = step * part / (1 << SMOOTH_HALVINGS)
    speed = z[:n].copy()
    if order >= MIDPOINT:
        J[:] = K
        middle = z.copy()
        for i in range(n):
            middle[i] += 0.5 * h * ddq[i]
            middle[n + i] += 0.5 * h * z[i]
        if not linearise(model, middle, tau, slope, ddq, K):
            return 0
        speed[:] = middle[:n]
    _part_slopes(h, J, K, order >= MIDPOINT, G)
    for i in range(n):
        z[n + i] += h * speed[i]
        z[i] += h * ddq[i]
    return part


@njit(**FAST)
def _part_slopes(h, J, K, midpoint, F):  # type: ignore[no-untyped-def]
    """
    Fill F (2n, 2n + b) of one part from the slopes of ddq at its beginning J and its middle K.

    d dq_m = d dq + h/2 J dz, d q_m = d q + h/2 d dq, d chi_m = d chi; J = 0 for Euler.
    """
    n, total = K.shape
    half = 0.5 * h
    for i in range(n):
        for c in range(total):
            s = K[i, c]
            for k in range(n):
                s += half * K[i, k] * J[k, c]
            F[i, c] = h * s
            F[n + i, c] = h * half * J[i, c]
        if midpoint:
            for k in range(n):
                F[i, k] += h * half * K[i, n + k]
        F[i, i] += 1.0
        F[n + i, i] += h
        F[n + i, n + i] += 1.0


@njit(**FAST)
def advance_many(model, Z, torques, slope, step, order, out):  # type: ignore[no-untyped-def]
    """Fill f(z, tau) of each of the (P, 2n + b) states Z; False if an M(q) is not positive."""
    held = step / torques.shape[0]
    whole = 1 << SMOOTH_HALVINGS
    out[:] = Z
    for s in range(Z.shape[0]):
        for k in range(torques.shape[0]):
            done = 0
            while done < whole:
                part = _part_alone(model, out[s : s + 1], torques[k], slope, held, order, done)
                if part == 0:
                    return False
                done += part
    return True


@njit(**FAST)
def _part_alone(model, Z, tau, slope, step, order, done):  # type: ignore[no-untyped-def]
    """`_part` without the Jacobian, of the one state in Z (1, 2n + b)."""
    n, z = tau.shape[0], Z[0]
    ddq, K = np.empty((1, n)), np.empty((n, z.shape[0]))
    steep = order == CUT and _near_rest(z, n, slope)
    if steep:
        if not linearise(model, z, tau, slope, ddq[0], K):
            return 0
    elif not accelerations(model, Z, tau, slope, ddq):
        return 0
    count = _halvings(z, ddq[0], K, steep, slope, step) if order == CUT else 0
    part = _next_part(done, count)
    h = step * part / (1 << SMOOTH_HALVINGS)
    speed = z[:n].copy()
    if order >= MIDPOINT:
        middle = Z.copy()
        for i in range(n):
            middle[0, i] += 0.5 * h * ddq[0, i]
            middle[0, n + i] += 0.5 * h * z[i]
        if not accelerations(model, middle, tau, slope, ddq):
            return 0
        speed[:] = middle[0, :n]
    for i in range(n):
        z[n + i] += h * speed[i]
        z[i] += h * ddq[0, i]
    return part
