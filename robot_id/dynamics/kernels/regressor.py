"""
The regressor of N samples at once: tau = W chi.

Row of joint j for body i: with the axis z and the velocity v of the body origin per unit speed of
joint j, both in frame i, tau_j = z . moment_i + v . force_i, and moment and force are linear in
the ten parameters of the body.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.kernels.friction import atom_speed, is_load, term_value
from robot_id.dynamics.kernels.rigid_body import FAST, axes, cross, motions, poses
from robot_id.kernel_cache import njit
from robot_id.robot import Robot
from robot_id.robot.friction import ROTOR


@njit(**FAST)
def regressor_kernel(tree, body_columns, term_columns, Q, DQ, DDQ, slope, W):
    """Fill W (N, n, columns); a column of -1 is left out, so are those that take the load."""
    nb = tree.parent.shape[0]
    R, p = np.empty((nb, 3, 3)), np.empty((nb, 3))
    w, dw, a = np.empty((nb, 3)), np.empty((nb, 3)), np.empty((nb, 3))
    Z, V = np.zeros((nb, nb, 3)), np.zeros((nb, nb, 3))
    row = np.empty(10)
    for s in range(Q.shape[0]):
        W[s] = 0.0
        poses(tree, Q[s], R, p)
        motions(tree, R, p, DQ[s], DDQ[s], w, dw, a)
        axes(tree.parent, tree.ancestor, tree.prismatic, tree.axis, R, p, Z, V)
        for i in range(nb):
            wx, wy, wz = w[i, 0], w[i, 1], w[i, 2]
            dx, dy, dz = dw[i, 0], dw[i, 1], dw[i, 2]
            ax, ay, az = a[i, 0], a[i, 1], a[i, 2]
            ww = wx * wx + wy * wy + wz * wz
            for j in range(i + 1):
                if not tree.ancestor[i, j]:
                    continue
                zx, zy, zz = Z[i, j, 0], Z[i, j, 1], Z[i, j, 2]
                vx, vy, vz = V[i, j, 0], V[i, j, 1], V[i, j, 2]
                # z . (I dw + w x I w) = z . I dw + (z x w) . I w
                ux, uy, uz = cross(zx, zy, zz, wx, wy, wz)
                row[0] = zx * dx + ux * wx
                row[1] = zx * dy + zy * dx + ux * wy + uy * wx
                row[2] = zx * dz + zz * dx + ux * wz + uz * wx
                row[3] = zy * dy + uy * wy
                row[4] = zy * dz + zz * dy + uy * wz + uz * wy
                row[5] = zz * dz + uz * wz
                # z . (ms x a) + v . (dw x ms + w x (w x ms))
                # = ms . (a x z + v x dw + (w . v) w - (w . w) v)
                ex, ey, ez = cross(ax, ay, az, zx, zy, zz)
                gx, gy, gz = cross(vx, vy, vz, dx, dy, dz)
                wv = wx * vx + wy * vy + wz * vz
                row[6] = ex + gx + wv * wx - ww * vx
                row[7] = ey + gy + wv * wy - ww * vy
                row[8] = ez + gz + wv * wz - ww * vz
                row[9] = vx * ax + vy * ay + vz * az
                ratio, dof = tree.ratio[j], tree.dof[j]
                for k in range(10):
                    column = body_columns[i, k]
                    if column >= 0:
                        W[s, dof, column] += ratio * row[k]
        for k in range(tree.term_kind.shape[0]):
            column = term_columns[tree.term_parameter[k]]
            if column < 0:
                continue
            kind = tree.term_kind[k]
            if kind == ROTOR:
                value = atom_speed(tree, k, DDQ[s])
            elif is_load(kind):
                continue
            else:
                x = atom_speed(tree, k, DQ[s])
                value = term_value(kind, x, slope, tree.term_constant[k])
            W[s, tree.term_row[k], column] += tree.term_gain[k] * value


def column_maps(robot: Robot, standard: bool) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return body_columns (nb, 10), term_columns (e,) and the number of columns."""
    s = len(robot.standard_names)
    place = np.full(s, -1, np.int64)
    columns = np.arange(s) if standard else robot.base.columns
    place[columns] = np.arange(len(columns))
    return place[robot.inertial_index], place[robot.term_index], len(columns)
