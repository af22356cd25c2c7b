"""How much work one identification is: counts, which a busy machine does not change."""

from __future__ import annotations

import importlib
import sys
from collections import Counter

import numpy as np
import pytest

from robot_id import data
from robot_id.robot import Robot, load_robot
from robot_id.tasks import record
from robot_id.tasks.identify import Request, identify


@pytest.fixture
def work(monkeypatch):
    """Count the regressors that are computed, wherever they are called from, and the Robots."""
    counts: Counter[str] = Counter()
    plain = importlib.import_module('robot_id.dynamics.regressor').regressor
    built = Robot.__init__

    def regressor(robot, q, *args, **options):
        counts['W'] += 1
        counts['rows of W'] += np.atleast_2d(q).shape[0]
        return plain(robot, q, *args, **options)

    def init(self, *args, **options):
        counts['Robots'] += 1
        built(self, *args, **options)

    for name, module in list(sys.modules.items()):
        if name.startswith('robot_id') and getattr(module, 'regressor', None) is plain:
            monkeypatch.setattr(module, 'regressor', regressor)
    monkeypatch.setattr(Robot, '__init__', init)
    return counts


def test_one_identification_of_a_scara_recording(work, tmp_path):
    robot = load_robot('scara')
    path = tmp_path / 'scara.csv'
    data.save(record(robot, seed=1), path)
    # What a robot needs once is made for the first of two requests.
    identify(Request(robot, [path], check=False))
    work.clear()
    found = identify(Request('scara', [path]))
    assert found.result.verdict == 'usable'
    # The robot, the same with plain friction for the check, and that with tilted gravity.
    assert work['Robots'] == 3
    # 7 cut-offs, 4 of delay and friction, the fit and its hold-out with 8 noisier motions each in
    # as many runs as they have; the check: the motion as it is, one W for each changed motion,
    # with ten rates of the samples that are tried.
    assert work['W'] <= 130
    samples = len(found.dataset)
    assert work['rows of W'] <= 60 * samples

    work.clear()
    identify(Request('scara', [path], check=False, holdout=0.0))
    assert work['Robots'] <= 3
    assert work['W'] <= 30
