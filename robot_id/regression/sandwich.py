"""
Covariance of a linear estimate whose residual is neither white nor alike in all joints.

chi = A^-1 Z' Y with A = Z' W is off by A^-1 Z' rho, so cov(chi) = A^-1 (Z' Gamma Z) A^-T with
Gamma the covariance of the residual: filtered, quantised and unmodelled parts are correlated in
time and from joint to joint. Within a run Gamma is taken as stationary, so the spectrum of the
residual (its periodogram, smoothed) is all that is needed: Z' Gamma Z is the sum over frequencies
of Z(f)^H P(f) Z(f). Long recordings, for which that costs too much, are cut into blocks whose
scores are independent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.fft
import scipy.ndimage
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
# Rows beyond which independent blocks are used in place of the spectrum.
LONG = 40_000
BLOCKS = 400
# A fit leaves at least this share of the residual's power at any frequency.
LEAST_LEFT = 0.2


def score_covariance(Z: Sequence[Array], residual: Sequence[Array]) -> Array:
    """
    Return (b, b) cov(Z' rho) of scores.

    :param Z: for each run (M, n, b) orthonormal rows (zero where a row is left out): Q of a QR.
    :param residual: for each run (M, n) weighted residuals, zero where a row is left out.
    """
    if sum(len(part) for part in residual) > LONG:
        return _block_scores(Z, residual)
    parts = [_spectral_sum(z, rho) for z, rho in zip(Z, residual)]
    return sum(parts, np.zeros_like(parts[0]))


def _spectral_sum(Z: Array, residual: Array) -> Array:
    """
    Return (b, b) Z' Gamma Z of one run.

    What the fit took out of the residual at a frequency, its leverage sum_b |Z_b(f)|^2 / N, is
    put back; rows that are left out lower the power by their share.
    """
    N = len(residual)
    E: Complex = scipy.fft.rfft(residual, axis=0)
    F: Complex = scipy.fft.rfft(Z, axis=0)
    used = np.maximum((residual != 0.0).mean(axis=0), 1e-6)
    left = np.maximum(_smooth(used - np.sum(np.abs(F) ** 2, axis=2) / N, N), LEAST_LEFT * used)
    E /= np.sqrt(left)
    P = _smooth(np.conj(E)[:, :, None] * E[:, None, :] / N, N)
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


def _smooth(spectrum: NDArray, N: int) -> NDArray:
    """Average a spectrum of N samples over about sqrt(N) frequencies, mirrored at its ends."""
    width = 2 * int(np.clip(np.sqrt(N), 4, max(N // 8, 1))) + 1
    if np.iscomplexobj(spectrum):
        real, imaginary = _smooth(spectrum.real, N), spectrum.imag
        # The imaginary part is odd in the frequency.
        doubled = np.concatenate([-imaginary[:0:-1], imaginary, -imaginary[-2::-1]])
        low = len(imaginary) - 1
        even = scipy.ndimage.uniform_filter1d(doubled, width, axis=0, mode='nearest')
        return real + 1j * even[low : low + len(imaginary)]
    return scipy.ndimage.uniform_filter1d(spectrum, width, axis=0, mode='mirror')


def _block_scores(Z: Sequence[Array], residual: Sequence[Array]) -> Array:
    """Return (b, b) the sum over independent blocks of their scores' squares."""
    rows = sum(len(part) for part in residual)
    length = -(-rows // BLOCKS)
    scores = []
    for part, rho in zip(Z, residual):
        for low in range(0, len(rho), length):
            piece = slice(low, low + length)
            scores.append(np.einsum('tjb,tj->b', part[piece], rho[piece]))
    S = np.array(scores)
    return S.T @ S * len(S) / max(len(S) - 1, 1)
