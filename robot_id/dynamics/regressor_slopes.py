"""
How a function of the regressor changes with the states, by one sweep back through the tree.

With f = sum_k W_k . G_k, W_k the regressor of sample k, this gives df/dq, df/d(dq), df/d(ddq) of
all samples at less than twice the cost of W itself, whatever the number of joints. The sweep is
the chain rule of `kernels.motions` and `regressor_kernel` read from the leaves to the root; a name
with a bar is df over that quantity. Of y = R(theta)^T x, theta feels -s . (y x y_bar).
"""

from __future__ import annotations

import numba
import numpy as np

from robot_id.dynamics.friction import atom_speed, is_load, term_slope
from robot_id.dynamics.generated.library import code_for
from robot_id.dynamics.kernels import (
    FAST,
    INLINED,
    cross,
    into_body,
    into_parent,
    motions,
    poses,
)
from robot_id.dynamics.regressor import column_maps
from robot_id.dynamics.states import Array, as_states, slope_value
from robot_id.dynamics.tree import tree_of
from robot_id.model import Robot
from robot_id.model.friction import ROTOR


@numba.njit(**INLINED)
def _triple(s, i, x, y, z, bx, by, bz):
    """Return s_i . (y x b): minus the slope of b . R^T x in the angle."""
    cx, cy, cz = cross(x, y, z, bx, by, bz)
    return s[i, 0] * cx + s[i, 1] * cy + s[i, 2] * cz


@numba.njit(**INLINED)
def _add(out, i, x, y, z):
    out[i, 0] += x
    out[i, 1] += y
    out[i, 2] += z


