"""
The sweep of `regressor_slopes` back through the tree: df of f = sum_k W_k . G_k.

It is the chain rule of `kernels.motions` and `regressor_kernel` read from the leaves to the root.
A name with a bar is df over that quantity. Of y = R(theta)^T x, theta feels -s . (y x y_bar).
"""

from __future__ import annotations

import numpy as np

from robot_id.dynamics.kernels.friction import atom_speed, is_load, term_slope
from robot_id.dynamics.kernels.rigid_body import (
    FAST,
    INLINED,
    axes,
    cross,
    into_parent,
    motions,
    poses,
)
from robot_id.kernel_cache import njit
from robot_id.robot.friction import ROTOR


@njit(**INLINED)
def _triple(s, i, x, y, z, bx, by, bz):
    """Return s_i . (y x b): minus the slope of b . R^T x in the angle."""
    cx, cy, cz = cross(x, y, z, bx, by, bz)
    return s[i, 0] * cx + s[i, 1] * cy + s[i, 2] * cz


@njit(**INLINED)
def _add(out, i, x, y, z):
    out[i, 0] += x
    out[i, 1] += y
    out[i, 2] += z


@njit(**INLINED)
def _times_inertia(g, x, y, z):
    """Return S v, S = [g0 g1 g2; g1 g3 g4; g2 g4 g5]."""
    return (
        g[0] * x + g[1] * y + g[2] * z,
        g[1] * x + g[3] * y + g[4] * z,
        g[2] * x + g[4] * y + g[5] * z,
    )


# f of one row of body i is z.(S dw + w x S w) + m.(a x z + v x dw + (w.v) w - (w.w) v) + M v.a
# with m = g6..g8 and M = g9; z, v: axis of the joint and velocity per unit of its speed.


@njit(**INLINED)
def _row_to_motion(i, g, z, v, w, w_bar, dw_bar, a_bar):
    """Add the slopes of one row of body i to the bars of its motion."""
    zx, zy, zz = z
    vx, vy, vz = v
    wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
    mx, my, mz, mass = g[6], g[7], g[8], g[9]
    mw = mx * wx + my * wy + mz * wz
    mv = mx * vx + my * vy + mz * vz
    wv = wx * vx + wy * vy + wz * vz
    hx, hy, hz = _times_inertia(g, wx, wy, wz)
    cx, cy, cz = cross(hx, hy, hz, zx, zy, zz)
    ux, uy, uz = cross(zx, zy, zz, wx, wy, wz)
    ux, uy, uz = _times_inertia(g, ux, uy, uz)
    w_bar[i, 0] += cx + ux + vx * mw + mx * wv - 2.0 * wx * mv
    w_bar[i, 1] += cy + uy + vy * mw + my * wv - 2.0 * wy * mv
    w_bar[i, 2] += cz + uz + vz * mw + mz * wv - 2.0 * wz * mv
    cx, cy, cz = cross(mx, my, mz, vx, vy, vz)
    hx, hy, hz = _times_inertia(g, zx, zy, zz)
    _add(dw_bar, i, cx + hx, cy + hy, cz + hz)
    cx, cy, cz = cross(zx, zy, zz, mx, my, mz)
    _add(a_bar, i, cx + mass * vx, cy + mass * vy, cz + mass * vz)


@njit(**INLINED)
def _row_to_axes(i, g, w, dw, a):
    """Return z_bar and v_bar of one row of body i."""
    wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
    dx, dy, dz = dw[i, 0], dw[i, 1], dw[i, 2]
    ax, ay, az = a[i, 0], a[i, 1], a[i, 2]
    mx, my, mz, mass = g[6], g[7], g[8], g[9]
    mw = mx * wx + my * wy + mz * wz
    ww = wx * wx + wy * wy + wz * wz
    hx, hy, hz = _times_inertia(g, wx, wy, wz)
    cx, cy, cz = cross(wx, wy, wz, hx, hy, hz)
    ex, ey, ez = cross(mx, my, mz, ax, ay, az)
    hx, hy, hz = _times_inertia(g, dx, dy, dz)
    zx_bar, zy_bar, zz_bar = cx + ex + hx, cy + ey + hy, cz + ez + hz
    cx, cy, cz = cross(dx, dy, dz, mx, my, mz)
    vx_bar = cx + wx * mw - ww * mx + mass * ax
    vy_bar = cy + wy * mw - ww * my + mass * ay
    vz_bar = cz + wz * mw - ww * mz + mass * az
    return zx_bar, zy_bar, zz_bar, vx_bar, vy_bar, vz_bar


