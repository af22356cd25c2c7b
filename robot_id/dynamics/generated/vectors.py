"""
Functions of eight numbers at once, as C text: sine, cosine and arc tangent.

GCC and Clang know arithmetic on vectors. A processor computes eight sines in about the time that a
call of libm takes for one. The errors are a few units in the last place; what is not a number, and
angles beyond any joint, are as libm has them.
"""

from __future__ import annotations

from math import factorial

LANES = 8
# |r| <= pi/4: the first term left out is below 1e-17 of the sum.
_SINE = [(-1.0) ** k / factorial(2 * k + 1) for k in range(9)]
_COSINE = [(-1.0) ** k / factorial(2 * k) for k in range(9)]
# atan(r) / r as a polynomial of r^2 through Chebyshev's points of |r| <= tan(pi/8), to 4e-18.
_ARC_TANGENT = [
    1.0,
    -0.3333333333333312,
    0.19999999999940893,
    -0.14285714279250245,
    0.11111110744919658,
    -0.09090896809064027,
    0.07692045330902225,
    -0.06662951813629191,
    0.05846878297330872,
    -0.05035102456601552,
    0.03796525745386593,
    -0.017805397205419446,
]


def _series(coefficients: list[float]) -> str:
    """Return a polynomial of z as nested products."""
    text = repr(coefficients[-1])
    for x in reversed(coefficients[:-1]):
        text = f'({text} * z + {x!r})'
    return text


VECTORS = f"""typedef double lanes __attribute__((vector_size({8 * LANES})));
typedef double row __attribute__((vector_size({8 * LANES}), aligned(8)));
typedef int64_t bits __attribute__((vector_size({8 * LANES})));

static inline void sines(const lanes x, lanes *s, lanes *c)
{{
    int small = 1;
    for (int l = 0; l < {LANES}; ++l) small &= fabs(x[l]) < 1e5;
    if (!small) {{ // or not a number
        for (int l = 0; l < {LANES}; ++l) {{ (*s)[l] = sin(x[l]); (*c)[l] = cos(x[l]); }}
        return;
    }}
    const double whole = 0x1.8p52; // a sum with it is rounded to a whole number, its last bits
    const lanes t = x * 0x1.45f306dc9c883p-1 + whole, turns = t - whole;
    const lanes r = ((x - turns * 0x1.921fb544p+0) - turns * 0x1.0b4611a6p-34)
        - turns * 0x1.3198a2e037073p-69;
    const lanes z = r * r;
    const lanes sine = r * {_series(_SINE)};
    const lanes cosine = {_series(_COSINE)};
    const bits quarter = (bits)t, swapped = -(quarter & 1);
    *s = (lanes)(((swapped & (bits)cosine) | (~swapped & (bits)sine)) ^ ((quarter & 2) << 62));
    *c = (lanes)(((swapped & (bits)sine) | (~swapped & (bits)cosine))
        ^ (((quarter + 1) & 2) << 62));
}}

static inline lanes arc_tangents(const lanes x)
{{
    const bits sign = (bits)x & INT64_MIN;
    const lanes a = (lanes)((bits)x ^ sign), none = {{0.0}};
    const bits large = a > 2.414213562373095; // tan(3 pi / 8)
    const bits turned = a > 0.41421356237309503, middle = turned & ~large; // tan(pi / 8)
    const bits one = (bits)(none + 1.0);
    // r is a, (a - 1) / (a + 1) or -1 / a: tan of atan(a) less 0, pi / 4 or pi / 2
    const lanes up = (lanes)(~large & (bits)a) - (lanes)(turned & one);
    const lanes down = (lanes)(~large & one) + (lanes)(turned & (bits)a);
    const lanes r = up / down, z = r * r;
    // multiples of pi / 4, exact with the rest
    const lanes eighths = (lanes)((middle & one) | (large & (bits)(none + 2.0)));
    const lanes first = eighths * 0x1.921fb54442d18p-1, rest = eighths * 0x1.1a62633145c07p-55;
    const lanes y = first + (r * {_series(_ARC_TANGENT)} + rest);
    return (lanes)((bits)y ^ sign);
}}
"""


def vector_call(ops: tuple[str, ...], number: int, values: str) -> str:
    """
    Return the statement that fills the vectors named as the functions and their number.

    :param ops: ('sin', 'cos') or ('atan',).
    :param values: up to LANES expressions with commas between them; the other lanes are zero.
    """
    made = f'(lanes){{{values}}}'
    if ops == ('atan',):
        return f'const lanes atan{number} = arc_tangents({made});'
    return f'lanes sin{number}, cos{number}; sines({made}, &sin{number}, &cos{number});'
