"""YAML: every parameter by its name, with its deviation."""

from __future__ import annotations

from robot_id.export.parts import Exported, Request, dump, head, rows
from robot_id.json_numbers import finite_or_none


def write(request: Request) -> Exported:
    """Return the parameters by name."""
    result = request.result
    content = {
        'robot': request.name,
        'method': result.method,
        'source': str(request.source),
        'relative_error_percent': finite_or_none(result.relative_error_percent),
        'converged': result.converged,
        'parameters': {
            name: {
                'value': finite_or_none(value),
                'std': finite_or_none(std),
                'percent_std': finite_or_none(percent),
                'essential': bool(flag),
            }
            for name, value, std, percent, flag in rows(result)
        },
    }
    return Exported(head(result, 'SI units on the joint side') + dump(content))
