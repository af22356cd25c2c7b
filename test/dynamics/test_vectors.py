"""Sines and arc tangents of eight numbers at once against those of numpy."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from robot_id.dynamics.generated.compiler import compile_library, compiler
from robot_id.dynamics.generated.vectors import LANES, VECTORS

SOURCE = f"""#include <math.h>
#include <stdint.h>
{VECTORS}
void run(int64_t N, const double *x, double *s, double *c, double *t)
{{
    for (int64_t k = 0; k < N; k += {LANES}) {{
        lanes sine, cosine;
        sines(*(const row *)(x + k), &sine, &cosine);
        *(row *)(s + k) = sine;
        *(row *)(c + k) = cosine;
        *(row *)(t + k) = arc_tangents(*(const row *)(x + k));
    }}
}}
"""


@pytest.fixture(scope='module')
def functions(tmp_path_factory):
    if compiler() is None:
        pytest.skip('no C compiler')
    place = tmp_path_factory.mktemp('vectors') / 'vectors.so'
    compile_library(SOURCE, place)
    library = ctypes.CDLL(str(place))

    def run(x):
        whole = np.zeros(-(-len(x) // LANES) * LANES)
        whole[: len(x)] = x
        out = np.empty((3, len(whole)))
        places = [ctypes.c_void_p(a.ctypes.data) for a in (whole, *out)]
        library.run(ctypes.c_int64(len(whole)), *places)
        return out[:, : len(x)]

    return run


def test_as_exact_as_libm_to_three_units_in_the_last_place(functions):
    rng = np.random.default_rng(0)
    parts = [rng.uniform(-size, size, 20_000) for size in (1e-8, 0.5, 4.0, 50.0, 9e4)]
    parts += [np.tan(np.pi / 8 * np.arange(-3, 4)), np.pi / 4 * np.arange(-40, 41)]
    x = np.concatenate(parts)
    sine, cosine, arc = functions(x)
    for found, wanted in ((sine, np.sin(x)), (cosine, np.cos(x))):
        # Near a zero the reduced angle is as exact as three parts of pi give it.
        assert np.all(np.abs(found - wanted) <= 3.0 * np.spacing(np.maximum(np.abs(wanted), 1e-5)))
    assert np.all(np.abs(arc - np.arctan(x)) <= 3.0 * np.spacing(np.abs(np.arctan(x))))


def test_numbers_beyond_all_joints_and_no_numbers(functions):
    x = np.array([0.0, -0.0, 1e300, -1e300, 1e7, np.inf, -np.inf, np.nan, 3.0])
    with np.errstate(invalid='ignore'):
        wanted = np.sin(x), np.cos(x), np.arctan(x)
    for found, right in zip(functions(x), wanted):
        np.testing.assert_allclose(found, right, rtol=1e-15)
        np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(right[:2]))
