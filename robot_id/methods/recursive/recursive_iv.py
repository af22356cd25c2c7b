"""
Recursive instrumental variables on factors P = U D V' = (Z'W)^-1, which is not symmetric.

The update is Bierman's for instrumental variables. As in `ud`, the kernels keep the transposes
`Lu = U'` and `Lv = V'` and work in place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from robot_id.exceptions import DataError, OptionError
from robot_id.kernel_cache import njit
from robot_id.methods.recursive.information import Moments, SquareRootInformation
from robot_id.methods.recursive.recursive import RecursiveEstimator
from robot_id.methods.recursive.ud import KERNEL

Array = NDArray[np.float64]


@njit(**KERNEL)
def observe_instrument(
    x: Array,
    Lu: Array,
    Lv: Array,
    d: Array,
    h: Array,
    z: Array,
    y: float,
    gain: Array,
    dual: Array,
) -> bool:
    """
    Bierman's update carried over to instrumental variables: P = U D V' = (Z'W)^-1.

    P <- P - (P z)(h'P) / (1 + h'P z) and x <- x + P z (y - h'x) / (1 + h'P z). With z = h it is
    the ordinary update. P is not symmetric, so a partial sum 1 + ... may vanish: such a row is
    left out. (Over 60 lines: one pass over the columns, whose scalars the second loop needs.)

    :param Lu: (b, b) transpose of U, updated.
    :param Lv: (b, b) transpose of V, updated.
    :param h: (b,) row of W.
    :param z: (b,) row of the instruments Z.
    :param gain: (b,) work space.
    :param dual: (b,) work space.
    :return: False when the row was left out.
    """
    b = x.shape[0]
    alpha = 1.0
    size = 1.0
    innovation = y
    for j in range(b):
        c = h[j]
        e = z[j]
        for i in range(j):
            c += Lu[j, i] * h[i]
            e += Lv[j, i] * z[i]
        gain[j] = c
        dual[j] = e
        term = c * d[j] * e
        alpha += term
        size += abs(term)
        innovation -= h[j] * x[j]
        if abs(alpha) < 1e-6 * size:
            return False
    alpha = 1.0
    for j in range(b):
        c = gain[j]
        e = dual[j]
        v = d[j] * e
        w = d[j] * c
        before = alpha
        alpha += c * v
        d[j] *= before / alpha
        slope = -c / before
        dual_slope = -e / before
        gain[j] = v
        dual[j] = w
        for i in range(j):
            old = Lu[j, i]
            Lu[j, i] = old + slope * gain[i]
            gain[i] += old * v
            old = Lv[j, i]
            Lv[j, i] = old + dual_slope * dual[i]
            dual[i] += old * w
    step = innovation / alpha
    for i in range(b):
        x[i] += step * gain[i]
    return True


@njit(**KERNEL)
def observe_instrument_rows(
    x: Array, Lu: Array, Lv: Array, d: Array, H: Array, Z: Array, y: Array, forgetting: float
) -> int:
    """Fold the rows of one sample, after forgetting; return how many rows were left out."""
    d /= forgetting
    gain = np.empty(x.shape[0])
    dual = np.empty(x.shape[0])
    left_out = 0
    for k in range(H.shape[0]):
        if not observe_instrument(x, Lu, Lv, d, H[k], Z[k], y[k], gain, dual):
            left_out += 1
    return left_out


class RecursiveInstrumentalVariables(RecursiveEstimator):
    """
    Solves sum Z'W chi = sum Z'Y (eq. 14 of paper 002) sample by sample.

    The instruments Z are the model functions of the reference trajectory: they carry the motion
    but not the measurement noise, so noisy accelerations do not bias the estimate. It starts when
    the moments determine all parameters. Supervision judges the instruments.
    """

    def reset(self) -> None:
        """Forget all data and return to the start values."""
        if self.memory.kind == 'constant_trace':
            raise OptionError(
                'riv has no constant_trace memory: use infinite, exponential or window'
            )
        super().reset()
        self.moments = Moments(self.b, self.memory)
        self.fit = SquareRootInformation(self.b, self.memory)
        self.left_out = 0
        self._torque = 0.0
        self._Lu, self._Lv, self._d = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0)

    def _absorb(self, W: Array, y: Array, Z: Array | None, rows: float) -> bool:
        if Z is None:
            raise DataError('riv needs instruments Z: the regressor of the reference trajectory')
        assert self.information is not None
        forgetting = self.memory.forgetting
        if self._theta.size:
            e = y - W @ self._held
            H = self._project(W)
            self.left_out += observe_instrument_rows(
                self._theta, self._Lu, self._Lv, self._d, H, self._project(Z), e, forgetting
            )
            residual = e - H @ self._theta
        else:
            residual = y - W @ self._held
        fade = forgetting
        if self.memory.kind == 'window':
            fade = 1.0 - 1.0 / self.memory.samples
        self.squares = fade * self.squares + float(residual @ residual)
        self.rows = fade * self.rows + rows
        self._torque = fade * self._torque + float(y @ y)
        self.moments.add(W, y, Z)
        if self.supervisor is not None:
            self.fit.add(W, y, rows)
        return self.information.add(Z, y, rows)

    def _may_start(self) -> bool:
        if self.rows < self.b or self._since_verdict < 5:
            return False
        self._since_verdict = 0
        A = self.moments.sums[:, :-1]
        norms = np.sqrt(np.abs(np.diag(A)))
        if np.any(norms == 0.0):
            return False
        scaled = np.asfortranarray(A / np.outer(norms, norms))
        lu, _, info = lapack.dgetrf(scaled)
        if info != 0:
            return False
        rcond, _ = lapack.dgecon(lu, np.abs(scaled).sum(axis=0).max())
        return bool(rcond > 1e-10)

    def _rebuild(self, columns: NDArray[np.intp] | None, basis: Array | None) -> None:
        held = self.estimate / self.scale
        A, rhs = (
            self.moments.sums[:, :-1],
            self.moments.sums[:, -1] - self.moments.sums[:, :-1] @ held,
        )
        old = (self._columns, self._basis)
        self._direct(columns, basis)
        Ak = self._project(self._project(A).T).T
        bk = self._project(rhs[None, :])[0]
        factors = _unsymmetric_factors(Ak)
        if factors is None:
            # No stable factors now: keep the old filter, the next verdict tries again.
            self._direct(*old)
            return
        self._held = held
        self._Lu, self._Lv, self._d = factors
        if self._theta.size == 0:
            self.squares, self.rows = 0.0, 0.0
        self._theta = np.zeros(Ak.shape[0])
        if Ak.shape[0]:
            self._move(np.linalg.solve(Ak, bk))

    @property
    def variance(self) -> float:
        """
        Variance of the weighted equation error; under supervision that of least squares.

        There the error of the estimate would not do: it holds what frozen parameters would
        explain, so one that was frozen at a wrong value would keep itself frozen.
        """
        if self.supervisor is None:
            return super().variance
        excess = self.fit.rows - self.b
        return self.fit.residual_squared / excess if excess > 0 else float('nan')

    @property
    def _torque_variance(self) -> float:
        return self._torque / max(self.rows, 1.0)

    def _theta_covariance(self) -> Array:
        """P Z'Z P' with P = (Z'W)^-1."""
        assert self.information is not None
        R = self._project(self.information.factor)
        root = R @ ((self._Lu.T * self._d) @ self._Lv).T
        return root.T @ root

    def _information_matrix(self) -> Array:
        return np.asarray(self.moments.sums[:, :-1] / self.scale / self.scale[:, None])


def _unsymmetric_factors(A: Array) -> tuple[Array, Array, Array] | None:
    """Return U', V', d of A^-1 = U D V' by elimination without pivoting, None if unstable."""
    k = A.shape[0]
    upper, lower = A.copy(), np.eye(k)
    largest = np.abs(A).max(initial=0.0)
    for j in range(k):
        if abs(upper[j, j]) < 1e-13 * largest:
            return None
        lower[j + 1 :, j] = upper[j + 1 :, j] / upper[j, j]
        upper[j + 1 :] -= np.outer(lower[j + 1 :, j], upper[j])
    pivots = np.diag(upper).copy()
    U = np.linalg.solve(upper / pivots[:, None], np.eye(k)) if k else upper
    V = np.linalg.solve(lower.T, np.eye(k)) if k else lower
    return np.ascontiguousarray(U.T), np.ascontiguousarray(V.T), 1.0 / pivots
