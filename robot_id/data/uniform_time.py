"""What follows from uniformly spaced times alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class UniformTime:
    """Something of N samples with (N,) `time` in seconds, of a uniform step."""

    time: NDArray[np.float64]

    def __len__(self) -> int:
        return self.time.shape[0]

    @property
    def step(self) -> float:
        """Sampling period in seconds."""
        return float((self.time[-1] - self.time[0]) / (len(self) - 1))

    @property
    def rate(self) -> float:
        """Sampling frequency in Hz."""
        return 1.0 / self.step

    @property
    def duration(self) -> float:
        """Seconds from the first to the last sample."""
        return float(self.time[-1] - self.time[0])
