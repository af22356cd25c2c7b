"""Signals for the eye: what a window shows has the extremes of all of its samples."""

import numpy as np
import pytest

from robot_id.data.signals.envelope import BLOCK, Envelope

RNG = np.random.default_rng(1)


@pytest.fixture(scope='module')
def envelope():
    values = np.cumsum(RNG.normal(size=(5 * BLOCK**3 + 17, 2)), axis=0)
    return Envelope(np.arange(len(values)) / 1000.0, {'position': values})


@pytest.mark.parametrize('share', [1.0, 0.3, 0.02, 0.001])
def test_a_window_keeps_the_extremes(envelope, share):
    """Spikes stay: a block at the border may add its own, none is lost."""
    end = envelope.time[-1]
    start, stop = 0.4 * end * (1.0 - share), 0.4 * end * (1.0 - share) + share * end
    inside = (envelope.time >= start) & (envelope.time <= stop)
    for column in range(2):
        x = envelope.channels['position'][inside, column]
        time, y = envelope.window('position', column, start, stop, intervals=100)
        assert len(time) == len(y) <= 202
        assert np.all(np.diff(time) >= 0.0)
        assert y.min() <= x.min()
        assert y.max() >= x.max()
        spread = BLOCK**3 / 1000.0
        near = (envelope.time >= start - spread) & (envelope.time <= stop + spread)
        around = envelope.channels['position'][near, column]
        assert y.min() >= around.min()
        assert y.max() <= around.max()


def test_few_samples_are_drawn_as_they_are(envelope):
    time, y = envelope.window('position', 1, 2.0, 2.05, intervals=100)
    first = int(np.searchsorted(envelope.time, time[0]))
    np.testing.assert_array_equal(y, envelope.channels['position'][first : first + len(y), 1])
