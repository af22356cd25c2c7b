"""
Exact derivatives of the inverse model by q and dq, compiled and linear in the parameters.

A forward-mode pass through Newton-Euler for each joint: with x = R'v, dR/dq turns x by d(R'v) =
R'dv + dq (x x s) about the joint axis s. Parameters enter at the body origin, so a physically
impossible estimate (a negative inertia during the iteration) is allowed, unlike in pinocchio,
which refuses such inertias. Tests hold it to pinocchio on physical sets.
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.kernels.friction import add_friction_slopes, add_rotors, atom_speed
from robot_id.dynamics.kernels.rigid_body import (
    FAST,
    composite,
    cross,
    into_body,
    into_parent,
    motions,
    newton_euler,
    poses,
)
from robot_id.kernel_cache import njit
from robot_id.robot.friction import ROTOR


@njit(**FAST)
def _x(a, b):
    return cross(a[0], a[1], a[2], b[0], b[1], b[2])


@njit(**FAST)
def _in(R, i, v):
    return into_body(R, i, v[0], v[1], v[2])


@njit(**FAST)
def _out(R, i, v):
    return into_parent(R, i, v[0], v[1], v[2])


@njit(**FAST)
def _row(X, i):
    return X[i, 0], X[i, 1], X[i, 2]


@njit(**FAST)
def _forward(tree, R, p, w, dw, a, speed, dangle, dspeed, tw, tdw, ta):
    """Fill the tangents tw, tdw, ta (nb, 3) of the body motions."""
    for i in range(tree.parent.shape[0]):
        u = tree.parent[i]
        s = _row(tree.axis, i)
        xw = 0.0, 0.0, 0.0
        xdw = 0.0, 0.0, 0.0
        xa = 0.0, 0.0, 0.0
        if u >= 0:
            P, W, D = _row(p, i), _row(w, u), _row(dw, u)
            V, E, A = _row(tw, u), _row(tdw, u), _row(ta, u)
            c1 = _x(V, _x(W, P))
            c2 = _x(W, _x(V, P))
            c3 = _x(E, P)
            ax = A[0] + c1[0] + c2[0] + c3[0]
            ay = A[1] + c1[1] + c2[1] + c3[1]
            az = A[2] + c1[2] + c2[2] + c3[2]
            if tree.prismatic[i] and dangle[i] != 0.0:
                t = dangle[i]
                S = t * tree.slide[i, 0], t * tree.slide[i, 1], t * tree.slide[i, 2]
                c1 = _x(W, _x(W, S))
                c2 = _x(D, S)
                ax, ay, az = ax + c1[0] + c2[0], ay + c1[1] + c2[1], az + c1[2] + c2[2]
            xa = _in(R, i, (ax, ay, az))
            xw = _in(R, i, V)
            xdw = _in(R, i, E)
        own = speed[i] * s[0], speed[i] * s[1], speed[i] * s[2]
        turned = _row(w, i)
        c = _x(turned, own)  # w x speed s; the same with the parent's part of w alone
        if not tree.prismatic[i] and dangle[i] != 0.0:
            t = dangle[i]
            g = _x(_row(a, i), s)
            xa = xa[0] + t * g[0], xa[1] + t * g[1], xa[2] + t * g[2]
            g = _x(turned, s)
            xw = xw[0] + t * g[0], xw[1] + t * g[1], xw[2] + t * g[2]
            g = _x((dw[i, 0] - c[0], dw[i, 1] - c[1], dw[i, 2] - c[2]), s)
            xdw = xdw[0] + t * g[0], xdw[1] + t * g[1], xdw[2] + t * g[2]
        c = _x(xw, own)
        g = _x(turned, s)
        v = dspeed[i]
        c = c[0] + v * g[0], c[1] + v * g[1], c[2] + v * g[2]
        for r in range(3):
            if tree.prismatic[i]:
                ta[i, r] = xa[r] + 2.0 * c[r]
                tw[i, r] = xw[r]
                tdw[i, r] = xdw[r]
            else:
                ta[i, r] = xa[r]
                tw[i, r] = xw[r] + v * s[r]
                tdw[i, r] = xdw[r] + c[r]


@njit(**FAST)
def _times(I, x):
    return (
        I[0] * x[0] + I[1] * x[1] + I[2] * x[2],
        I[1] * x[0] + I[3] * x[1] + I[4] * x[2],
        I[2] * x[0] + I[4] * x[1] + I[5] * x[2],
    )


@njit(**FAST)
def _backward(tree, inertia, R, p, w, force, moment, dangle, tw, tdw, ta, tf, tm, dtau):
    """Fill dtau (n,) from the tangents of the motions; force and moment are accumulated ones."""
    nb = tree.parent.shape[0]
    for i in range(nb):
        I = inertia[i]
        ms = I[6], I[7], I[8]
        W, V, E, A = _row(w, i), _row(tw, i), _row(tdw, i), _row(ta, i)
        c1 = _x(E, ms)
        c2 = _x(V, _x(W, ms))
        c3 = _x(W, _x(V, ms))
        m1 = _times(I, E)
        m2 = _x(V, _times(I, W))
        m3 = _x(W, _times(I, V))
        m4 = _x(ms, A)
        for r in range(3):
            tf[i, r] = I[9] * A[r] + c1[r] + c2[r] + c3[r]
            tm[i, r] = m1[r] + m2[r] + m3[r] + m4[r]
    dtau[:] = 0.0
    for i in range(nb - 1, -1, -1):
        s = _row(tree.axis, i)
        load = _row(tf, i) if tree.prismatic[i] else _row(tm, i)
        dtau[tree.dof[i]] += tree.ratio[i] * (s[0] * load[0] + s[1] * load[1] + s[2] * load[2])
        u = tree.parent[i]
        if u < 0:
            continue
        F, N = _row(tf, i), _row(tm, i)
        if not tree.prismatic[i] and dangle[i] != 0.0:
            t = dangle[i]
            g = _x(s, _row(force, i))
            F = F[0] + t * g[0], F[1] + t * g[1], F[2] + t * g[2]
            g = _x(s, _row(moment, i))
            N = N[0] + t * g[0], N[1] + t * g[1], N[2] + t * g[2]
        F = _out(R, i, F)
        N = _out(R, i, N)
        c = _x(_row(p, i), F)
        for r in range(3):
            tf[u, r] += F[r]
            tm[u, r] += N[r] + c[r]
        if tree.prismatic[i] and dangle[i] != 0.0:
            t = dangle[i]
            f = _out(R, i, _row(force, i))
            c = _x((t * tree.slide[i, 0], t * tree.slide[i, 1], t * tree.slide[i, 2]), f)
            for r in range(3):
                tm[u, r] += c[r]


@njit(**FAST)
def derivatives(tree, inertia, values, q, dq, ddq, slope, by_q, by_dq, M, gain):
    """
    Fill d tau/d q, d tau/d dq and M(q), (n, n) each, and gain (n,), for one state.

    d tau/d ddq = diag(gain) M(q); the gains are 1 unless friction grows with the load.

    :param tree: the robot's Tree.
    :param inertia: (nb, 10) inertial parameters.
    :param values: (e,) parameters of the terms.
    """
    nb, n = tree.parent.shape[0], q.shape[0]
    R, p, C = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.empty((nb, 10))
    w, dw, a = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    force, moment = np.empty((nb, 3)), np.empty((nb, 3))
    tw, tdw, ta = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    tf, tm, column, y = np.empty((nb, 3)), np.empty((nb, 3)), np.empty(n), np.empty(n)
    dangle, dspeed, speed = np.zeros(nb), np.zeros(nb), np.empty(nb)
    poses(tree, q, R, p)
    motions(tree, R, p, dq, ddq, w, dw, a)
    newton_euler(tree, inertia, R, p, w, dw, a, force, moment, y)
    for i in range(nb):
        speed[i] = tree.ratio[i] * dq[tree.dof[i]]
    for c in range(2 * n):  # first along q, then along dq
        k = c % n
        for i in range(nb):
            own = tree.ratio[i] if tree.dof[i] == k else 0.0
            dangle[i] = own if c < n else 0.0
            dspeed[i] = 0.0 if c < n else own
        _forward(tree, R, p, w, dw, a, speed, dangle, dspeed, tw, tdw, ta)
        _backward(tree, inertia, R, p, w, force, moment, dangle, tw, tdw, ta, tf, tm, column)
        for i in range(n):
            if c < n:
                by_q[i, k] = column[i]
            else:
                by_dq[i, k] = column[i]
    for k in range(tree.term_kind.shape[0]):
        if tree.term_kind[k] == ROTOR:
            x = atom_speed(tree, k, ddq)
            y[tree.term_row[k]] += values[tree.term_parameter[k]] * tree.term_gain[k] * x
    add_friction_slopes(tree, values, dq, slope, y, by_q, by_dq, gain)
    composite(tree, inertia, R, p, C, M)
    add_rotors(tree, values, M)