@numba.njit(**FAST)
def _slopes(tree, body_columns, term_columns, Q, DQ, DDQ, slope, G, by_q, by_dq, by_ddq):
    """Fill by_q, by_dq, by_ddq (N, n) from G (N, n, columns)."""
    nb, n = tree.parent.shape[0], G.shape[1]
    R, p = np.empty((nb, 3, 3)), np.empty((nb, 3))
    w, dw, a = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    w_bar, dw_bar, a_bar = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    Z, V = np.zeros((nb, nb, 3)), np.zeros((nb, nb, 3))
    Z_bar, V_bar = np.zeros((nb, nb, 3)), np.zeros((nb, nb, 3))
    g = np.empty(10)
    axis = tree.axis
    for s in range(Q.shape[0]):
        by_q[s] = 0.0
        by_dq[s] = 0.0
        by_ddq[s] = 0.0
        w_bar[:] = 0.0
        dw_bar[:] = 0.0
        a_bar[:] = 0.0
        Z_bar[:] = 0.0
        V_bar[:] = 0.0
        poses(tree, Q[s], R, p)
        motions(tree, R, p, DQ[s], DDQ[s], w, dw, a)
        for i in range(nb):
            u = tree.parent[i]
            for j in range(i):
                if tree.ancestor[i, j]:
                    zx, zy, zz = Z[u, j, 0], Z[u, j, 1], Z[u, j, 2]
                    cx, cy, cz = cross(zx, zy, zz, p[i, 0], p[i, 1], p[i, 2])
                    Z[i, j, 0], Z[i, j, 1], Z[i, j, 2] = into_body(R, i, zx, zy, zz)
                    V[i, j, 0], V[i, j, 1], V[i, j, 2] = into_body(
                        R, i, V[u, j, 0] + cx, V[u, j, 1] + cy, V[u, j, 2] + cz
                    )
            for r in range(3):
                Z[i, i, r] = 0.0 if tree.prismatic[i] else axis[i, r]
                V[i, i, r] = axis[i, r] if tree.prismatic[i] else 0.0
        for i in range(nb - 1, -1, -1):
            u = tree.parent[i]
            px, py, pz = p[i, 0], p[i, 1], p[i, 2]
            wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
            dx, dy, dz = dw[i, 0], dw[i, 1], dw[i, 2]
            ax, ay, az = a[i, 0], a[i, 1], a[i, 2]
            ww = wx * wx + wy * wy + wz * wz
            angle_bar = 0.0
            px_bar = py_bar = pz_bar = 0.0
            for j in range(i + 1):
                if not tree.ancestor[i, j]:
                    continue
                for k in range(10):
                    column = body_columns[i, k]
                    g[k] = tree.ratio[j] * G[s, tree.dof[j], column] if column >= 0 else 0.0
                zx, zy, zz = Z[i, j, 0], Z[i, j, 1], Z[i, j, 2]
                vx, vy, vz = V[i, j, 0], V[i, j, 1], V[i, j, 2]
                # f = z.(S dw + w x S w) + m.(a x z + v x dw + (w.v) w - (w.w) v) + M v.a
                hx = g[0] * wx + g[1] * wy + g[2] * wz
                hy = g[1] * wx + g[3] * wy + g[4] * wz
                hz = g[2] * wx + g[4] * wy + g[5] * wz
                mx, my, mz, mass = g[6], g[7], g[8], g[9]
                ux, uy, uz = cross(zx, zy, zz, wx, wy, wz)
                mw = mx * wx + my * wy + mz * wz
                mv = mx * vx + my * vy + mz * vz
                wv = wx * vx + wy * vy + wz * vz
                cx, cy, cz = cross(hx, hy, hz, zx, zy, zz)
                _add(
                    w_bar,
                    i,
                    cx + g[0] * ux + g[1] * uy + g[2] * uz + vx * mw + mx * wv - 2.0 * wx * mv,
                    cy + g[1] * ux + g[3] * uy + g[4] * uz + vy * mw + my * wv - 2.0 * wy * mv,
                    cz + g[2] * ux + g[4] * uy + g[5] * uz + vz * mw + mz * wv - 2.0 * wz * mv,
                )
                cx, cy, cz = cross(mx, my, mz, vx, vy, vz)
                _add(
                    dw_bar,
                    i,
                    cx + g[0] * zx + g[1] * zy + g[2] * zz,
                    cy + g[1] * zx + g[3] * zy + g[4] * zz,
                    cz + g[2] * zx + g[4] * zy + g[5] * zz,
                )
                cx, cy, cz = cross(zx, zy, zz, mx, my, mz)
                _add(a_bar, i, cx + mass * vx, cy + mass * vy, cz + mass * vz)
                if i == j:
                    continue
                cx, cy, cz = cross(wx, wy, wz, hx, hy, hz)
                ex, ey, ez = cross(mx, my, mz, ax, ay, az)
                zx_bar = Z_bar[i, j, 0] + cx + ex + g[0] * dx + g[1] * dy + g[2] * dz
                zy_bar = Z_bar[i, j, 1] + cy + ey + g[1] * dx + g[3] * dy + g[4] * dz
                zz_bar = Z_bar[i, j, 2] + cz + ez + g[2] * dx + g[4] * dy + g[5] * dz
                cx, cy, cz = cross(dx, dy, dz, mx, my, mz)
                vx_bar = V_bar[i, j, 0] + cx + wx * mw - ww * mx + mass * ax
                vy_bar = V_bar[i, j, 1] + cy + wy * mw - ww * my + mass * ay
                vz_bar = V_bar[i, j, 2] + cz + wz * mw - ww * mz + mass * az
                angle_bar -= _triple(axis, i, zx, zy, zz, zx_bar, zy_bar, zz_bar)
                angle_bar -= _triple(axis, i, vx, vy, vz, vx_bar, vy_bar, vz_bar)
                zx_bar, zy_bar, zz_bar = into_parent(R, i, zx_bar, zy_bar, zz_bar)
                vx_bar, vy_bar, vz_bar = into_parent(R, i, vx_bar, vy_bar, vz_bar)
                cx, cy, cz = cross(px, py, pz, vx_bar, vy_bar, vz_bar)
                _add(Z_bar[u], j, zx_bar + cx, zy_bar + cy, zz_bar + cz)
                _add(V_bar[u], j, vx_bar, vy_bar, vz_bar)
                cx, cy, cz = cross(vx_bar, vy_bar, vz_bar, Z[u, j, 0], Z[u, j, 1], Z[u, j, 2])
                px_bar, py_bar, pz_bar = px_bar + cx, py_bar + cy, pz_bar + cz
            # Now the sums over this body and all it carries: back through `motions`.
            d, ratio = tree.dof[i], tree.ratio[i]
            speed, gain = ratio * DQ[s, d], ratio * DDQ[s, d]
            sx, sy, sz = axis[i, 0], axis[i, 1], axis[i, 2]
            wx_bar, wy_bar, wz_bar = w_bar[i, 0], w_bar[i, 1], w_bar[i, 2]
            dx_bar, dy_bar, dz_bar = dw_bar[i, 0], dw_bar[i, 1], dw_bar[i, 2]
            ax_bar, ay_bar, az_bar = a_bar[i, 0], a_bar[i, 1], a_bar[i, 2]
            if tree.prismatic[i]:
                speed_bar = 0.0
                gain_bar = sx * ax_bar + sy * ay_bar + sz * az_bar
                cx_bar, cy_bar, cz_bar = 2.0 * ax_bar, 2.0 * ay_bar, 2.0 * az_bar
            else:
                speed_bar = sx * wx_bar + sy * wy_bar + sz * wz_bar
                gain_bar = sx * dx_bar + sy * dy_bar + sz * dz_bar
                cx_bar, cy_bar, cz_bar = dx_bar, dy_bar, dz_bar
                # What came from the parent, turned into this body.
                wx, wy, wz = wx - speed * sx, wy - speed * sy, wz - speed * sz
                cx, cy, cz = cross(wx, wy, wz, speed * sx, speed * sy, speed * sz)
                dx, dy, dz = dx - gain * sx - cx, dy - gain * sy - cy, dz - gain * sz - cz
            cx, cy, cz = cross(cx_bar, cy_bar, cz_bar, wx, wy, wz)
            speed_bar += sx * cx + sy * cy + sz * cz
            cx, cy, cz = cross(speed * sx, speed * sy, speed * sz, cx_bar, cy_bar, cz_bar)
            wx_bar, wy_bar, wz_bar = wx_bar + cx, wy_bar + cy, wz_bar + cz
            if not tree.prismatic[i]:
                angle_bar -= _triple(axis, i, wx, wy, wz, wx_bar, wy_bar, wz_bar)
                angle_bar -= _triple(axis, i, dx, dy, dz, dx_bar, dy_bar, dz_bar)
                angle_bar -= _triple(axis, i, ax, ay, az, ax_bar, ay_bar, az_bar)
            if u >= 0:
                wx_bar, wy_bar, wz_bar = into_parent(R, i, wx_bar, wy_bar, wz_bar)
                dx_bar, dy_bar, dz_bar = into_parent(R, i, dx_bar, dy_bar, dz_bar)
                ax_bar, ay_bar, az_bar = into_parent(R, i, ax_bar, ay_bar, az_bar)
                # a_bar . (w (w.p) - p (w.w) + dw x p) of the parent.
                wx, wy, wz = w[u, 0], w[u, 1], w[u, 2]
                wp = wx * px + wy * py + wz * pz
                wa = wx * ax_bar + wy * ay_bar + wz * az_bar
                pa = px * ax_bar + py * ay_bar + pz * az_bar
                ww = wx * wx + wy * wy + wz * wz
                _add(
                    w_bar,
                    u,
                    wx_bar + ax_bar * wp + px * wa - 2.0 * wx * pa,
                    wy_bar + ay_bar * wp + py * wa - 2.0 * wy * pa,
                    wz_bar + az_bar * wp + pz * wa - 2.0 * wz * pa,
                )
                cx, cy, cz = cross(px, py, pz, ax_bar, ay_bar, az_bar)
                _add(dw_bar, u, dx_bar + cx, dy_bar + cy, dz_bar + cz)
                _add(a_bar, u, ax_bar, ay_bar, az_bar)
                cx, cy, cz = cross(ax_bar, ay_bar, az_bar, dw[u, 0], dw[u, 1], dw[u, 2])
                px_bar += cx + wx * wa - ax_bar * ww
                py_bar += cy + wy * wa - ay_bar * ww
                pz_bar += cz + wz * wa - az_bar * ww
            if tree.prismatic[i]:
                angle_bar = (
                    px_bar * tree.slide[i, 0]
                    + py_bar * tree.slide[i, 1]
                    + pz_bar * tree.slide[i, 2]
                )
            by_q[s, d] += ratio * angle_bar
            by_dq[s, d] += ratio * speed_bar
            by_ddq[s, d] += ratio * gain_bar
        for k in range(tree.term_kind.shape[0]):
            column = term_columns[tree.term_parameter[k]]
            if column < 0:
                continue
            kind = tree.term_kind[k]
            weight = tree.term_gain[k] * G[s, tree.term_row[k], column]
            if kind == ROTOR:
                for j in range(n):
                    by_ddq[s, j] += weight * tree.term_direction[k, j]
            elif not is_load(kind):
                x = atom_speed(tree, k, DQ[s])
                weight *= term_slope(kind, x, slope, tree.term_constant[k])
                for j in range(n):
                    by_dq[s, j] += weight * tree.term_direction[k, j]


