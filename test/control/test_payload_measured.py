"""Windows of real recordings without a load: robots that differ from their models."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from robot_id.control.runtime.payload_watch import PayloadWatch
from robot_id.data import load
from robot_id.data.signals.processing import Processing
from robot_id.regression.preprocessing.options import resolve_options
from robot_id.regression.rows.observation import Observation
from robot_id.robot import Payload, load_robot, payload_parameters

# Robot, recording, mapping, windows, a load that the robot may carry [kg].
RECORDINGS = [
    ('emps', 'emps/DATA_EMPS.mat', 'emps_benchmark', 8, 10.0),
    ('tx40', 'tx40', 'tx40_csv', 5, 2.0),
    ('ur10e/ur10e.urdf', 'ur10e/identification.csv.gz', 'ur10e_csv', 4, 5.0),
]


def factored(robot, recording, processing, change=0.0):
    """Return the factors of a recording, with the torques of a change of the parameters added."""
    factors = Observation(robot, recording, processing).factors()
    triangles = []
    for R, columns in zip(factors.R, factors.columns):
        loaded = R.copy()
        loaded[:, -1] += R[:, :-1] @ np.broadcast_to(change, len(robot.base))[columns]
        triangles.append(loaded)
    return replace(factors, R=tuple(triangles))


@pytest.mark.parametrize(('name', 'file', 'mapping', 'count', 'mass'), RECORDINGS)
def test_measured_windows(shared, name, file, mapping, count, mass):
    """No notice without a load; one with the torques of a load added to what was measured."""
    robot = load_robot(shared / 'data' / name if '/' in name else name)
    data = load(shared / 'data' / file, mapping=mapping, robot=robot).select(robot.joint_names)
    processing = resolve_options(Processing(), data, robot, None, 'unknown').processing
    whole = data.runs[0]
    edges = np.linspace(0, len(whole), count + 1).astype(int)
    windows = [replace(data, runs=(whole.rows(*pair),)) for pair in pairwise(edges)]
    watch, still = PayloadWatch(robot), np.zeros(robot.n, bool)
    model = Observation(robot, data, processing).factors()
    chi = np.linalg.lstsq(model.stack()[:, :-1], model.stack()[:, -1], rcond=1e-9)[0]
    seen = [watch.see(factored(robot, window, processing), still, chi) for window in windows]
    judged = [payload for payload in seen if payload is not None]
    assert judged
    assert not any(payload.significant for payload in judged)
    load_change = payload_parameters(robot, Payload(mass, (0.0, 0.0, 0.05 * (robot.n > 1))))
    found = watch.see(factored(robot, windows[1], processing, load_change), still, chi)
    assert found.significant
    assert found.mass == pytest.approx(mass, rel=0.5)
