"""Consistent robots: the set, the two solvers, the priors and the bounds."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from bench.bench_physical import identified, noisy, random_arm
from robot_id.exceptions import DescriptionError, IdentificationError
from robot_id.regression.consistency import Fitter, prior
from robot_id.regression.consistency.conic import available
from robot_id.regression.consistency.pseudo_inertia import (
    congruence,
    inertial_row,
    pseudo_inertia,
    smallest_eigenvalues,
    smat,
    svec,
)
from robot_id.regression.consistency.test import judge
from robot_id.robot import RobotDescription, build_robot, load_robot
from robot_id.robot.parameters.inertia import TO_PINOCCHIO


def triangle(W, Y):
    R = np.linalg.qr(np.column_stack([W, Y]), mode='r')
    return R[:-1, :-1], R[:-1, -1]


def test_pseudo_inertia_is_that_of_pinocchio():
    rng = np.random.default_rng(1)
    body = pin.Inertia.Random()
    row = np.asarray(body.toDynamicParameters())[np.argsort(TO_PINOCCHIO)]
    assert np.allclose(pseudo_inertia(row), body.toPseudoInertia().toMatrix())
    assert np.allclose(inertial_row(pseudo_inertia(row)), row)
    L, Q = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    Q = Q @ Q.T
    assert np.allclose(congruence(L) @ svec(Q), inertial_row(L @ Q @ L.T))
    assert np.allclose(smat(svec(Q)), Q)


def test_a_triangle_inequality_that_fails_is_seen():
    ball = np.array([1.0, 0, 0, 1, 0, 1, 0, 0, 0, 1])
    assert smallest_eigenvalues(ball) > 0
    ball[5] = 2.1  # ZZ above XX + YY
    assert smallest_eigenvalues(ball) < 0


@pytest.mark.parametrize('seed', range(12))
def test_random_robots_are_possible_and_as_good_on_hold_out(seed):
    smallest, free, possible = identified(1000 + seed)
    assert smallest > 0.0
    assert possible <= 1.05 * free


@pytest.mark.skipif(not available(), reason='Clarabel is not installed')
@pytest.mark.parametrize('n', [1, 3, 6])
def test_both_solvers_find_the_same_robot(n):
    rng = np.random.default_rng(n)
    robot, x = random_arm(rng, n)
    system = triangle(*noisy(robot, x, rng, 0.3, 60))
    a, b = (Fitter(robot, solver=solver).fit(*system) for solver in ('newton', 'clarabel'))
    assert np.allclose(a.x, b.x, rtol=1e-6, atol=1e-8)


def test_good_data_decide_and_leave_only_the_rest_to_the_prior():
    rng = np.random.default_rng(4)
    robot, x = random_arm(rng, 4)
    W, Y = noisy(robot, x, rng, 1e-3, 400)
    fit = Fitter(robot).fit(*triangle(W, Y))
    free = np.linalg.lstsq(W, Y, rcond=None)[0]
    sigma = np.sqrt(np.diag(np.linalg.inv(W.T @ W)))
    assert np.all(np.abs(fit.chi - free) < 0.2 * sigma)


def test_shares_tell_what_the_data_say_nothing_about():
    robot = load_robot('tx40')
    x = robot.standard_vector(robot.description.truth, 'truth')
    system = triangle(*noisy(robot, x, np.random.default_rng(0), 0.01, 400))
    fit = Fitter(robot).fit(*system)
    shares = dict(zip(robot.standard_names, fit.data_share))
    assert min(shares['Fv1'], shares['Fc6']) > 0.99
    # The first link turns about the vertical: its mass and height act on no torque.
    assert max(shares['M1'], shares['MZ1']) < 0.01


def test_the_verdict_accepts_a_right_model_and_names_a_wrong_sign():
    rng = np.random.default_rng(7)
    robot, x = random_arm(rng, 3)
    R, z = triangle(*noisy(robot, x, rng, 0.02, 300))
    covariance = np.linalg.inv(R.T @ R)
    for sign, right in ((1.0, True), (-1.0, False)):
        chi = sign * np.linalg.solve(R, z)
        fit = Fitter(robot).project(chi, covariance)
        verdict = judge(robot.base.names, chi, covariance, fit.chi)
        assert verdict.consistent is right
        assert fit.smallest.min() > 0
    assert 'sign' in verdict.meaning
    assert verdict.pulling


def arm_with(bounds, folder):
    """Return a two-joint arm with bounds in its file."""
    rows = [{}, {'alpha': 1.2, 'd': 0.3}]
    content = {'name': 'arm', 'mdh': rows, 'joints': [{'name': 'a'}, {'name': 'b'}]}
    return build_robot(RobotDescription.model_validate(content | {'bounds': bounds}), folder)


def test_bounds_of_the_robot_file_are_kept(tmp_path):
    free = arm_with({}, tmp_path)
    rng = np.random.default_rng(0)
    x = np.zeros(len(free.standard_names))
    for columns in free.inertial_index:
        x[columns] = [0.2, 0.01, 0, 0.3, 0, 0.25, 0.4, 0.1, 0.05, 4.0]
    system = triangle(*noisy(free, x, rng, 0.05, 200))
    bounds = {
        'total_mass': {'value': 8.0, 'std': 0.01},
        'links': {
            'b': {'mass': [5.0, 6.0], 'centre': [[-0.02, 0.03], None, [0.0, 0.1]]},
            'a': {'symmetric': ['y'], 'planar': {'normal': 'z', 'thickness': 0.05}},
        },
    }
    robot = arm_with(bounds, tmp_path)
    fit = Fitter(robot).fit(*system)
    value = dict(zip(robot.standard_names, fit.x))
    assert value['M1'] + value['M2'] == pytest.approx(8.0, abs=0.05)
    assert 5.0 <= value['M2'] <= 6.0
    assert -0.02 <= value['MX2'] / value['M2'] <= 0.03
    assert 0.0 <= value['MZ2'] / value['M2'] <= 0.1
    for name in ('MY1', 'XY1', 'YZ1', 'MZ1', 'XZ1'):
        assert value[name] == pytest.approx(0.0, abs=1e-9)
    across = (value['XX1'] + value['YY1'] - value['ZZ1']) / 2
    assert 0.0 < across <= value['M1'] * 0.05**2 / 12
    assert fit.smallest.min() > 0


@pytest.mark.parametrize(
    ('bounds', 'says'),
    [
        ({'links': {'c': {}}}, "no joint 'c'"),
        ({'links': {'a': {'mas': [1, 2]}}}, "'mass'"),
        ({'links': {'a': {'mass': [2, 1]}}}, 'not below'),
        ({'total_mass': {'value': -1}}, 'total_mass.value'),
    ],
)
def test_bad_bounds_are_one_line(bounds, says, tmp_path):
    content = {'name': 'arm', 'mdh': [{}], 'joints': [{'name': 'a'}], 'bounds': bounds}
    path = tmp_path / 'arm.yaml'
    path.write_text(re.sub("'", '"', str(content)))
    with pytest.raises(DescriptionError, match=re.escape(says)):
        load_robot(path)


URDF = """<robot name="r"><link name="base"/>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
</joint>
<link name="arm">{inertial}<collision><origin xyz="0 0 0.2"/><geometry>
<box size="0.1 0.1 0.4"/></geometry></collision></link></robot>"""


def test_prior_takes_the_urdf_where_it_is_sensible_else_its_shapes(tmp_path):
    good = (
        '<inertial><mass value="3"/><origin xyz="0 0 0.1"/>'
        '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial>'
    )
    junk = (
        '<inertial><mass value="0.001"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        '</inertial>'
    )
    for text, origin, mass in ((good, 'urdf', 3.0), (junk, 'shapes', 6.0)):
        path = Path(tmp_path / f'{origin}.urdf')
        path.write_text(URDF.format(inertial=text))
        found = prior.prior_of(load_robot(path))
        assert found.origin == (origin,)
        assert found.rows[0, 9] == pytest.approx(mass)
    assert np.allclose(found.rows[0, 6:9] / 6.0, [0, 0, 0.2])


def test_no_deviations_no_projection():
    robot = load_robot('scara')
    b = len(robot.base)
    with pytest.raises(IdentificationError, match='deviations'):
        Fitter(robot).project(robot.truth(), np.full((b, b), np.nan))


def test_sharp_data_far_from_any_robot_end():
    # One negative mass, known to a hundred-thousandth: it went round for ever.
    robot = load_robot('emps')
    chi = robot.truth()
    chi[0] *= -1.0
    fit = Fitter(robot, solver='newton').project(chi, np.diag((1e-5 * np.abs(chi) + 1e-6) ** 2))
    assert fit.smallest.min() > 0


@pytest.mark.parametrize(('seed', 'noise'), [(38, 1e-3), (507, 1e-2), (523, 1e-4)])
def test_newton_alone_finds_the_minimum_of_sharp_data(seed, noise):
    rng = np.random.default_rng(seed)
    robot, x = random_arm(rng, int(rng.integers(1, 9)))
    W, Y = noisy(robot, x, rng, noise, max(60, 6 * len(robot.base) // robot.n))
    free = np.linalg.lstsq(W, Y, rcond=None)[0]
    fit = Fitter(robot, solver='newton').fit(*triangle(W, Y))
    assert np.linalg.norm(Y - W @ fit.chi) <= 1.05 * np.linalg.norm(Y - W @ free)


@pytest.mark.parametrize('seed', [1, 4])
def test_newton_reaches_a_robot_far_heavier_than_its_prior(seed):
    """A table of lengths says nothing of masses: those of the prior may be 500 times too small."""
    rng = np.random.default_rng(seed)
    robot, x = random_arm(rng, 6)
    x[robot.inertial_index] *= 500.0
    W, Y = noisy(robot, x, rng, 0.05, 120)
    # Friction that pushes: no robot explains it, and the bodies are pressed against their limits.
    Y -= 0.3 * np.abs(Y)
    R, z = triangle(W, Y)
    fit = Fitter(robot, solver='newton').fit(R, z)
    assert fit.smallest.min() > 0
    heavy = replace(fit.prior, rows=500.0 * fit.prior.rows)
    near = Fitter(robot, prior=heavy, solver='newton').fit(R, z)
    left, expected = (np.linalg.norm(R @ f.chi - z) for f in (fit, near))
    assert left == pytest.approx(expected, rel=0.02)
