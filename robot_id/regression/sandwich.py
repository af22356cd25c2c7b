"""
Covariance of a linear estimate whose residual is neither white nor alike in all joints.

chi = A^-1 Z' Y with A = Z' W is off by A^-1 Z' rho, so cov(chi) = A^-1 (Z' Gamma Z) A^-T with
Gamma the covariance of the residual: filtered, quantised and unmodelled parts are correlated in
time and from joint to joint. Gamma is taken as stationary within a recording, Gamma(t, s) =
C(s - t), and C(k) is estimated from the residual with a flat-top lag window (Politis 2003); long
recordings, for which that costs too much, are cut into blocks whose scores are independent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.fft
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Rows beyond which independent blocks are used in place of the spectrum.
LONG = 40_000
BLOCKS = 400


def score_covariance(Z: Sequence[Array], residual: Sequence[Array], freedom: Array) -> Array:
    """
    Return (b, b) cov(Z' rho) of scores.

    :param Z: for each run (M, n, b) orthonormal rows (zero where a row is left out): Q of a QR.
    :param residual: for each run (M, n) weighted residuals, zero where a row is left out.
    :param freedom: (n,) factor by which the fit has lowered the residual's variance of each joint.
    """
    rows = sum(len(part) for part in residual)
    grown = [part / np.sqrt(freedom) for part in residual]
    if rows > LONG:
        return _block_scores(Z, grown)
    C = _autocovariance(grown)
    return sum((_spectral_sum(part, C) for part in Z), np.zeros((Z[0].shape[2],) * 2))


def _autocovariance(residual: Sequence[Array]) -> Array:
    """(K + 1, n, n) C(k) = E[rho(t) rho(t + k)'], windowed."""
    n = residual[0].shape[1]
    count = np.maximum(sum((part != 0.0).sum(axis=0) for part in residual), 1)
    longest = max(len(part) for part in residual)
    most = int(min(max(10.0 * np.log10(count.max() + 1.0), 4.0) * 4.0, longest // 4))
    C = np.zeros((most + 1, n, n))
    for k in range(most + 1):
        products, pairs = np.zeros((n, n)), np.zeros((n, n))
        for part in residual:
            if len(part) > k:
                early, late = part[: len(part) - k], part[k:]
                products += early.T @ late
                pairs += (early != 0.0).T.astype(float) @ (late != 0.0)
        C[k] = np.where(pairs > 0.0, products / np.maximum(pairs, 1.0), 0.0)
    return C * _window(C, count.max())


def _window(C: Array, count: int) -> Array:
    """Return flat-top weights: 1 up to the lag where correlations are lost in their scatter."""
    scale = np.sqrt(np.maximum(np.diagonal(C[0]), 1e-300))
    correlation = np.abs(np.diagonal(C, axis1=1, axis2=2)) / scale**2
    large = (correlation > 2.0 * np.sqrt(np.log10(max(count, 10)) / count)).any(axis=1)
    # The last large one before five small ones in a row.
    last, small = 0, 0
    for k in range(1, len(C)):
        small = 0 if large[k] else small + 1
        last = last if small else k
        if small == 5:
            break
    lags = np.arange(len(C))
    weights = np.clip(2.0 - lags / last, 0.0, 1.0) if last else np.where(lags == 0, 1.0, 0.0)
    return np.asarray(weights)[:, None, None]


def _spectral_sum(Z: Array, C: Array) -> Array:
    """
    Return (b, b) sum over t, s of Z(t)' C(s - t) Z(s), by the spectrum.

    D(w) = sum_k C(k) exp(i w k) is Hermitian; what the window made negative in it is zero.
    """
    size = scipy.fft.next_fast_len(len(Z) + len(C), real=True)
    frequencies = 2.0 * np.pi * np.arange(size // 2 + 1) / size
    phase = np.exp(1j * np.outer(frequencies, np.arange(1, len(C))))
    half = np.tensordot(phase, C[1:], axes=1)
    D = C[0] + half + np.conj(np.swapaxes(half, 1, 2))
    values, vectors = np.linalg.eigh(D)
    root = np.sqrt(np.maximum(values, 0.0))[:, :, None] * np.conj(np.swapaxes(vectors, 1, 2))
    spectrum = scipy.fft.rfft(Z, n=size, axis=0)
    whitened = (root @ spectrum).reshape(-1, Z.shape[2])
    # The spectrum of a real signal is mirrored: all but its ends count twice.
    twice = np.full(len(frequencies), 2.0)
    twice[0] = 1.0
    if size % 2 == 0:
        twice[-1] = 1.0
    whitened *= np.repeat(np.sqrt(twice / size), Z.shape[1])[:, None]
    return np.asarray((np.conj(whitened).T @ whitened).real)


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
