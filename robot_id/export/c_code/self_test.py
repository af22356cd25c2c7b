"""The self-test: 100 states with what the generic kernels give for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.dynamics.simulation.disturbances import sample_configurations
from robot_id.export.c_code.model_source import ModelSource

STATES = 100
TOLERANCE = '1e-11'

Array = NDArray[np.float64]

CHECK = """\
static int failures = 0;

/* Compare count numbers with their reference, relative to the largest of them. */
static void check(
    const char *what, int state, int count, const double *found, const double *wanted)
{
    double size = 1.0, error = 0.0;
    int k;
    for (k = 0; k < count; ++k) {
        const double difference = fabs(found[k] - wanted[k]);
        size = fmax(size, fabs(wanted[k]));
        if (!(difference <= error) && error == error) error = difference; /* keeps NaN */
    }
    if (!(error <= TOLERANCE * size)) {
        printf("%s, state %d: error %g\\n", what, state, error);
        ++failures;
    }
}
"""


def source(model: ModelSource) -> str:
    """Return self_test.c."""
    p, up = model.prefix, model.prefix.upper()
    tables = ''.join(_table(name, values) for name, values in _references(model).items())
    calls = [
        'const double *a = q[k], *v = dq[k], *x = ddq[k];',
        f'{p}_inverse_dynamics(a, v, x, out);',
        'check("inverse dynamics", k, N, out, tau[k]);',
        f'{p}_inverse_dynamics_with(chi, a, v, x, out);',
        'check("inverse dynamics with parameters", k, N, out, tau[k]);',
        f'{p}_gravity(a, out);',
        'check("gravity", k, N, out, gravity[k]);',
        f'{p}_bias(a, v, out);',
        'check("bias", k, N, out, bias[k]);',
        f'{p}_inertia_matrix(a, M);',
        'check("inertia matrix", k, N * N, M, inertia[k]);',
        f'{p}_derivatives(a, v, x, M, D, E);',
        'check("derivatives by q", k, N * N, M, by_q[k]);',
        'check("derivatives by dq", k, N * N, D, by_dq[k]);',
        'check("derivatives by ddq", k, N * N, E, by_ddq[k]);',
        f'if ({p}_direct_dynamics(a, v, tau[k], out) != 0) {{',
        '    printf("direct dynamics, state %d: not positive definite\\n", k);',
        '    ++failures;',
        '} else {',
        f'    {p}_inverse_dynamics(a, v, out, out);',
        '    check("direct dynamics", k, N, out, tau[k]);',
        '}',
    ]
    if 'regressor' in model.functions:
        calls += [
            f'{p}_regressor(a, v, x, W);',
            'for (i = 0; i < N; ++i) {',
            '    out[i] = 0.0;',
            '    for (j = 0; j < B; ++j) out[i] += W[B * i + j] * chi[j];',
            '}',
            'check("regressor", k, N, out, tau[k]);',
        ]
    body = ''.join(f'        {line}\n' for line in calls)
    unused = '' if 'regressor' in model.functions else '    (void)W; (void)i; (void)j;\n'
    return (
        f'/* {STATES} states against reference values: returns 0 when all agree. */\n'
        f'#include <math.h>\n#include <stdio.h>\n\n#include "{p}_model.h"\n\n'
        f'#define N {up}_JOINTS\n#define B {up}_PARAMETERS\n#define STATES {STATES}\n'
        f'#define TOLERANCE {TOLERANCE}\n\n{tables}{CHECK}\nint main(void)\n{{\n'
        '    double chi[B], out[N], M[N * N], D[N * N], E[N * N], W[N * B];\n'
        f'    int k, i, j;\n{unused}    {p}_parameters(chi);\n'
        f'    for (k = 0; k < STATES; ++k) {{\n{body}    }}\n'
        '    printf("%d states, %d failures\\n", STATES, failures);\n'
        '    return failures == 0 ? 0 : 1;\n}\n'
    )


def _references(model: ModelSource) -> dict[str, Array]:
    """Return states and what belongs to them, all (STATES, ...)."""
    robot, chi, slope = model.robot, model.chi, model.slope
    rng = np.random.default_rng(1)
    q = sample_configurations(robot, STATES)
    top = np.where(np.isfinite(robot.limits.velocity), robot.limits.velocity, 2.0)
    dq = rng.uniform(-1.0, 1.0, q.shape) * top
    ddq = rng.normal(0.0, 5.0, q.shape)
    still = np.zeros_like(q)
    by_q, by_dq, by_ddq = dynamics.derivatives(robot, chi, q, dq, ddq, slope)
    offsets = np.isin(robot.base.columns, robot.term_index)
    bodies = np.where(offsets, 0.0, chi)
    return {
        'q': q, 'dq': dq, 'ddq': ddq,
        'tau': dynamics.inverse_dynamics(robot, chi, q, dq, ddq, slope),
        'gravity': dynamics.inverse_dynamics(robot, bodies, q, still, still, slope),
        'bias': dynamics.bias(robot, chi, q, dq, slope),
        'inertia': dynamics.inertia_matrix(robot, chi, q),
        'by_q': by_q, 'by_dq': by_dq, 'by_ddq': by_ddq,
    }  # fmt: skip


def _table(name: str, values: Array) -> str:
    rows = values.reshape(len(values), -1)
    lines = ''.join('    {' + ', '.join(repr(float(x)) for x in row) + '},\n' for row in rows)
    return f'static const double {name}[STATES][{rows.shape[1]}] = {{\n{lines}}};\n\n'
