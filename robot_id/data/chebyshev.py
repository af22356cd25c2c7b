"""
Poles, zeros and gain of a digital Chebyshev low-pass of type I, without `scipy.signal`.

Importing that library takes longer than all else that a learner needs to start, and decimation
needs nothing of it but this filter. With eps^2 = 10^(r/10) - 1 and mu = asinh(1/eps)/N the
analogue poles are -sinh(mu + j pi m/(2 N)), m = -N+1, -N+3 .. N-1; the bilinear transform with a
pre-warped cut-off makes them digital.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Complex = NDArray[np.complex128]


def chebyshev(order: int, ripple_db: float, cutoff: float) -> tuple[Complex, Complex, float]:
    """
    Return zeros (N,), poles (N,) and gain in the z-plane.

    :param order: N.
    :param ripple_db: ripple r of the pass band [dB].
    :param cutoff: end of the pass band, as a share of half the sample rate, in (0, 1).
    """
    ripple = np.sqrt(10 ** (0.1 * ripple_db) - 1.0)
    angle = np.pi * np.arange(-order + 1, order, 2) / (2 * order)
    analogue = -np.sinh(np.arcsinh(1.0 / ripple) / order + 1j * angle)
    gain = np.prod(-analogue).real
    if order % 2 == 0:
        gain /= np.sqrt(1.0 + ripple * ripple)
    # The bilinear transform s = 4 (z - 1)/(z + 1), at two samples per unit of time.
    warped = 4.0 * np.tan(np.pi * cutoff / 2.0)
    analogue = warped * analogue
    gain *= warped**order
    gain *= np.real(1.0 / np.prod(4.0 - analogue))
    poles = (4.0 + analogue) / (4.0 - analogue)
    return -np.ones(order, dtype=np.complex128), poles, float(gain)
