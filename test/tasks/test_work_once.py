"""`identify` filters, differentiates and decimates the same data once, with a report too."""

from collections import Counter
from hashlib import sha256

import numpy as np
import pytest

from robot_id.data.cache import Kept
from robot_id.data.signals import decimation, filters
from robot_id.report.html import write_report
from robot_id.report.html.provenance import provenance
from robot_id.robot import load_robot
from robot_id.tasks import record
from robot_id.tasks.identify import Request, identify


@pytest.fixture
def work(monkeypatch):
    """Count the calls of filters and decimators by all that they are given."""
    counts = Counter()

    def counting(owner, name, at):
        plain = getattr(owner, name)

        def counted(*args):
            signal = np.ascontiguousarray(args[at])
            key = sha256(signal.tobytes()).hexdigest()
            counts[name, key, signal.shape, args[at + 1 :]] += 1
            return plain(*args)

        monkeypatch.setattr(owner, name, counted)

    counting(filters, 'zero_phase', 0)
    counting(decimation.Decimator, 'push', 1)
    return counts


@pytest.mark.parametrize(
    ('name', 'options'),
    [
        # One chunk, with a hold-out that fits a part of the data again.
        ('scara', {}),
        ('scara', {'method': 'idim_ml'}),
        ('scara', {'method': 'idim_iv'}),
        # Four chunks at 1 kHz, which are thinned for the comparison of cut-offs.
        ('emps', {'holdout': 0.0}),
    ],
)
def test_nothing_is_filtered_or_decimated_twice(name, options, work, tmp_path):
    robot = load_robot(name)
    request = Request(robot, record(robot, seed=4), **options)
    work.clear()
    found = identify(request)
    assert max(work.values()) == 1, [key for key, count in work.items() if count > 1]
    cut_offs = {key[3][1] for key in work if key[0] == 'zero_phase'}
    assert found.result.options['cutoff_hz'] in cut_offs
    before = dict(work)
    write_report(
        tmp_path / 'report.html', robot, found.dataset, found.result, found.prediction,
        provenance(['robot-id', 'identify'], ()), found.validation, found.findings,
    )  # fmt: skip
    # The page decimates friction and velocity, which the fit has not; it repeats nothing.
    assert all(work[key] == count for key, count in before.items())
    assert all(key[0] == 'push' for key in work if key not in before)


def test_what_is_too_large_is_computed_again():
    kept, calls = Kept(largest=100), []

    def value(size):
        calls.append(size)
        return (np.zeros(size),)

    for size in (10, 10, 20, 20):
        assert kept.get(size, lambda size=size: value(size))[0].size == size
    assert calls == [10, 20, 20]
