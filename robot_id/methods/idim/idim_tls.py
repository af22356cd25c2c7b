"""IDIM with total least squares: errors in W as well as in Y."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import OptionError, did_you_mean
from robot_id.methods.idim.common import Fit, Idim
from robot_id.progress import Progress
from robot_id.regression.rows.observation import Observation
from robot_id.regression.solvers.system import System
from robot_id.regression.solvers.total_least_squares import total_least_squares


@dataclass(frozen=True)
class IdimTls(Idim):
    """
    Total least squares by the SVD of [W Y], each column scaled to length one.

    Minimises the Frobenius norm of the scaled [dW dY] with (W + dW) chi = Y + dY: every column is
    taken to have the same relative error. Columns that hold no measurement (`exact`) are
    eliminated by QR first, so they keep their values (mixed LS-TLS).

    :param exact: parameters whose columns are free of error, patterns such as Off* allowed.
    :param weighted: weigh the joints as idim_wls does.
    """

    name: ClassVar[str] = 'idim_tls'
    linear: ClassVar[bool] = False
    least_squares: ClassVar[bool] = False

    exact: tuple[str, ...] = ('Off*',)
    weighted: bool = True

    def fit(self, observation: Observation, system: System, progress: Progress) -> Fit:
        """Solve by the smallest singular vector."""
        weights, sigma = system.joint_weights()
        names = system.factors.names
        kept = np.ones(len(names), bool) if system.kept is None else system.kept
        R = system.factors.stack(weights if self.weighted else None)
        solution = total_least_squares(R, system.rows, kept, self._exact(names))
        extras = {'joint_deviations': sigma.tolist()} if self.weighted else {}
        weights = weights if self.weighted else np.ones_like(weights)
        return Fit(solution, R, weights, sigma, extras)

    def _exact(self, names: tuple[str, ...]) -> NDArray[np.bool_]:
        for pattern in self.exact:
            if pattern not in ('Off*', 'none') and not any(fnmatchcase(n, pattern) for n in names):
                raise OptionError(
                    f"exact: no parameter '{pattern}', {did_you_mean(pattern, names)}"
                )
        return np.array([any(fnmatchcase(n, p) for p in self.exact) for n in names])
