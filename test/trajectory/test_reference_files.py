"""A sampled reference in files: csv and bag, and the motion read from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from errors import refused
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore

from robot_id.data import Dataset, Run, save
from robot_id.exceptions import TrajectoryError
from robot_id.trajectory import Fourier, SampledMotion
from robot_id.trajectory.reference_bag import write_reference_bag
from robot_id.trajectory.reference_csv import read_reference_csv, write_reference_csv

NAMES = ('a', 'b', 'c')


@pytest.fixture
def motion() -> Fourier:
    return Fourier.at_rest(2.0, [0.0, 1.0, 2.0], *np.random.default_rng(0).normal(size=(2, 3, 4)))


def test_a_csv_keeps_every_digit_and_matches_by_name(motion: Fourier, tmp_path: Path) -> None:
    reference = motion.sampled(250.0)
    write_reference_csv(reference, tmp_path / 'm.csv', NAMES)
    again, names = read_reference_csv(tmp_path / 'm.csv')
    assert names == NAMES
    for field in ('time', 'position', 'velocity', 'acceleration'):
        np.testing.assert_array_equal(getattr(again, field), getattr(reference, field))
    turned, _ = read_reference_csv(tmp_path / 'm.csv', ('c', 'a'))
    np.testing.assert_array_equal(turned.velocity, reference.velocity[:, [2, 0]])
    with refused(TrajectoryError, joint='d'):
        read_reference_csv(tmp_path / 'm.csv', ('d',))


def test_a_csv_read_back_is_the_motion(motion: Fourier, tmp_path: Path) -> None:
    write_reference_csv(motion.sampled(100.0), tmp_path / 'm.csv', NAMES)
    again = SampledMotion.from_file(tmp_path / 'm.csv', ('b', 'a', 'c'))
    t = np.linspace(0.0, 2.0, 777)
    for order, (read, planned) in enumerate(zip(again.sample(t), motion.sample(t))):
        # Quintics between exact samples: the error grows by 1/h for each derivative.
        tolerance = 1e-7 * 100.0**order
        np.testing.assert_allclose(read[:, [1, 0, 2]], planned, atol=tolerance)


def test_broken_csv_files_are_one_clear_line(motion: Fourier, tmp_path: Path) -> None:
    path = tmp_path / 'm.csv'
    write_reference_csv(motion.sampled(100.0), path, NAMES)
    lines = path.read_text().splitlines()
    path.write_text('\n'.join([*lines[:5], lines[5].replace(',', ',x', 1), *lines[6:]]))
    with pytest.raises(TrajectoryError, match=r'm\.csv'):
        read_reference_csv(path)
    path.write_text('\n'.join([lines[0].replace('reference_velocity.b', 'speed'), *lines[1:]]))
    with refused(TrajectoryError, code='no_column'):
        read_reference_csv(path)
    path.write_text(lines[0])
    with pytest.raises(TrajectoryError, match=r'm\.csv'):
        read_reference_csv(path)
    with refused(TrajectoryError, code='unreadable'):
        read_reference_csv(tmp_path / 'none.csv')


def test_a_bag_holds_one_whole_trajectory_and_one_point_per_sample(motion, tmp_path) -> None:
    reference = motion.sampled(100.0)
    write_reference_bag(reference, tmp_path / 'bag', NAMES)
    store = get_typestore(Stores.ROS2_JAZZY)
    messages: dict[str, list] = {}
    with Reader(tmp_path / 'bag') as reader:
        for connection, _, raw in reader.messages():
            assert connection.msgtype == 'trajectory_msgs/msg/JointTrajectory'
            message = store.deserialize_cdr(raw, connection.msgtype)
            assert tuple(message.joint_names) == NAMES
            messages.setdefault(connection.topic, []).append(message)
    (whole,) = messages['/joint_trajectory']
    last = whole.points[-1].time_from_start
    assert last.sec + 1e-9 * last.nanosec == pytest.approx(2.0)
    assert len(whole.points) == len(messages['/reference']) == len(reference)
    np.testing.assert_array_equal([p.positions for p in whole.points], reference.position)
    single = [m.points[0].accelerations for m in messages['/reference']]
    np.testing.assert_array_equal(single, reference.acceleration)
    stamp = messages['/reference'][7].header.stamp
    assert stamp.sec + 1e-9 * stamp.nanosec == pytest.approx(0.07)


@pytest.mark.parametrize('place', ['run.csv', 'bag'])
def test_a_motion_from_a_recording_follows_its_reference(motion, place, tmp_path) -> None:
    reference = motion.sampled(200.0)
    noisy = reference.position + 0.1
    run = Run(
        reference.time, noisy, np.ones_like(noisy), None,
        reference.position, reference.velocity, reference.acceleration,
    )  # fmt: skip
    save(Dataset(NAMES, (run,)), tmp_path / place)
    again = SampledMotion.from_file(tmp_path / place)
    np.testing.assert_allclose(again.sample(reference.time)[0], reference.position, atol=1e-9)
    measured = Run(reference.time, noisy, np.ones_like(noisy))
    followed = SampledMotion.from_run(measured)
    np.testing.assert_allclose(followed.sample(reference.time)[0], noisy, atol=1e-9)
    with refused(TrajectoryError, code='no_run'):
        SampledMotion.from_file(tmp_path / place, run=3)
