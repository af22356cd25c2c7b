"""The result of an identification as a message."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time

from robot_id import options
from robot_id.methods import registry
from robot_id.methods.result import Result
from robot_id.ros.durations import to_duration
from robot_id.ros.messages import verdict_message
from robot_id_msgs.msg import (
    DynamicParameters,
    IdentificationResult,
    MethodDescription,
    Option,
    OptionDescription,
)


def result_message(result: Result, stamp: Time) -> IdentificationResult:
    """Return what a result file holds as a message, but for the history."""
    essential = result.essential
    parameters = DynamicParameters(
        robot=result.robot,
        method=result.method,
        names=list(result.names),
        values=result.values.tolist(),
        standard_deviations=result.std.tolist(),
        percent_standard_deviations=result.percent_std.tolist(),
        covariance=np.asarray(result.covariance, float).ravel().tolist(),
        verdict=verdict_message(result.verdict, result.reasons),
        essential=[bool(v) for v in essential] if essential is not None else [],
    )
    parameters.header.stamp = stamp
    return IdentificationResult(
        parameters=parameters,
        relative_error_percent=float(result.relative_error_percent),
        relative_error_percent_per_joint=np.asarray(
            result.relative_error_percent_per_joint, float
        ).tolist(),
        condition_number=float(result.condition_number),
        iterations=int(result.iterations),
        simulations=int(result.simulations),
        converged=bool(result.converged),
        holdout_error_percent=float(result.holdout_error_percent),
        elapsed=to_duration(float(result.elapsed_s)),
        options=[Option(key=key, value=as_text(value)) for key, value in result.options.items()],
    )


def method_message(name: str) -> MethodDescription:
    """Return a method with its options."""
    known = options.options_of(registry.method_class(name))
    return MethodDescription(
        name=name,
        summary=registry.summary(name),
        options=[
            OptionDescription(
                key=key,
                type=option.kind,
                default_value=as_text(option.default),
                description=option.help,
            )
            for key, option in known.items()
        ],
    )


def as_text(value: Any) -> str:
    """Return the value of an option in the form that a request takes."""
    if value is None:
        return 'none'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ','.join(map(as_text, value))
    return str(value)
