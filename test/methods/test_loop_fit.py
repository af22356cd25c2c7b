"""A loop that is not exactly known: what the recorded positions say of it, and what it costs."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id import data
from robot_id.control import tune
from robot_id.data.signals.processing import Processing
from robot_id.dynamics import Disturbances, simulate
from robot_id.methods.closed_loop.didim import Didim
from robot_id.methods.closed_loop.idim_iv import IdimIv
from robot_id.methods.closed_loop.loop_fit import fit_loop, loop_slopes, words
from robot_id.methods.closed_loop.problem import LoopProblem
from robot_id.methods.closed_loop.reference import reference_states
from robot_id.robot import load_robot
from robot_id.tasks.recording import perform
from robot_id.tasks.verdict.verdict import Case, kept_loop
from robot_id.trajectory.default import motion_of

DECIMATED = Processing(cutoff_hz=20, decimation=10, border=20)


def with_loop(robot, **factors):
    """Return the robot whose file says another loop."""
    loop = robot.loop()
    changes = {key: tuple(f * np.array(getattr(loop, key))) for key, f in factors.items()}
    loops = {'default': loop.model_copy(update=changes)} if factors else {}
    return type(robot)(
        robot.description.model_copy(update={'loops': loops}), robot.kinematics, robot.urdf
    )


@pytest.fixture(scope='module')
def recorded(scara):
    """Eight seconds of the SCARA with its noise, and the same with a reference one sample off."""
    motion = motion_of(scara, 'random', 8.0, 3)
    done = perform(scara, motion, 1)
    run = done.to_run(1)
    late = replace(
        run, **{f'reference_{k}': np.roll(getattr(run, f'reference_{k}'), -1, axis=0)
                for k in ('position', 'velocity', 'acceleration')}
    )  # fmt: skip
    return data.Dataset(scara.joint_names, (run,)), data.Dataset(scara.joint_names, (late,))


def problem_of(robot, dataset):
    return LoopProblem(robot, dataset, DECIMATED, robot.loop(), 1000.0, 1000.0)


def test_slopes_are_the_differences_of_simulations(scara):
    motion = motion_of(scara, 'random', 4.0, 3)
    run = perform(scara, motion, disturbances=Disturbances()).to_run(1)
    problem = problem_of(scara, data.Dataset(scara.joint_names, (run,)))
    chi, h = scara.truth(), 1e-3
    position, torque = loop_slopes(problem, chi, problem.simulate(chi))
    for column, key, joint in ((0, 'bandwidth', 0), (3, 'damping', 1)):
        scale = np.ones(2)
        scale[joint] = np.exp(h)
        changed = with_loop(scara, **{key: scale}).loop()
        for slopes, signal in ((position, 'position'), (torque, 'torque')):
            rows = []
            for loop in (changed, scara.loop()):
                law = replace(tune(scara, loop, chi), torque_limit=np.full(2, np.inf))
                x = getattr(simulate(scara, chi, problem.runs[0].reference, law,
                                     coulomb_slope=1000.0), signal)  # fmt: skip
                states = [type(s)(x, x, x, x) for s in reference_states(problem.runs)]
                rows.append(problem.rows(lambda s: s.q, states))
            expected = (rows[0] - rows[1]) / h
            # The sampled loop and its continuous model differ by a sample of delay.
            assert np.linalg.norm(slopes[:, :, column] - expected) < 0.15 * np.linalg.norm(
                expected
            )


@pytest.mark.parametrize('factors', [{'bandwidth': 1.4}, {'damping': 0.7}])
def test_the_numbers_of_the_true_loop_are_found(scara, recorded, factors):
    (key,) = factors
    fit = fit_loop(problem_of(with_loop(scara, **factors), recorded[0]), scara.truth())
    assert fit.contradicts
    found = getattr(fit.problem.loop, key)
    assert found == pytest.approx(getattr(scara.loop(), key), rel=2e-3)
    assert words(fit.theta).startswith('bandwidth x ')
    assert abs(fit.theta[-1]) < 0.02 / 200.0


def test_a_late_reference_is_found_and_the_true_loop_is_believed(scara, recorded):
    exact, early = recorded
    chi = scara.truth()
    assert not fit_loop(problem_of(scara, exact), chi, steps=0).contradicts
    late = fit_loop(problem_of(scara, early), chi)
    assert late.contradicts
    assert late.theta[-1] * 200.0 == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize('method', [Didim, IdimIv])
def test_a_wrong_or_unknown_loop_costs_no_more_than_its_own_uncertainty(scara, recorded, method):
    truth = scara.truth()
    best = method().estimate(scara, recorded[0])
    assert not any('estimated' in line for line in best.warnings)
    error = np.linalg.norm(best.values - truth)
    for robot in (with_loop(scara, bandwidth=1.4), with_loop(scara)):
        result = method().estimate(robot, recorded[0])
        assert result.converged
        assert any('the loop is estimated' in line for line in result.warnings)
        assert np.linalg.norm(result.values - truth) < 3.0 * error
        z = (result.values - truth) / result.std
        assert np.sqrt(np.mean(z**2)) < 2.5


def test_a_loop_that_is_kept_though_wrong_is_warned_of(scara, recorded):
    robot = with_loop(scara, bandwidth=1.4)
    kept = Didim(fit_loop='never').estimate(robot, recorded[0])
    repaired = Didim().estimate(robot, recorded[0])
    assert any('does not reproduce the recorded positions' in line for line in kept.warnings)
    assert kept.extras['loop_contradicted']
    told = repaired.extras['estimated_loop']
    assert told['bandwidth'] == pytest.approx(scara.loop().bandwidth, rel=2e-3)
    remarks = [kept_loop(Case(robot, recorded[0], r, r.prediction)) for r in (kept, repaired)]
    assert [len(found) for found in remarks] == [1, 0]
    errors = [np.linalg.norm(r.values - scara.truth()) for r in (kept, repaired)]
    assert errors[0] > 10.0 * errors[1]


def test_the_measured_emps_agrees_with_its_loop_and_mends_a_wrong_one(shared):
    robot = load_robot('emps')
    measured = data.load(shared / 'data/emps/DATA_EMPS.mat', 'emps_benchmark', robot)
    best = Didim().estimate(robot, measured)
    assert best.warnings == ()
    repaired = Didim().estimate(with_loop(robot, bandwidth=1.3), measured)
    assert np.all(np.abs(repaired.values - best.values) < 2.0 * best.std)