@njit(**INLINED)
def _axes_back(tree, i, R, p, Z, V, Z_bar, V_bar, columns, G, g, motion, bars):
    """
    Go back through the rows of body i to the axes of its parent; return angle_bar and p_bar.

    :param columns: (nb, 10) columns of W of the bodies; G: (n, columns) df/dW of one sample.
    :param motion, bars: w, dw, a and their bars, (nb, 3) each.
    """
    w, dw, a = motion
    w_bar, dw_bar, a_bar = bars
    u = tree.parent[i]
    angle_bar = px_bar = py_bar = pz_bar = 0.0
    for j in range(i + 1):
        if not tree.ancestor[i, j]:
            continue
        for k in range(10):
            column = columns[i, k]
            g[k] = tree.ratio[j] * G[tree.dof[j], column] if column >= 0 else 0.0
        zx, zy, zz = Z[i, j, 0], Z[i, j, 1], Z[i, j, 2]
        vx, vy, vz = V[i, j, 0], V[i, j, 1], V[i, j, 2]
        _row_to_motion(i, g, (zx, zy, zz), (vx, vy, vz), w, w_bar, dw_bar, a_bar)
        if i == j:
            continue
        bx, by, bz, ex, ey, ez = _row_to_axes(i, g, w, dw, a)
        zx_bar, zy_bar, zz_bar = Z_bar[i, j, 0] + bx, Z_bar[i, j, 1] + by, Z_bar[i, j, 2] + bz
        vx_bar, vy_bar, vz_bar = V_bar[i, j, 0] + ex, V_bar[i, j, 1] + ey, V_bar[i, j, 2] + ez
        angle_bar -= _triple(tree.axis, i, zx, zy, zz, zx_bar, zy_bar, zz_bar)
        angle_bar -= _triple(tree.axis, i, vx, vy, vz, vx_bar, vy_bar, vz_bar)
        zx_bar, zy_bar, zz_bar = into_parent(R, i, zx_bar, zy_bar, zz_bar)
        vx_bar, vy_bar, vz_bar = into_parent(R, i, vx_bar, vy_bar, vz_bar)
        cx, cy, cz = cross(p[i, 0], p[i, 1], p[i, 2], vx_bar, vy_bar, vz_bar)
        _add(Z_bar[u], j, zx_bar + cx, zy_bar + cy, zz_bar + cz)
        _add(V_bar[u], j, vx_bar, vy_bar, vz_bar)
        cx, cy, cz = cross(vx_bar, vy_bar, vz_bar, Z[u, j, 0], Z[u, j, 1], Z[u, j, 2])
        px_bar, py_bar, pz_bar = px_bar + cx, py_bar + cy, pz_bar + cz
    return angle_bar, px_bar, py_bar, pz_bar


@njit(**INLINED)
def _motion_back(tree, i, speed, gain, motion, bars):
    """
    Go back through the joint of body i; return angle_bar, speed_bar, gain_bar.

    The bars of body i become those of what came from its parent, turned into this body.
    """
    w, dw, a = motion
    w_bar, dw_bar, a_bar = bars
    axis, angle_bar = tree.axis, 0.0
    sx, sy, sz = axis[i, 0], axis[i, 1], axis[i, 2]
    wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
    if tree.prismatic[i]:
        speed_bar = 0.0
        gain_bar = sx * a_bar[i, 0] + sy * a_bar[i, 1] + sz * a_bar[i, 2]
        cx_bar, cy_bar, cz_bar = 2.0 * a_bar[i, 0], 2.0 * a_bar[i, 1], 2.0 * a_bar[i, 2]
    else:
        speed_bar = sx * w_bar[i, 0] + sy * w_bar[i, 1] + sz * w_bar[i, 2]
        gain_bar = sx * dw_bar[i, 0] + sy * dw_bar[i, 1] + sz * dw_bar[i, 2]
        cx_bar, cy_bar, cz_bar = dw_bar[i, 0], dw_bar[i, 1], dw_bar[i, 2]
        wx, wy, wz = wx - speed * sx, wy - speed * sy, wz - speed * sz
    cx, cy, cz = cross(cx_bar, cy_bar, cz_bar, wx, wy, wz)
    speed_bar += sx * cx + sy * cy + sz * cz
    cx, cy, cz = cross(speed * sx, speed * sy, speed * sz, cx_bar, cy_bar, cz_bar)
    _add(w_bar, i, cx, cy, cz)
    if not tree.prismatic[i]:
        cx, cy, cz = cross(wx, wy, wz, speed * sx, speed * sy, speed * sz)
        dx = dw[i, 0] - gain * sx - cx
        dy = dw[i, 1] - gain * sy - cy
        dz = dw[i, 2] - gain * sz - cz
        angle_bar -= _triple(axis, i, wx, wy, wz, w_bar[i, 0], w_bar[i, 1], w_bar[i, 2])
        angle_bar -= _triple(axis, i, dx, dy, dz, dw_bar[i, 0], dw_bar[i, 1], dw_bar[i, 2])
        angle_bar -= _triple(
            axis, i, a[i, 0], a[i, 1], a[i, 2], a_bar[i, 0], a_bar[i, 1], a_bar[i, 2]
        )
    return angle_bar, speed_bar, gain_bar


