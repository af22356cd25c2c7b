"""The result of an identification as a message."""

from __future__ import annotations

from typing import Any

import numpy as np
from builtin_interfaces.msg import Time

from robot_id import options
from robot_id.estimation import registry
from robot_id.estimation.result import Result
from robot_id_msgs.msg import DynamicParameters, IdentificationResult, MethodDescription


def result_message(result: Result, stamp: Time) -> IdentificationResult:
    """Return what a result file holds as a message, but for covariance and history."""
    essential = result.essential
    parameters = DynamicParameters(
        robot=result.robot,
        method=result.method,
        names=list(result.names),
        values=result.values.tolist(),
        standard_deviations=result.std.tolist(),
        percent_deviations=result.percent_std.tolist(),
        essential=[bool(v) for v in essential] if essential is not None else [],
    )
    parameters.header.stamp = stamp
    message = IdentificationResult(
        parameters=parameters,
        relative_error_percent=float(result.relative_error_percent),
        relative_error_percent_per_joint=np.asarray(
            result.relative_error_percent_per_joint, float
        ).tolist(),
        condition_number=float(result.condition_number),
        iterations=int(result.iterations),
        simulations=int(result.simulations),
        converged=bool(result.converged),
        elapsed_s=float(result.elapsed_s),
        option_keys=list(result.options),
        option_values=[as_text(value) for value in result.options.values()],
    )
    # Messages compiled before the verdict have no place for it.
    for name, value in (
        ('verdict', result.verdict or ''),
        ('reasons', list(result.reasons)),
        ('holdout_error_percent', float(result.holdout_error_percent)),
    ):
        if hasattr(message, name):
            setattr(message, name, value)
    return message


def method_message(name: str) -> MethodDescription:
    """Return a method with its options."""
    known = options.options_of(registry.method_class(name))
    return MethodDescription(
        name=name,
        summary=registry.summary(name),
        option_names=list(known),
        option_types=[option.kind for option in known.values()],
        option_defaults=[as_text(option.default) for option in known.values()],
        option_descriptions=[option.help for option in known.values()],
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
