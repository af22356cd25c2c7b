"""
The velocity after a step under dry friction, compiled: friction is a budget that stops a joint.

The implicit step solves A v = b - h f with |f_j| <= c_j, and f_j = c_j sign(v_j) wherever v_j is
not zero: v minimises v'A v / 2 - b'v + h sum c_j |v_j|, a convex function, so the answer is
unique, joints at rest stay at rest below their budget, and no step size is unstable.
"""

from __future__ import annotations

from robot_id.dynamics.kernels.rigid_body import INLINED
from robot_id.kernel_cache import njit

# Sweeps over the joints; each one that moves an arm by less than this share ends them.
SWEEPS, ACCURACY = 200, 1e-13


@njit(**INLINED)
def stopped_velocity(A, b, c, h, v, side):
    """
    Overwrite v (n,) by the velocity after the step; it holds the start of the search.

    :param A: (n, n) positive definite; b (n,); c (n,) budgets.
    :param side: (n,) receives the direction of friction, 0 for a joint at rest.
    """
    n = b.shape[0]
    for _ in range(SWEEPS):
        moved = 0.0
        size = 0.0
        for j in range(n):
            x = b[j]
            for k in range(n):
                if k != j:
                    x -= A[j, k] * v[k]
            limit = h * c[j]
            new = (x - limit) / A[j, j] if x > limit else 0.0
            if x < -limit:
                new = (x + limit) / A[j, j]
            moved = max(moved, abs(new - v[j]))
            size = max(size, abs(new))
            v[j] = new
        if n == 1 or moved <= ACCURACY * size:
            break
    for j in range(n):
        side[j] = 1.0 if v[j] > 0.0 else (-1.0 if v[j] < 0.0 else 0.0)
