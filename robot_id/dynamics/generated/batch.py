"""
The C source of one function over many samples, as this room calls it.

All functions have one signature, so that compiled loops can call any of them by its address:

    int64_t NAME(int64_t N, const double *chi, double slope, const double *q, const double *dq,
                 const double *x, const double *G, double *out0, double *out1, double *out2)

with the samples one after the other in every array but chi. It returns -1, or the first sample
where a guard does not hold (M(q) is not positive definite).
"""

from __future__ import annotations

from robot_id.dynamics.generated.c_writer import Body, indented
from robot_id.dynamics.generated.functions import Formula
from robot_id.dynamics.generated.vectors import VECTORS

SAMPLED = ('q', 'dq', 'x', 'G')


def batch_source(formula: Formula) -> str:
    """Return a whole C file with the function `run`."""
    body = Body(formula, together=True)
    outputs = {output.name: f'out{k}' for k, output in enumerate(formula.outputs)}
    lines = list(body.statements)
    if body.guards:
        lines.append(f'if (!({" && ".join(f"({guard})" for guard in body.guards)})) return s;')
    lines += body.assignments(outputs)
    steps = [f'{name} += {formula.inputs[name]};' for name in SAMPLED if name in formula.inputs]
    steps += [f'out{k} += {len(out.values)};' for k, out in enumerate(formula.outputs)]
    unused = {'chi', *SAMPLED} - set(formula.inputs)
    unused |= {f'out{k}' for k in range(len(formula.outputs), 3)}
    quiet = [f'(void){name};' for name in ('slope', *sorted(unused))]
    return (
        f'#include <math.h>\n#include <stdint.h>\n\n{VECTORS}\n'
        'int64_t run(\n'
        '    int64_t N, const double *restrict chi, double slope, const double *restrict q,\n'
        '    const double *restrict dq, const double *restrict x, const double *restrict G,\n'
        '    double *restrict out0, double *restrict out1, double *restrict out2)\n{\n'
        + indented(quiet)
        + '    for (int64_t s = 0; s < N; ++s) {\n'
        + indented(lines, 2)
        + indented(steps, 2)
        + '    }\n    return -1;\n}\n'
    )