@njit(**INLINED)
def _parent_back(tree, i, R, p, motion, bars):
    """Hand the bars of body i over to its parent; return p_bar of w (w.p) - p (w.w) + dw x p."""
    w, dw, _ = motion
    w_bar, dw_bar, a_bar = bars
    u = tree.parent[i]
    px, py, pz = p[i, 0], p[i, 1], p[i, 2]
    wx_bar, wy_bar, wz_bar = into_parent(R, i, w_bar[i, 0], w_bar[i, 1], w_bar[i, 2])
    dx_bar, dy_bar, dz_bar = into_parent(R, i, dw_bar[i, 0], dw_bar[i, 1], dw_bar[i, 2])
    ax_bar, ay_bar, az_bar = into_parent(R, i, a_bar[i, 0], a_bar[i, 1], a_bar[i, 2])
    wx, wy, wz = w[u, 0], w[u, 1], w[u, 2]
    wp = wx * px + wy * py + wz * pz
    wa = wx * ax_bar + wy * ay_bar + wz * az_bar
    pa = px * ax_bar + py * ay_bar + pz * az_bar
    ww = wx * wx + wy * wy + wz * wz
    w_bar[u, 0] += wx_bar + ax_bar * wp + px * wa - 2.0 * wx * pa
    w_bar[u, 1] += wy_bar + ay_bar * wp + py * wa - 2.0 * wy * pa
    w_bar[u, 2] += wz_bar + az_bar * wp + pz * wa - 2.0 * wz * pa
    cx, cy, cz = cross(px, py, pz, ax_bar, ay_bar, az_bar)
    _add(dw_bar, u, dx_bar + cx, dy_bar + cy, dz_bar + cz)
    _add(a_bar, u, ax_bar, ay_bar, az_bar)
    cx, cy, cz = cross(ax_bar, ay_bar, az_bar, dw[u, 0], dw[u, 1], dw[u, 2])
    return cx + wx * wa - ax_bar * ww, cy + wy * wa - ay_bar * ww, cz + wz * wa - az_bar * ww


@njit(**INLINED)
def _terms_back(tree, columns, dq, slope, G, by_dq, by_ddq):
    """Add the slopes of rotor inertia and friction, those that take the load left out."""
    n = by_dq.shape[0]
    for k in range(tree.term_kind.shape[0]):
        column = columns[tree.term_parameter[k]]
        if column < 0:
            continue
        kind = tree.term_kind[k]
        weight = tree.term_gain[k] * G[tree.term_row[k], column]
        if kind == ROTOR:
            for j in range(n):
                by_ddq[j] += weight * tree.term_direction[k, j]
        elif not is_load(kind):
            x = atom_speed(tree, k, dq)
            weight *= term_slope(kind, x, slope, tree.term_constant[k])
            for j in range(n):
                by_dq[j] += weight * tree.term_direction[k, j]


@njit(**FAST)
def slopes_kernel(tree, body_columns, term_columns, Q, DQ, DDQ, slope, G, by_q, by_dq, by_ddq):
    """Fill by_q, by_dq, by_ddq (N, n) from G (N, n, columns)."""
    nb = tree.parent.shape[0]
    R, p = np.empty((nb, 3, 3)), np.empty((nb, 3))
    motion = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    bars = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    Z, V = np.zeros((nb, nb, 3)), np.zeros((nb, nb, 3))
    Z_bar, V_bar = np.zeros((nb, nb, 3)), np.zeros((nb, nb, 3))
    g = np.empty(10)
    for s in range(Q.shape[0]):
        for filled in (by_q, by_dq, by_ddq):
            filled[s] = 0.0
        for bar in bars:
            bar[:] = 0.0
        Z_bar[:] = 0.0
        V_bar[:] = 0.0
        poses(tree, Q[s], R, p)
        motions(tree, R, p, DQ[s], DDQ[s], motion[0], motion[1], motion[2])
        axes(tree.parent, tree.ancestor, tree.prismatic, tree.axis, R, p, Z, V)
        for i in range(nb - 1, -1, -1):
            d, ratio = tree.dof[i], tree.ratio[i]
            angle_bar, px_bar, py_bar, pz_bar = _axes_back(
                tree, i, R, p, Z, V, Z_bar, V_bar, body_columns, G[s], g, motion, bars
            )
            # Now the bars are the sums over this body and all it carries.
            turn_bar, speed_bar, gain_bar = _motion_back(
                tree, i, ratio * DQ[s, d], ratio * DDQ[s, d], motion, bars
            )
            angle_bar += turn_bar
            if tree.parent[i] >= 0:
                cx, cy, cz = _parent_back(tree, i, R, p, motion, bars)
                px_bar, py_bar, pz_bar = px_bar + cx, py_bar + cy, pz_bar + cz
            if tree.prismatic[i]:
                angle_bar = (
                    px_bar * tree.slide[i, 0]
                    + py_bar * tree.slide[i, 1]
                    + pz_bar * tree.slide[i, 2]
                )
            by_q[s, d] += ratio * angle_bar
            by_dq[s, d] += ratio * speed_bar
            by_ddq[s, d] += ratio * gain_bar
        _terms_back(tree, term_columns, DQ[s], slope, G[s], by_dq[s], by_ddq[s])
