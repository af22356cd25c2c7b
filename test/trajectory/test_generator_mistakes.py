"""Wrong specifications, files and requests of motions: one clear line each."""

from __future__ import annotations

import numpy as np
import pytest
from errors import refused

from robot_id.exceptions import TrajectoryError
from robot_id.trajectory import (
    Quintic,
    make_trajectory,
    standard_trajectory,
)

MOVE = {'kind': 'quintic', 'waypoints': [[0], [1]], 'durations': 1}


@pytest.mark.parametrize(
    ('spec', 'words'),
    [
        ({}, "key 'kind'"),
        ({'kind': 'slow_down', 'trajectory': MOVE, 'start': 'now', 'seconds': 1}, 'not numbers'),
        ({'kind': 'slow_down', 'trajectory': 5, 'start': 0, 'seconds': 1}, 'be a trajectory'),
        ({'kind': 'time_scaled', 'trajectory': MOVE, 'speed': 'fast'}, 'not numbers'),
        ({'kind': 'selection', 'trajectory': MOVE, 'index': [1]}, 'of 1 joints'),
        ([], "key 'kind'"),
        ({'kind': 'quintik'}, "'quintic'"),
        ({'kind': 'quintic', 'waypoints': [[0], [1]]}, "missing key 'durations'"),
        ({'kind': 'quintic', 'waypoint': [[0], [1]]}, "did you mean 'waypoints'"),
        ({'kind': 'quintic', 'waypoints': [[0], [1, 2]], 'durations': 1}, 'unequal length'),
        ({'kind': 'quintic', 'waypoints': [[0], ['x']], 'durations': 1}, 'not numbers'),
        ({'kind': 'quintic', 'waypoints': [[0], [np.nan]], 'durations': 1}, 'not finite'),
        ({'kind': 'quintic', 'waypoints': [[0], [1]], 'durations': 0}, 'positive'),
        ({'kind': 'quintic', 'waypoints': [[0], [1]], 'durations': [1, 2]}, 'expected 1'),
        ({'kind': 'quintic', 'waypoints': [[0]], 'durations': 1}, 'at least 2'),
        (
            {'kind': 'quintic', 'waypoints': [[0], [1]], 'durations': 1, 'periodic': True},
            'close on itself',
        ),
        (
            {'kind': 'quintic', 'waypoints': [[0], [1]], 'durations': 1, 'periodic': 'yes'},
            'true or false',
        ),
        (
            {'kind': 'trapezoid', 'waypoints': [[0], [1]], 'velocity': 0, 'acceleration': 1},
            'velocity must be positive',
        ),
        (
            {
                'kind': 'trapezoid',
                'waypoints': [[0], [1]],
                'velocity': 1,
                'acceleration': 1,
                'durations': [1],
            },
            'move 1 needs 2 s',
        ),
        (
            {'kind': 'fourier', 'duration': -1, 'offset': [0], 'sine': [[1]], 'cosine': [[1]]},
            'positive',
        ),
        (
            {'kind': 'fourier', 'duration': 1, 'offset': [0], 'sine': [[1]], 'cosine': [[1, 2]]},
            'shape',
        ),
        ({'kind': 'playback', 'time': [0, 1, 1], 'position': [0, 1, 2]}, 'must increase'),
        ({'kind': 'playback', 'time': [0, 1, 2], 'position': [0, 1, 2]}, 'needs 6'),
        ({'kind': 'concatenation', 'parts': []}, 'no parts'),
        ({'kind': 'concatenation', 'parts': 3}, 'must be a list'),
        (
            {
                'kind': 'concatenation',
                'parts': [
                    {'kind': 'quintic', 'waypoints': [[0], [1]], 'durations': 1},
                    {'kind': 'quintic', 'waypoints': [[2], [1]], 'durations': 1},
                ],
            },
            'position of joint 1 jumps from 1 to 2',
        ),
    ],
)
def test_bad_specifications_are_one_clear_line(spec, words: str) -> None:
    with pytest.raises(TrajectoryError, match=words) as caught:
        make_trajectory(spec)
    assert '\n' not in str(caught.value)


def test_bad_requests_are_one_clear_line() -> None:
    trajectory = Quintic([[0.0], [1.0]], 2.0)
    for rate in (0.0, -1.0, np.nan):
        with refused(TrajectoryError, code='not_positive'):
            trajectory.sampled(rate)
    with refused(TrajectoryError, code='does_not_close'):
        trajectory.sampled(100.0, cycles=2)
    with refused(TrajectoryError, code='too_few_samples'):
        trajectory.sampled(0.1)
    with refused(TrajectoryError, code='not_finite'):
        trajectory.sample([np.nan])
    with refused(TrajectoryError, key='emps_cycl'):
        standard_trajectory('emps_cycl')
