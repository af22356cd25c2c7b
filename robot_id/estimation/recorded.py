"""On-line estimators on recorded data: from a Dataset to streams, from an estimate to a Result."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Run
from robot_id.estimation.result import Iteration, Result
from robot_id.regression.prediction import predict

Array = NDArray[np.float64]
POINTS = 200


class Track:
    """
    Keeps about 200 points of the way an estimate took.

    :param total: samples to come.
    """

    def __init__(self, total: int):
        self.every = max(total // POINTS, 1)
        self.samples: list[int] = []
        self.values: list[list[float]] = []

    def add(self, sample: int, values: Array) -> None:
        """Note the estimate after a sample."""
        self.samples.append(int(sample))
        self.values.append([float(v) for v in values])

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-serialisable form."""
        return {'samples': self.samples, 'parameters': self.values}


def thinned(run: Run, factor: int) -> tuple[Array, Array, float]:
    """
    Return positions, torques and step of one sample in `factor`.

    A position is a measurement and is taken as it is; the torque acts until the next one, so its
    mean over the interval is taken.
    """
    if factor == 1:
        return run.position, run.torque, run.step
    count = len(run) // factor
    torque = run.torque[: count * factor].reshape(count, factor, -1).mean(axis=1)
    return run.position[: count * factor : factor], torque, run.step * factor


def assemble(
    robot: Any,
    dataset: Any,
    method: Any,
    processing: Any,
    values: Array,
    covariance: Array,
    started: float,
    *,
    options: dict[str, Any],
    history: tuple[Iteration, ...] = (),
    iterations: int = 1,
    warnings: tuple[str, ...] = (),
    extras: dict[str, Any] | None = None,
    condition: float = float('nan'),
) -> Result:
    """Return the Result of an estimate; one that does not explain the torques is not converged."""
    prediction = predict(robot, values, dataset, processing, method.coulomb_slope)
    error = prediction.relative_error_percent
    converged = bool(np.isfinite(error) and error < 50.0)
    if not converged:
        warnings += (f'the torques are not explained (relative error {error:.3g} %): do not use',)
    return Result(
        robot=robot.name,
        method=method.name,
        names=tuple(robot.base.names),
        values=values,
        covariance=covariance,
        relative_error_percent=error,
        relative_error_percent_per_joint=prediction.relative_error_percent_per_joint,
        condition_number=condition,
        iterations=iterations,
        elapsed_s=time.perf_counter() - started,
        converged=converged,
        history=history,
        options=options,
        warnings=warnings,
        extras=extras or {},
    )
