"""
Covariance of a linear estimate whose residual is neither white nor alike in all joints.

chi = A^-1 Z' Y with A = Z' W is off by A^-1 Z' rho, so cov(chi) = A^-1 (Z' Gamma Z) A^-T with
Gamma the covariance of the residual: filtered, quantised and unmodelled parts are correlated in
time and from joint to joint. Within a run Gamma is taken as stationary, so the spectrum of the
residual is all that is needed: Z' Gamma Z is the sum over frequencies of Z(f)^H P(f) Z(f). P is
the periodogram, smoothed; noise of accelerations grows with the fourth power of the frequency,
which smoothing would smear, so it is done after an autoregression of each joint has made it flat.
Noise that is larger at times, or correlated between joints in a way that the posture changes, is
not stationary. The scores Z' rho row by row, summed with their neighbours (HAC, Newey and West
1987; residuals over 1 - leverage, HC3), need no such assumption, but many rows for each parameter.
The two are mixed by rows per parameter. Long recordings, for which the spectrum costs too much,
are cut into blocks whose scores are independent. The spectrum of few rows is itself uncertain:
Student's quantile takes the place of the normal one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.fft
import scipy.linalg as sl
import scipy.ndimage
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
# Rows beyond which independent blocks are used in place of the spectrum.
LONG = 40_000
BLOCKS = 400
# A fit leaves at least this share of the residual's power at any frequency.
LEAST_LEFT = 0.2
# The autoregression: rows for each of its taps, and the most of them.
ROWS_PER_ORDER, LARGEST_ORDER = 40, 8
# Rows for each parameter at which the scores of neighbours and the spectrum count alike.
HALF_SHARE = 60.0
# Neighbours of a row that count, for the cube root of the rows; the largest leverage of a row.
REACH_PER_ROOT, LARGEST_LEVERAGE = 2.0, 0.9


def score_covariance(Z: Sequence[Array], residual: Sequence[Array]) -> Array:
    """
    Return (b, b) cov(Z' rho) of scores.

    :param Z: for each run (M, n, b) orthonormal rows (zero where a row is left out): Q of a QR.
    :param residual: for each run (M, n) weighted residuals, zero where a row is left out.
    """
    rows = sum(len(part) for part in residual)
    if rows > LONG:
        scores = block_scores(Z, residual)
        return scores.T @ scores
    per_parameter = rows / Z[0].shape[2]
    share = per_parameter / (per_parameter + HALF_SHARE)
    total = np.zeros((Z[0].shape[2],) * 2)
    for z, rho in zip(Z, residual):
        reach = max(round(REACH_PER_ROOT * float(np.cbrt(len(rho)))), 1)
        near = neighbour_sum(z, rho, reach)
        total += share * near + (1.0 - share) * spectral_sum(z, rho)
    freedom = sum(spectral_freedom(len(part)) for part in residual)
    return total * (stdtrit(freedom, 0.975) / ndtri(0.975)) ** 2


def neighbour_sum(Z: Array, residual: Array, reach: int) -> Array:
    """
    Return (b, b) the sum of s_t s_u' of neighbouring rows, s = Z' rho, by Parzen's window.

    :param reach: of the window, rows.
    """
    N = len(residual)
    leverage = np.minimum(np.sum(Z**2, axis=2), LARGEST_LEVERAGE)
    scores = np.einsum('tjb,tj->tb', Z, residual / (1.0 - leverage))
    total = scores.T @ scores
    for lag in range(1, min(reach, N)):
        x = lag / reach
        window = 1.0 - 6.0 * x**2 + 6.0 * x**3 if x < 0.5 else 2.0 * (1.0 - x) ** 3
        cross = scores[:-lag].T @ scores[lag:]
        total += window * (cross + cross.T)
    return total


def spectral_sum(Z: Array, residual: Array) -> Array:
    """
    Return (b, b) Z' Gamma Z of one run.

    The part that the fit removed from the residual at a frequency, its leverage sum_b |Z_b(f)|^2 /
    N, is put back; rows that are left out lower the power by their share.
    """
    N = len(residual)
    E: Complex = scipy.fft.rfft(residual, axis=0)
    F: Complex = scipy.fft.rfft(Z, axis=0)
    used = np.maximum((residual != 0.0).mean(axis=0), 1e-6)
    left = np.maximum(_smooth(used - np.sum(np.abs(F) ** 2, axis=2) / N, N), LEAST_LEFT * used)
    A = _whitening(residual)
    E *= A / np.sqrt(left)
    P = _smooth(np.conj(E)[:, :, None] * E[:, None, :] / N, N)
    P /= np.conj(A)[:, :, None] * A[:, None, :]
    values, vectors = np.linalg.eigh(P)
    root = np.sqrt(np.maximum(values, 0.0))[:, :, None] * np.conj(np.swapaxes(vectors, 1, 2))
    whitened = (root @ np.conj(F)).reshape(-1, Z.shape[2])
    # The spectrum of a real signal is mirrored: all but its ends count twice.
    twice = np.full(len(E), 2.0)
    twice[0] = 1.0
    if N % 2 == 0:
        twice[-1] = 1.0
    whitened *= np.repeat(np.sqrt(twice / N), Z.shape[1])[:, None]
    return np.asarray((np.conj(whitened).T @ whitened).real)


def _whitening(residual: Array) -> Complex:
    """(N // 2 + 1, n) 1 - sum a_k exp(-i w k) of an autoregression of each joint's residual."""
    N, n = residual.shape
    order = int(np.clip(N // ROWS_PER_ORDER, 0, LARGEST_ORDER))
    taps = np.zeros((order + 1, n))
    taps[0] = 1.0
    for j, rho in enumerate(residual.T):
        c = np.array([rho[: N - k] @ rho[k:] for k in range(order + 1)])
        if order and c[0] > 0.0:
            c[0] *= 1.0 + 1e-9
            taps[1:, j] = -sl.solve_toeplitz(c[:-1], c[1:])
    return np.asarray(scipy.fft.rfft(taps, N, axis=0))


def spectral_freedom(N: int) -> float:
    """Return the degrees of freedom of the smoothed spectrum of N rows."""
    return 2.0 * _width(N)


def _width(N: int) -> int:
    """Return over how many frequencies the spectrum of N rows is averaged."""
    return 2 * int(np.clip(np.sqrt(N), 4, max(N // 8, 1))) + 1


def _smooth(spectrum: NDArray, N: int) -> NDArray:
    """Average a spectrum of N samples over neighbouring frequencies, mirrored at its ends."""
    width = _width(N)
    if np.iscomplexobj(spectrum):
        real, imaginary = _smooth(spectrum.real, N), spectrum.imag
        # The imaginary part is odd in the frequency.
        doubled = np.concatenate([-imaginary[:0:-1], imaginary, -imaginary[-2::-1]])
        low = len(imaginary) - 1
        even = scipy.ndimage.uniform_filter1d(doubled, width, axis=0, mode='nearest')
        return real + 1j * even[low : low + len(imaginary)]
    return scipy.ndimage.uniform_filter1d(spectrum, width, axis=0, mode='mirror')


def block_scores(Z: Sequence[Array], residual: Sequence[Array]) -> Array:
    """Return (K, b) S with S' S = cov(Z' rho): the scores of K independent blocks of rows."""
    rows = sum(len(part) for part in residual)
    length = -(-rows // BLOCKS)
    scores = []
    for part, rho in zip(Z, residual):
        for low in range(0, len(rho), length):
            piece = slice(low, low + length)
            scores.append(np.einsum('tjb,tj->b', part[piece], rho[piece]))
    S = np.array(scores)
    return S * np.sqrt(len(S) / max(len(S) - 1, 1))
