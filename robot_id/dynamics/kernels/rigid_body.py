"""
Compiled rigid-body primitives: poses, velocities, Newton-Euler torques, inertia matrix.

All vectors are in body frames. The inertial parameters [XX XY XZ YY YZ ZZ MX MY MZ M] enter
linearly and at the body origin, so any base representative works, also one with negative masses.
pinocchio is the oracle: tests hold these to it within 1e-10.
"""

from __future__ import annotations

import math
from typing import Any

from robot_id.kernel_cache import njit

FAST: dict[str, Any] = {
    'cache': True,
    'nogil': True,
    'error_model': 'numpy',
    'fastmath': {'contract', 'nsz'},
}
# A robot is a tuple of many arrays: passing it costs more than the work of a small function.
INLINED: dict[str, Any] = {**FAST, 'forceinline': True}


@njit(**INLINED)
def cross(ax, ay, az, bx, by, bz):
    """Return a x b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@njit(**INLINED)
def into_body(R, i, x, y, z):
    """Return R_i^T v: a parent-frame vector in the body frame."""
    return (
        R[i, 0, 0] * x + R[i, 1, 0] * y + R[i, 2, 0] * z,
        R[i, 0, 1] * x + R[i, 1, 1] * y + R[i, 2, 1] * z,
        R[i, 0, 2] * x + R[i, 1, 2] * y + R[i, 2, 2] * z,
    )


@njit(**INLINED)
def into_parent(R, i, x, y, z):
    """Return R_i v: a body-frame vector in the parent frame."""
    return (
        R[i, 0, 0] * x + R[i, 0, 1] * y + R[i, 0, 2] * z,
        R[i, 1, 0] * x + R[i, 1, 1] * y + R[i, 1, 2] * z,
        R[i, 2, 0] * x + R[i, 2, 1] * y + R[i, 2, 2] * z,
    )


@njit(**INLINED)
def poses(tree, q, R, p):
    """Fill R (nb, 3, 3) and p (nb, 3): the pose of every body in its parent at q (n,)."""
    for i in range(tree.parent.shape[0]):
        angle = tree.ratio[i] * q[tree.dof[i]] + tree.offset[i]
        if tree.prismatic[i]:
            for r in range(3):
                p[i, r] = tree.origin[i, r] + angle * tree.slide[i, r]
                for c in range(3):
                    R[i, r, c] = tree.fixed[i, r, c]
        else:
            cos, sin = math.cos(angle), math.sin(angle)
            for r in range(3):
                p[i, r] = tree.origin[i, r]
                for c in range(3):
                    R[i, r, c] = (
                        tree.fixed[i, r, c] + cos * tree.cosine[i, r, c] + sin * tree.sine[i, r, c]
                    )


@njit(**INLINED)
def motions(tree, R, p, dq, ddq, w, dw, a):
    """Fill w, dw, a (nb, 3): angular velocity and acceleration, acceleration of the origin - g."""
    for i in range(tree.parent.shape[0]):
        u = tree.parent[i]
        if u < 0:
            wx = wy = wz = dwx = dwy = dwz = 0.0
            ax, ay, az = into_body(R, i, -tree.gravity[0], -tree.gravity[1], -tree.gravity[2])
        else:
            wx, wy, wz = w[u, 0], w[u, 1], w[u, 2]
            dwx, dwy, dwz = dw[u, 0], dw[u, 1], dw[u, 2]
            px, py, pz = p[i, 0], p[i, 1], p[i, 2]
            cx, cy, cz = cross(wx, wy, wz, px, py, pz)
            cx, cy, cz = cross(wx, wy, wz, cx, cy, cz)
            ex, ey, ez = cross(dwx, dwy, dwz, px, py, pz)
            ax, ay, az = into_body(R, i, a[u, 0] + cx + ex, a[u, 1] + cy + ey, a[u, 2] + cz + ez)
            wx, wy, wz = into_body(R, i, wx, wy, wz)
            dwx, dwy, dwz = into_body(R, i, dwx, dwy, dwz)
        speed = tree.ratio[i] * dq[tree.dof[i]]
        gain = tree.ratio[i] * ddq[tree.dof[i]]
        sx, sy, sz = tree.axis[i, 0], tree.axis[i, 1], tree.axis[i, 2]
        cx, cy, cz = cross(wx, wy, wz, speed * sx, speed * sy, speed * sz)
        if tree.prismatic[i]:
            a[i, 0] = ax + gain * sx + 2.0 * cx
            a[i, 1] = ay + gain * sy + 2.0 * cy
            a[i, 2] = az + gain * sz + 2.0 * cz
            w[i, 0], w[i, 1], w[i, 2] = wx, wy, wz
            dw[i, 0], dw[i, 1], dw[i, 2] = dwx, dwy, dwz
        else:
            a[i, 0], a[i, 1], a[i, 2] = ax, ay, az
            w[i, 0], w[i, 1], w[i, 2] = wx + speed * sx, wy + speed * sy, wz + speed * sz
            dw[i, 0] = dwx + gain * sx + cx
            dw[i, 1] = dwy + gain * sy + cy
            dw[i, 2] = dwz + gain * sz + cz


@njit(**INLINED)
def axes(parent, ancestor, prismatic, axis, R, p, Z, V):
    """
    Fill Z, V (nb, nb, 3) for the joints j that move body i.

    Z_ij is the axis of joint j, V_ij the velocity of the origin of body i per unit speed of joint
    j, both in frame i.
    """
    for i in range(parent.shape[0]):
        u = parent[i]
        for j in range(i):
            if ancestor[i, j]:
                zx, zy, zz = Z[u, j, 0], Z[u, j, 1], Z[u, j, 2]
                cx, cy, cz = cross(zx, zy, zz, p[i, 0], p[i, 1], p[i, 2])
                Z[i, j, 0], Z[i, j, 1], Z[i, j, 2] = into_body(R, i, zx, zy, zz)
                V[i, j, 0], V[i, j, 1], V[i, j, 2] = into_body(
                    R, i, V[u, j, 0] + cx, V[u, j, 1] + cy, V[u, j, 2] + cz
                )
        for r in range(3):
            Z[i, i, r] = 0.0 if prismatic[i] else axis[i, r]
            V[i, i, r] = axis[i, r] if prismatic[i] else 0.0


@njit(**INLINED)
def newton_euler(tree, inertia, R, p, w, dw, a, force, moment, tau):
    """Fill tau (n,) with the rigid-body torques; force, moment (nb, 3) are scratch."""
    nb = tree.parent.shape[0]
    for i in range(nb):
        wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
        dx, dy, dz = dw[i, 0], dw[i, 1], dw[i, 2]
        ax, ay, az = a[i, 0], a[i, 1], a[i, 2]
        XX, XY, XZ = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        YY, YZ, ZZ = inertia[i, 3], inertia[i, 4], inertia[i, 5]
        MX, MY, MZ, M = inertia[i, 6], inertia[i, 7], inertia[i, 8], inertia[i, 9]
        cx, cy, cz = cross(wx, wy, wz, MX, MY, MZ)
        cx, cy, cz = cross(wx, wy, wz, cx, cy, cz)
        ex, ey, ez = cross(dx, dy, dz, MX, MY, MZ)
        force[i, 0] = M * ax + ex + cx
        force[i, 1] = M * ay + ey + cy
        force[i, 2] = M * az + ez + cz
        hx = XX * wx + XY * wy + XZ * wz
        hy = XY * wx + YY * wy + YZ * wz
        hz = XZ * wx + YZ * wy + ZZ * wz
        cx, cy, cz = cross(wx, wy, wz, hx, hy, hz)
        ex, ey, ez = cross(MX, MY, MZ, ax, ay, az)
        moment[i, 0] = XX * dx + XY * dy + XZ * dz + cx + ex
        moment[i, 1] = XY * dx + YY * dy + YZ * dz + cy + ey
        moment[i, 2] = XZ * dx + YZ * dy + ZZ * dz + cz + ez
    for j in range(tau.shape[0]):
        tau[j] = 0.0
    for i in range(nb - 1, -1, -1):
        sx, sy, sz = tree.axis[i, 0], tree.axis[i, 1], tree.axis[i, 2]
        if tree.prismatic[i]:
            load = sx * force[i, 0] + sy * force[i, 1] + sz * force[i, 2]
        else:
            load = sx * moment[i, 0] + sy * moment[i, 1] + sz * moment[i, 2]
        tau[tree.dof[i]] += tree.ratio[i] * load
        u = tree.parent[i]
        if u >= 0:
            fx, fy, fz = into_parent(R, i, force[i, 0], force[i, 1], force[i, 2])
            mx, my, mz = into_parent(R, i, moment[i, 0], moment[i, 1], moment[i, 2])
            cx, cy, cz = cross(p[i, 0], p[i, 1], p[i, 2], fx, fy, fz)
            force[u, 0] += fx
            force[u, 1] += fy
            force[u, 2] += fz
            moment[u, 0] += mx + cx
            moment[u, 1] += my + cy
            moment[u, 2] += mz + cz


@njit(**INLINED)
def composite(tree, inertia, R, p, C, M):
    """Fill M (n, n) by composite rigid bodies; C (nb, 10) is scratch."""
    nb, n = tree.parent.shape[0], M.shape[0]
    for i in range(nb):
        for k in range(10):
            C[i, k] = inertia[i, k]
    for r in range(n):
        for c in range(n):
            M[r, c] = 0.0
    for i in range(nb - 1, -1, -1):
        XX, XY, XZ, YY, YZ, ZZ = C[i, 0], C[i, 1], C[i, 2], C[i, 3], C[i, 4], C[i, 5]
        MX, MY, MZ, m = C[i, 6], C[i, 7], C[i, 8], C[i, 9]
        sx, sy, sz = tree.axis[i, 0], tree.axis[i, 1], tree.axis[i, 2]
        if tree.prismatic[i]:
            fx, fy, fz = m * sx, m * sy, m * sz
            mx, my, mz = cross(MX, MY, MZ, sx, sy, sz)
            own = sx * fx + sy * fy + sz * fz
        else:
            fx, fy, fz = cross(sx, sy, sz, MX, MY, MZ)
            mx = XX * sx + XY * sy + XZ * sz
            my = XY * sx + YY * sy + YZ * sz
            mz = XZ * sx + YZ * sy + ZZ * sz
            own = sx * mx + sy * my + sz * mz
        di = tree.dof[i]
        M[di, di] += tree.ratio[i] * tree.ratio[i] * own
        b = i
        while tree.parent[b] >= 0:
            u = tree.parent[b]
            fx, fy, fz = into_parent(R, b, fx, fy, fz)
            mx, my, mz = into_parent(R, b, mx, my, mz)
            cx, cy, cz = cross(p[b, 0], p[b, 1], p[b, 2], fx, fy, fz)
            mx, my, mz = mx + cx, my + cy, mz + cz
            if tree.prismatic[u]:
                value = tree.axis[u, 0] * fx + tree.axis[u, 1] * fy + tree.axis[u, 2] * fz
            else:
                value = tree.axis[u, 0] * mx + tree.axis[u, 1] * my + tree.axis[u, 2] * mz
            value *= tree.ratio[i] * tree.ratio[u]
            M[di, tree.dof[u]] += value
            M[tree.dof[u], di] += value
            b = u
        u = tree.parent[i]
        if u >= 0:
            _add_to_parent(R, p, C, i, u)


@njit(**INLINED)
def _add_to_parent(R, p, C, i, u):
    """Add the inertia of body i, moved to the frame of its parent u, to the composite of u."""
    XX, XY, XZ, YY, YZ, ZZ = C[i, 0], C[i, 1], C[i, 2], C[i, 3], C[i, 4], C[i, 5]
    m = C[i, 9]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    sx, sy, sz = into_parent(R, i, C[i, 6], C[i, 7], C[i, 8])
    # The point masses seen from the parent: 2 (p.s) E - p s^T - s p^T + m (p.p E - p p^T).
    hx, hy, hz = sx + 0.5 * m * px, sy + 0.5 * m * py, sz + 0.5 * m * pz
    trace = 2.0 * (px * hx + py * hy + pz * hz)
    ax, ay, az = _row_times(XX, XY, XZ, YY, YZ, ZZ, R[i, 0, 0], R[i, 0, 1], R[i, 0, 2])
    bx, by, bz = _row_times(XX, XY, XZ, YY, YZ, ZZ, R[i, 1, 0], R[i, 1, 1], R[i, 1, 2])
    cx, cy, cz = _row_times(XX, XY, XZ, YY, YZ, ZZ, R[i, 2, 0], R[i, 2, 1], R[i, 2, 2])
    xx, xy, xz = into_parent(R, i, ax, ay, az)
    _, yy, yz = into_parent(R, i, bx, by, bz)
    _, _, zz = into_parent(R, i, cx, cy, cz)
    C[u, 0] += xx + trace - 2.0 * px * hx
    C[u, 1] += xy - px * hy - py * hx
    C[u, 2] += xz - px * hz - pz * hx
    C[u, 3] += yy + trace - 2.0 * py * hy
    C[u, 4] += yz - py * hz - pz * hy
    C[u, 5] += zz + trace - 2.0 * pz * hz
    C[u, 6] += sx + m * px
    C[u, 7] += sy + m * py
    C[u, 8] += sz + m * pz
    C[u, 9] += m


@njit(**INLINED)
def _row_times(XX, XY, XZ, YY, YZ, ZZ, x, y, z):
    """Return I v of a symmetric I."""
    return XX * x + XY * y + XZ * z, XY * x + YY * y + YZ * z, XZ * x + YZ * y + ZZ * z
