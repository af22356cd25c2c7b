"""Base parameters: names and groupings of the literature, maps to and from standard sets."""

import numpy as np
import pytest
import yaml
from errors import refused

from robot_id.exceptions import DescriptionError
from robot_id.robot import load_robot
from robot_id.robot.parameters.base import find_base
from robot_id.robot.robot import random_regressor

TX40_INERTIAL = [
    'ZZ1R', 'XX2R', 'XY2', 'XZ2R', 'YZ2', 'ZZ2R', 'MX2R', 'MY2',
    'XX3R', 'XY3', 'XZ3', 'YZ3', 'ZZ3R', 'MX3', 'MY3R', 'Ia3',
    'XX4R', 'XY4', 'XZ4', 'YZ4', 'ZZ4R', 'MX4', 'MY4R', 'Ia4',
    'XX5R', 'XY5', 'XZ5', 'YZ5', 'ZZ5R', 'MX5', 'MY5R', 'Ia5',
    'XX6R', 'XY6', 'XZ6', 'YZ6', 'ZZ6', 'MX6', 'MY6', 'Ia6',
]  # fmt: skip


def test_scara_has_the_eight_of_paper_000():
    base = load_robot('scara').base
    assert base.names == ('ZZ1R', 'Fv1', 'Fc1', 'ZZ2R', 'LMX2', 'LMY2', 'Fv2', 'Fc2')
    assert base.grouping(0) == 'ZZ1R = ZZ1 + Ia1 + 0.25*M2'
    assert base.grouping(3) == 'ZZ2R = ZZ2 + Ia2'
    assert base.grouping(4) == 'LMX2 = 0.5*MX2'
    np.testing.assert_allclose(
        load_robot('scara').truth(), [3.45, 0.04, 0.82, 0.061, 0.124, 0.007, 0.013, 0.137]
    )


def test_emps_has_four():
    robot = load_robot('emps')
    assert robot.base.names == ('M1', 'Fv1', 'Fc1', 'Off1')
    np.testing.assert_array_equal(robot.truth(), [95, 200, 20, 0])


def test_tx40_has_the_sixty_of_paper_001():
    robot = load_robot('tx40')
    assert len(robot.standard_names) == 86
    names = robot.base.names
    assert [name for name in names if not name.startswith(('F', 'Off'))] == TX40_INERTIAL
    friction = [f'{stem}{j}' for j in range(1, 7) for stem in ('Fv', 'Fc', 'Off')]
    assert set(names) == {*TX40_INERTIAL, *friction, 'Fvm6', 'Fcm6'}
    assert len(names) == 60
    groupings = [robot.base.grouping(k) for k in range(60)]
    assert 'XX4R = XX4 - YY4 + YY5' in groupings
    assert 'MY3R = MY3 - MZ4 - 0.225*M4 - 0.225*M5 - 0.225*M6' in groupings


def test_tx40_values_of_the_published_set(shared):
    reference = yaml.safe_load((shared / 'reference' / 'tx40_truth.yaml').read_text())
    robot = load_robot('tx40')
    values = dict(zip(robot.base.names, robot.truth()))
    for name, expected in reference['base_inertial'].items():
        assert values[name] == pytest.approx(expected, abs=6e-6), name


def test_ur10e_has_58(shared):
    robot = load_robot(shared / 'data' / 'ur10e' / 'ur10e.urdf')
    assert len(robot.base) == 58


@pytest.mark.parametrize('name', ['emps', 'emps_asymmetric', 'scara', 'tx40'])
def test_base_spans_all_standard_torques(name):
    robot, rng = load_robot(name), np.random.default_rng(3)
    W = random_regressor(robot)
    norms = np.linalg.norm(W, axis=0)
    live = norms > 1e-9 * norms.max()
    assert np.linalg.matrix_rank(W[:, live] / norms[live], tol=1e-9) == len(robot.base)
    chi_st = rng.normal(size=W.shape[1])
    chi = robot.base.from_standard(chi_st)
    base_columns = W[:, robot.base.columns] / robot.base.factor
    tau = W @ chi_st
    np.testing.assert_allclose(base_columns @ chi, tau, rtol=0, atol=1e-9 * np.abs(tau).max())
    for back in (robot.base.to_standard(chi), robot.base.to_standard(chi, prior=chi_st)):
        np.testing.assert_allclose(robot.base.from_standard(back), chi, rtol=0, atol=1e-12)
    np.testing.assert_allclose(robot.base.to_standard(chi, prior=chi_st), chi_st, 0, 1e-12)


@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_representative_has_positive_masses(name):
    robot = load_robot(name)
    chi_st = robot.representative(robot.truth())
    assert np.all(chi_st[robot.inertial_index[:, 9]] > 0)
    np.testing.assert_allclose(robot.base.from_standard(chi_st), robot.truth(), 0, 1e-12)


def test_regular_start():
    assert load_robot('scara').regular_start().tolist() == [1, 0, 0, 1, 0, 0, 0, 0]
    assert load_robot('emps').regular_start().tolist() == [1, 0, 0, 0]
    robot = load_robot('tx40')
    start = dict(zip(robot.base.names, robot.regular_start()))
    # Rotor 6 turns with joint 5 as well, so its unit inertia counts in both.
    assert [start[name] for name in ('ZZ1R', 'ZZ2R', 'Ia3', 'Ia4', 'Ia5', 'Ia6')] == [
        1, 1, 1, 1, 2, 1,
    ]  # fmt: skip
    assert sum(start.values()) == 7


def test_nothing_to_identify_is_refused():
    with refused(DescriptionError, code='no_effect'):
        find_base(np.zeros((10, 2)), ('XX1', 'XY1'))