def regressor_slopes(
    robot: Robot,
    q: Array,
    dq: Array,
    ddq: Array,
    G: Array,
    coulomb_slope: float | None = None,
    calls: int = 1,
) -> tuple[Array, Array, Array]:
    """
    Return df/dq, df/d(dq), df/d(ddq) of f = sum over samples of W . G, (N, n) each.

    :param q: (N, n) positions; dq, ddq likewise.
    :param G: (N, n, b) df/dW, W the base regressor.
    :param coulomb_slope: None for sign(dq), whose slope is zero, alpha for 2/pi atan(alpha dq).
    :param calls: how often such a call will come, see `regressor`.
    """
    _, (Q, DQ, DDQ) = as_states(robot, q, dq, ddq)
    slope = slope_value(coulomb_slope)
    by_q, by_dq, by_ddq = (np.empty_like(Q) for _ in range(3))
    code = code_for(robot, 'regressor_slopes', slope, calls * len(Q))
    if code is not None:
        G = np.ascontiguousarray(G, float)
        code(None, slope, (Q, DQ, DDQ, G), (by_q, by_dq, by_ddq))
        return by_q, by_dq, by_ddq
    bodies, terms, _ = column_maps(robot, False)
    factor = robot.base.factor
    G = np.ascontiguousarray(G if np.all(factor == 1.0) else G / factor)
    _slopes(tree_of(robot), bodies, terms, Q, DQ, DDQ, slope, G, by_q, by_dq, by_ddq)
    return by_q, by_dq, by_ddq
