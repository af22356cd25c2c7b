"""Rounded descriptions have the base parameters and the condition number of the exact ones."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_id import dynamics
from robot_id.robot import load_robot
from robot_id.robot.files.snapping import snap_angle, snap_axis

URDF = Path(__file__).resolve().parents[2] / 'urdf' / 'tx40.urdf'
EXACT = URDF.read_text()


def rounded(digits: int) -> str:
    def four(match: re.Match) -> str:
        return 'rpy="' + ' '.join(f'{float(x):.{digits}f}' for x in match[1].split()) + '"'

    return re.sub(r'rpy="([^"]*)"', four, EXACT)


@pytest.fixture
def load(tmp_path):
    def from_text(text, snap=True):
        (tmp_path / 'arm.urdf').write_text(text)
        if snap:
            return load_robot(tmp_path / 'arm.urdf')
        (tmp_path / 'arm.yaml').write_text('name: arm\nurdf: arm.urdf\nsnap: false\n')
        return load_robot(tmp_path / 'arm.yaml')

    return from_text


def condition(robot):
    rng = np.random.default_rng(4)
    q, dq, ddq = (rng.normal(0, size, (300, robot.n)) for size in (1.5, 2.0, 6.0))
    W = dynamics.regressor(robot, q, dq, ddq).reshape(-1, len(robot.base))
    return np.linalg.cond(W / np.linalg.norm(W, axis=0))


@given(st.integers(-24, 24), st.sampled_from([6, 4]), st.floats(-0.9e-4, 0.9e-4))
def test_an_angle_near_a_multiple_is_that_multiple(k, part, error):
    angle = k * math.pi / part
    assert snap_angle(angle + error) == pytest.approx(angle, abs=1e-14)
    assert snap_angle(angle + math.copysign(3e-3, error)) != pytest.approx(angle, abs=1e-4)


def test_axes_are_unit_vectors_of_their_angles():
    assert snap_axis(np.array([0.0, 1e-5, -0.99999])).tolist() == [0.0, 0.0, -1.0]
    slanted = snap_axis(np.array([0.70711, 0.0, -0.7071]))
    assert slanted == pytest.approx([math.sqrt(0.5), 0.0, -math.sqrt(0.5)], abs=1e-15)
    free = np.array([0.6, 0.0, 0.8])
    assert snap_axis(free) is free


@pytest.mark.parametrize('digits', [4, 5, 6])
def test_rounded_angles_change_neither_parameters_nor_condition(load, digits):
    exact, robot = load(EXACT), load(rounded(digits))
    assert robot.base.names == exact.base.names
    assert condition(robot) == pytest.approx(condition(exact), rel=1e-9)
    assert exact.kinematics.notes == ()
    assert robot.kinematics.notes
    assert 'pi/2' in ' '.join(robot.kinematics.notes)


def test_axes_that_are_almost_parallel_are_made_parallel(load):
    # Joints 2 and 3 of the TX40 are parallel; 20 degrees forth and back are not multiples.
    tilted = EXACT.replace('rpy="0 0 1.5707963267948966"', 'rpy="0.00006 0 1.5707963267948966"')
    robot = load(tilted)
    assert robot.base.names == load(EXACT).base.names


def test_snapping_can_be_switched_off(load):
    robot = load(rounded(4), snap=False)
    assert robot.kinematics.notes == ()
    assert not np.allclose(
        robot.kinematics.rotation, load(EXACT).kinematics.rotation, rtol=0, atol=1e-9
    )
    # Even so, what is rounding only is no parameter.
    assert robot.base.names == load(EXACT).base.names
