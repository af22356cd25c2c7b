"""Decimation against scipy's full zero-phase filter, in blocks against the whole."""

from itertools import pairwise

import numpy as np
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage, signal

from robot_id.data.signals.decimation import (
    LARGEST_STAGE,
    Decimator,
    chebyshev,
    decimate,
    design,
    stages,
)
from robot_id.exceptions import OptionError


def full_filter(x, factor):
    """Filter every sample forward and backward, then drop most of them."""
    for number in stages(factor):
        sections = signal.cheby1(8, 0.05, 0.8 / number, output='sos')
        x = signal.sosfiltfilt(sections, x, axis=0)[::number]
    return x


def drift(samples, columns=3, seed=0):
    return np.cumsum(np.random.default_rng(seed).normal(size=(samples, columns)), axis=0)


@pytest.mark.parametrize('factor', [2, 3, 7, 10, 13, 17, 20])
def test_equals_the_full_filter_away_from_the_ends(factor):
    x = drift(30_000)
    ours, reference = decimate(x, factor), full_filter(x, factor)
    assert ours.shape == reference.shape
    inside = slice(ours.shape[0] // 4, -ours.shape[0] // 4)
    error = np.abs(ours - reference)[inside].max() / np.abs(reference).max()
    assert error < 1e-11


def test_equals_the_full_filter_for_two_stages():
    x = drift(200_000, columns=2)
    ours, reference = decimate(x, 100), full_filter(x, 100)
    error = np.abs(ours - reference)[500:-500].max() / np.abs(reference).max()
    assert error < 1e-10


@pytest.mark.parametrize('order', [7, 8])
@pytest.mark.parametrize('factor', [2, 5, 13, 101])
def test_the_filter_is_the_one_of_an_independent_library(order, factor):
    theirs = signal.cheby1(order, 0.05, 0.8 / factor, output='zpk')
    for ours, wanted in zip(chebyshev(order, 0.05, 0.8 / factor), theirs, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-14)


def test_passes_low_and_stops_high_frequencies_without_delay():
    rate, factor = 1000.0, 10
    t = np.arange(20_000) / rate
    low, high = np.sin(2 * np.pi * 5 * t), np.sin(2 * np.pi * 70 * t)
    kept = t[::factor]
    middle = slice(300, -300)
    gain = 10 ** (-0.1 / 20)
    passed = decimate(low, factor)[middle]
    # The ripple of the pass band is 0.05 dB for each of the two passes.
    assert np.abs(passed - np.sin(2 * np.pi * 5 * kept[middle])).max() <= 1 - gain + 1e-6
    assert np.abs(decimate(high, factor)[middle]).max() < 1e-4


@given(
    factor=st.sampled_from([1, 2, 5, 10, 14, 30, 100]),
    samples=st.integers(200, 6000),
    cuts=st.lists(st.integers(1, 5999), max_size=6),
)
@settings(max_examples=25, deadline=None)
def test_blocks_give_what_the_whole_gives(factor, samples, cuts):
    x = drift(samples, seed=samples)
    even = samples % 2 == 0
    whole = decimate(x, factor, even=even)
    decimator = Decimator(factor, even)
    borders = sorted({0, samples, *(cut for cut in cuts if cut < samples)})
    parts = [decimator.push(x[low:high]) for low, high in pairwise(borders)]
    together = np.concatenate([*parts, decimator.finish()])
    assert together.shape == whole.shape
    assert np.abs(together - whole).max() <= 1e-12 * np.abs(whole).max()


def test_blocks_of_a_long_recording_come_out_on_the_way():
    x = drift(60_000)
    decimator = Decimator(10)
    ready = sum(decimator.push(block).shape[0] for block in np.split(x, 10))
    waiting = decimator.finish().shape[0]
    assert ready + waiting == 6000
    assert waiting * 10 < 1.2 * design(10).reach


@given(st.integers(1, 2000))
@settings(max_examples=60)
def test_stages_multiply_to_the_factor(factor):
    split = stages(factor)
    assert np.prod(split, initial=1) == factor
    for number in split:
        prime = all(number % k for k in range(2, number))
        assert number <= LARGEST_STAGE or prime


def test_known_stages():
    assert stages(1) == ()
    assert stages(10) == (10,)
    assert stages(100) == (10, 10)
    assert stages(20) == (5, 4)


def test_linear_so_that_equations_survive():
    """Y = W chi holds after decimation as before, at the ends too."""
    rng = np.random.default_rng(1)
    W, chi = rng.normal(size=(3000, 7)), rng.normal(size=7)
    assert np.allclose(decimate(W @ chi, 20), decimate(W, 20) @ chi, atol=1e-12)


def test_mirrored_ends_are_no_noisier_than_the_middle():
    # Noise that is as slow as that of filtered accelerations: 30 samples, rows of 100.
    noise = np.random.default_rng(2).normal(size=(3000, 400))
    noise = ndimage.uniform_filter1d(noise, 30, axis=0)
    spread = [decimate(noise, 100, even=even).std(axis=1) for even in (False, True)]
    middle = np.median(spread[1])
    assert spread[0][0] > 1.5 * middle
    assert spread[1].max() < 1.6 * middle
    # The mirror: what the full filter gives for data that are continued by it.
    x = drift(2000)
    mirrored = np.concatenate([x[:0:-1], x, x[-2::-1]])
    found, first = decimate(x, 7, even=True), (len(x) - 1) % 7
    wanted, start = decimate(mirrored[first:], 7), (len(x) - 1) // 7
    np.testing.assert_allclose(wanted[start : start + len(found)], found, atol=1e-9)


def test_shapes_and_axes():
    x = drift(1000, 12).reshape(1000, 3, 4)
    y = decimate(x, 10)
    assert y.shape == (100, 3, 4)
    assert np.array_equal(decimate(np.moveaxis(x, 0, 2), 10, axis=2), np.moveaxis(y, 0, 2))
    assert np.allclose(decimate(x[:, 0, 0], 10), y[:, 0, 0], rtol=1e-13)
    assert decimate(x, 1) is not x
    assert np.array_equal(decimate(x, 1), x)


@pytest.mark.parametrize('factor', [0, -2, 2.5])
def test_bad_factors_are_refused(factor):
    with refused(OptionError, code='not_whole'):
        decimate(np.zeros((100, 1)), factor)


def test_too_few_samples_are_refused():
    with refused(OptionError, code='too_short'):
        decimate(np.zeros((1, 2)), 10)
