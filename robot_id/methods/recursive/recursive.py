"""The common part of recursive least squares and recursive instrumental variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.exceptions import DataError, OptionError
from robot_id.methods.recursive.information import SquareRootInformation
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.status import ParameterStatus, Status
from robot_id.methods.recursive.supervision import FROZEN, LIVE, PARTIAL, Rule, Verdict, nothing

Array = NDArray[np.float64]


class RecursiveEstimator(ABC):
    """
    Takes samples y = W chi + e one by one or in blocks; the estimate is available at any time.

    Inside, parameters are divided by their sizes and equations by their noise. The estimate is
    held + B theta: B spans the directions that supervision lets move (all of them without it),
    theta is what the UD filter updates, and at every verdict theta is absorbed into held and the
    filter is rebuilt from the information in the window.

    :param names: parameter names, in the order of the columns of W.
    :param start: (b,) values to begin with, zeros when not given.
    :param scale: (b,) typical sizes of the parameters, all positive; supervision measures
        standard deviations against them, so it needs them.
    :param noise: (m,) or scalar, standard deviation of each equation's error (weights).
    :param memory: the observation window.
    :param supervisor: an EigenvalueRule, a CheapRule or None (all parameters always move).
    :param period: samples between two verdicts.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        start: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        noise: ArrayLike = 1.0,
        memory: Memory | None = None,
        supervisor: Rule | None = None,
        period: int = 50,
    ):
        self.names = tuple(names)
        self.b = len(self.names)
        if supervisor is not None and scale is None:
            raise OptionError(
                'supervision needs the size of each parameter: give scale (nominal values)'
            )
        if period < 1:
            raise OptionError(f'period = {period}, must be at least 1 sample')
        self.memory = memory or Memory()
        self.supervisor = supervisor
        self.period = period
        self.scale = self._vector('scale', scale, 1.0)
        if np.any(self.scale <= 0):
            bad = self.names[int(np.argmax(self.scale <= 0))]
            raise OptionError(f'scale of {bad} must be positive')
        self.noise = np.atleast_1d(np.asarray(noise, float))
        if not np.all(np.isfinite(self.noise)) or np.any(self.noise <= 0):
            raise OptionError(f'noise = {self.noise}, standard deviations must be positive')
        self.start = self._vector('start', start, 0.0)
        self.reset()

    def _vector(self, key: str, values: ArrayLike | None, default: float) -> Array:
        if values is None:
            return np.full(self.b, default)
        vector = np.array(values, float)
        if vector.shape != (self.b,) or not np.all(np.isfinite(vector)):
            raise OptionError(
                f'{key} must be {self.b} finite numbers, got shape {vector.shape}: '
                f'one for each of {", ".join(self.names[:4])} ...'
            )
        return vector

    def reset(self) -> None:
        """Forget all data and return to the start values."""
        self.samples = 0
        self.rejected = 0
        self.rejected_reason = ''
        self.rows = 0.0
        self.squares = 0.0
        self._held = self.start / self.scale
        self._theta = np.zeros(0)
        self._direct(None, None)
        self._since_verdict = 0
        self.verdict: Verdict = nothing(self.b, 'waiting for enough data', False)
        self.information: SquareRootInformation | None = SquareRootInformation(self.b, self.memory)

    # -- taking data ---------------------------------------------------------------------------

    def update(self, W: ArrayLike, y: ArrayLike, Z: ArrayLike | None = None) -> bool:
        """
        Take one sample or a block of samples.

        :param W: (m, b) rows of one sample, or (N, m, b).
        :param y: (m,) right-hand side, or (N, m).
        :param Z: instruments of the shape of W (recursive IV only).
        :return: False when any sample was refused, see status().
        """
        W, y = np.asarray(W, float), np.asarray(y, float)
        Z = None if Z is None else np.asarray(Z, float)
        if W.ndim == 3:
            if y.shape[:1] != W.shape[:1] or (Z is not None and Z.shape != W.shape):
                raise DataError(f'blocks differ: W {W.shape}, y {y.shape}')
            taken = [
                self.update(W[k], y[k], None if Z is None else Z[k]) for k in range(W.shape[0])
            ]
            return all(taken)
        if W.ndim != 2 or W.shape[1] != self.b or y.shape != (W.shape[0],):
            raise DataError(f'a sample is W (m, {self.b}) and y (m,), got {W.shape} and {y.shape}')
        if self.noise.size not in (1, W.shape[0]):
            raise DataError(f'noise has {self.noise.size} entries, the sample {W.shape[0]} rows')
        total = W.sum() + y.sum() + (0.0 if Z is None else Z.sum())
        if not np.isfinite(total):
            self.rejected += 1
            self.rejected_reason = f'sample {self.samples + self.rejected}: not finite'
            return False
        weight = 1.0 / self.noise
        factor = weight[:, None] * self.scale
        weighted = W * factor
        instruments = None if Z is None else Z * factor
        self._take(weighted, y * weight, instruments)
        self.samples += 1
        return True

    def _take(self, W: Array, y: Array, Z: Array | None) -> None:
        rows = float(np.count_nonzero(W.any(axis=1)))
        jumped = self._absorb(W, y, Z, rows)
        self._since_verdict += 1
        if self.supervisor is not None:
            if self._since_verdict >= self.period:
                self._supervise(jumped)
        elif jumped or (self._theta.size == 0 and self._may_start()):
            self._rebuild(None, None)
            self._since_verdict = 0

    def _supervise(self, jumped: bool) -> None:
        self._since_verdict = 0
        old = self.verdict
        if self.rows < 2 * self.b or self.supervisor is None:
            return
        variance = max(self.variance, 1e-16 * self._torque_variance)
        self.verdict = self.supervisor.judge(self._judged, variance, self.names, old.live)
        same = (
            self.verdict.basis is None
            and old.basis is None
            and np.array_equal(self.verdict.columns, old.columns)
        )
        if not same or self.memory.kind == 'window':
            self._rebuild(self.verdict.columns, self.verdict.basis)

    def _direct(self, columns: NDArray[np.intp] | None, basis: Array | None) -> None:
        """Let only these directions move from now on; None stands for all."""
        self._columns, self._basis = columns, basis
        self._matrix: Array | None = None
        if columns is not None and basis is not None:
            self._matrix = np.zeros((self.b, basis.shape[1]))
            self._matrix[columns] = basis

    def _project(self, W: Array) -> Array:
        """(m, b) rows -> (m, k) rows in the directions that move."""
        if self._matrix is not None:
            return W @ self._matrix
        if self._columns is None or self._columns.size == self.b:
            return W
        return np.ascontiguousarray(W[:, self._columns])

    def _move(self, theta: Array) -> None:
        """Add B theta to what is held."""
        step = theta if self._basis is None else self._basis @ theta
        if self._columns is None:
            self._held += step
        else:
            self._held[self._columns] += step

    # -- what a subclass defines ----------------------------------------------------------------

    @abstractmethod
    def _absorb(self, W: Array, y: Array, Z: Array | None, rows: float) -> bool:
        """Update the filter and the information; True when the window dropped old data."""

    @abstractmethod
    def _may_start(self) -> bool:
        """Without supervision: whether there are enough data for all parameters at once."""

    @abstractmethod
    def _rebuild(self, columns: NDArray[np.intp] | None, basis: Array | None) -> None:
        """Solve the window along the given directions and restart the filter there."""

    @property
    def _judged(self) -> Array:
        """(b, b) factor that supervision looks at."""
        assert self.information is not None
        return self.information.factor

    @property
    @abstractmethod
    def _torque_variance(self) -> float:
        """Mean square of the weighted right-hand side."""

    @abstractmethod
    def _theta_covariance(self) -> Array:
        """Covariance of theta for unit noise."""

    # -- answers --------------------------------------------------------------------------------

    @property
    def variance(self) -> float:
        """Variance of the weighted equation error (eq. 22), NaN before there are enough rows."""
        excess = self.rows - self._theta.size
        return self.squares / excess if excess > 0 else float('nan')

    @property
    def estimate(self) -> Array:
        """(b,) current values, SI units."""
        values = self._held.copy()
        if self._theta.size:
            step = self._theta if self._basis is None else self._basis @ self._theta
            values[slice(None) if self._columns is None else self._columns] += step
        return values * self.scale

    @property
    def covariance(self) -> Array:
        """(b, b) covariance; NaN for parameters that are not known on their own."""
        full = np.full((self.b, self.b), np.nan)
        if self._theta.size == 0:
            return full
        P = self._theta_covariance() * self.variance
        if self._basis is not None:
            P = self._basis @ P @ self._basis.T
        columns = np.arange(self.b) if self._columns is None else self._columns
        full[np.ix_(columns, columns)] = P * np.outer(self.scale[columns], self.scale[columns])
        hidden = ~self._live()
        full[hidden, :] = full[:, hidden] = np.nan
        return full

    @property
    def information_matrix(self) -> Array | None:
        """
        (b, b) inverse covariance for unit noise (Z'W of instruments), zeros before data suffice.

        None where the estimate is not one of all data.
        """
        if self.supervisor is not None or self.memory.kind != 'infinite':
            return None
        if self._theta.size != self.b or self._columns is not None:
            return np.zeros((self.b, self.b))
        return self._information_matrix()

    def _information_matrix(self) -> Array | None:
        """Return it where all parameters are estimated; None for an estimator without one."""
        return None

    def _smallest(self) -> float:
        """Smallest singular value of the weighted, scaled W of the window."""
        if self.information is not None:
            return float(np.linalg.svd(self.information.factor, compute_uv=False)[-1])
        largest = np.linalg.eigvalsh(self._theta_covariance())[-1]
        return float(1.0 / np.sqrt(largest))

    def _live(self) -> NDArray[np.bool_]:
        if self.supervisor is not None:
            return self.verdict.live
        return np.full(self.b, self._theta.size == self.b)

    def status(self) -> Status:
        """Return which parameters are live or frozen and why, and the health of the filter."""
        values, stds = self.estimate, np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        live = self._live()
        if self.supervisor is not None:
            state, reason = self.verdict.state, self.verdict.reason
        else:
            known = LIVE if live.all() else PARTIAL if self._theta.size else FROZEN
            why = {LIVE: '', PARTIAL: 'the window determines only combinations'}
            state = (known,) * self.b
            reason = (why.get(known, 'waiting for enough data'),) * self.b
        return Status(
            parameters=tuple(
                ParameterStatus(name, float(value), float(std), s, r)
                for name, value, std, s, r in zip(self.names, values, stds, state, reason)
            ),
            samples=self.samples,
            rejected=self.rejected,
            rejected_reason=self.rejected_reason,
            rows=self.rows,
            noise_std=float(np.sqrt(self.variance)),
            condition=self.verdict.condition,
            smallest=self._smallest(),
            spread=float(np.trace(self._theta_covariance()) * self.variance)
            if self._theta.size
            else float('nan'),
            suspended=not live.any() and self._theta.size == 0,
        )
