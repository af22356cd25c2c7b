"""One controller step: its torque, its limits, its updates, and what it refuses."""

from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest
from errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.control import ComputedTorque, tune
from robot_id.dynamics import Disturbances, Plant, simulate
from robot_id.exceptions import ControlError, OptionError
from robot_id.robot import load_robot
from robot_id.robot.friction import ROTOR, kind_of
from robot_id.trajectory import Reference, emps_cycle


def pinocchio_torque(robot, chi, q, dq, ddq, slope):
    """M(q) ddq + N(q, dq) of a robot from pinocchio, rotors and friction term by term."""
    A = robot.kinematics.expansion()
    chi_st = robot.representative(chi)
    model = robot.pinocchio_with(chi_st)
    body = pin.rnea(model, model.createData(), A @ q + robot.kinematics.offset, A @ dq, A @ ddq)
    tau = A.T @ body
    terms, values = robot.terms, chi_st[robot.term_index]
    for p, kind, row, gain, c in zip(
        terms.parameter, terms.kind, terms.row, terms.gain, terms.direction
    ):
        f = {
            ROTOR: c @ ddq,
            kind_of('viscous'): c @ dq,
            kind_of('coulomb'): 2 / np.pi * np.arctan(slope * (c @ dq)),
            kind_of('offset'): 1.0,
        }[int(kind)]
        tau[row] += values[p] * gain * f
    return tau


@pytest.mark.parametrize('measured', [False, True])
@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_torque_is_the_law_of_the_paper_by_pinocchio(name, measured):
    robot = load_robot(name)
    chi = robot.truth()
    controller = ComputedTorque(robot, chi, measured=measured, torque_limit=1e9)
    wn, zeta = np.array(controller.loop.bandwidth), np.array(controller.loop.damping)
    rng = np.random.default_rng(1)
    before = rng.normal(0, 0.1, robot.n)
    controller.reset(before)
    for _ in range(20):
        q = before + rng.normal(0, 1e-3, robot.n)
        qr = q + rng.normal(0, 1e-2, robot.n)
        dqr, ddqr = rng.normal(0, 1, robot.n), rng.normal(0, 5, robot.n)
        dq = (q - before) * controller.loop.rate_hz
        w = wn**2 * (qr - q) + 2 * zeta * wn * (dqr - dq) + ddqr
        slope = robot.description.coulomb_slope
        at = (q, dq) if measured else (qr, dqr)
        expected = pinocchio_torque(robot, chi, *at, w, slope)
        tau = controller.step(q, qr, dqr, ddqr)
        np.testing.assert_allclose(tau, expected, rtol=1e-9, atol=1e-9 * abs(expected).max())
        before = q


@pytest.mark.parametrize('measured', [False, True])
def test_plant_in_chunks_is_one_long_simulation(scara, fourier_cycle, measured):
    trajectory = fourier_cycle(scara, 2.0)
    controller = tune(scara, scara.loop('learning'), scara.a_priori(), measured=measured)
    reference = trajectory.sampled(controller.rate_hz)
    d = Disturbances(
        encoder_step=np.full(2, 1e-5), changes=((0.7, 1.1 * scara.truth()),),
        external=0.1 * np.random.default_rng(0).normal(size=(len(reference), 2)),
    )  # fmt: skip
    whole = simulate(scara, scara.truth(), reference, controller, disturbances=d)
    own = ComputedTorque(scara, measured=measured)
    own.reset(reference.position[0], reference.velocity[0])
    plant = Plant(
        scara, scara.truth(), reference.position[0], reference.velocity[0],
        rate_hz=controller.rate_hz, disturbances=d,
    )  # fmt: skip
    at = 0
    for size in (2, 500, 311, len(reference) - 813):
        part = slice(at, at + size)
        chunk = Reference(*(getattr(reference, f)[part] for f in reference.__dataclass_fields__))
        got = plant.run(own, chunk)
        for field in ('position', 'velocity', 'acceleration', 'torque', 'measured_position'):
            scale = abs(getattr(whole, field)).max()
            np.testing.assert_allclose(
                getattr(got, field), getattr(whole, field)[part], atol=1e-11 * scale
            )
        at += size


def test_noise_does_not_depend_on_the_chunks(emps):
    reference = emps_cycle().sampled(1000.0)
    d = Disturbances(position_std=np.array([1e-6]), torque_std=np.array([1.0]), seed=4)
    records = []
    for cuts in ([0, len(reference)], [0, 17, 3000, len(reference)]):
        controller = ComputedTorque(emps)
        plant = Plant(emps, emps.truth(), [0.0], rate_hz=1000.0, disturbances=d)
        parts = [
            plant.run(controller, Reference(*(getattr(reference, f)[a:b] for f in
                                              reference.__dataclass_fields__)))
            for a, b in pairwise(cuts)
        ]  # fmt: skip
        records.append([np.concatenate([p.measured_torque for p in parts]),
                        np.concatenate([p.measured_position for p in parts])])  # fmt: skip
    np.testing.assert_array_equal(records[0][0], records[1][0])
    np.testing.assert_array_equal(records[0][1], records[1][1])


def test_exact_model_gives_the_error_equation_of_the_paper(emps):
    """Eq. 14: e'' + Kv e' + Kp e = 0 in closed form, with a fast enough controller."""
    loop = emps.loop('learning').model_copy(update={'rate_hz': 20000.0})
    chi = emps.truth()
    chi[emps.base.index('Fc1')] = chi[emps.base.index('Fv1')] = 0.0
    controller = ComputedTorque(emps, chi, loop)
    e0 = 1e-4
    controller.reset([0.1 - e0])
    plant = Plant(emps, chi, [0.1 - e0], rate_hz=20000.0)
    t = np.arange(2000) / 20000.0
    still = np.zeros((2000, 1))
    e = 0.1 - plant.run(controller, Reference(t, still + 0.1, still, still)).position[:, 0]
    wn, zeta = loop.bandwidth[0], loop.damping[0]
    wd = wn * np.sqrt(1 - zeta**2)
    closed = e0 * np.exp(-zeta * wn * t) * (np.cos(wd * t) + zeta * wn / wd * np.sin(wd * t))
    assert abs(e - closed).max() < 0.01 * e0


def test_integral_removes_a_constant_force_and_does_not_wind_up(emps):
    """Held at its limit for 1 s or for 10 s, the loop comes back in the same way."""
    chi = emps.truth()
    peaks = []
    for held in (1.0, 10.0):
        controller = ComputedTorque(emps, chi, integral=20.0, torque_limit=100.0)
        controller.reset([0.0])
        samples = round(1000 * (held + 3.0))
        external = np.full((samples, 1), -50.0)
        external[: round(1000 * held)] = -150.0
        plant = Plant(
            emps, chi, [0.0], rate_hz=1000.0, largest_error=np.inf,
            disturbances=Disturbances(external=external),
        )  # fmt: skip
        # The stop of the axis: the position is put back while the force is too large.
        still = np.zeros((1000, 1))
        for _ in range(round(held)):
            run = plant.run(controller, Reference(np.arange(1000) / 1000, still, still, still))
            plant.position[:] = -0.01
            plant.velocity[:] = 0.0
            assert np.all(np.abs(run.torque) <= 100.0)
        reference = Reference(np.arange(3000) / 1000, *(np.zeros((3000, 1)) for _ in range(3)))
        after = plant.run(controller, reference)
        peaks.append(after.position.max())
        assert abs(after.position[-1]) < 1e-7
    assert peaks[1] == pytest.approx(peaks[0], rel=0.05)
    assert peaks[1] < 0.01


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.floats(0.0, 0.1), st.floats(0.2, 20.0))
def test_update_never_jumps_and_arrives(seed, blend_s, jump):
    """Against twins that keep the old and the new parameters, sample by sample."""
    robot = load_robot_once('scara')
    rng = np.random.default_rng(seed)
    old = robot.truth() * rng.uniform(0.5, 1.5, 8)
    new = robot.truth() * rng.uniform(0.5, 1.5, 8)
    options = {'torque_limit': 1e9, 'torque_jump': jump, 'blend_s': blend_s}
    twins = [ComputedTorque(robot, chi, **options) for chi in (old, new, old)]
    blended = twins[2]
    blended.set_parameters(new)
    share = 0.0
    q, dq, ddq = rng.normal(0, 0.1, (3, 2))
    for k in range(2000):
        x = (q + 1e-3 * np.sin(k), q, dq, ddq)
        a, b, tau = (twin.step(*x) for twin in twins)
        j = int(np.argmax(abs(b - a)))
        moved = (tau - a)[j] / (b - a)[j] - share
        np.testing.assert_allclose(tau, a + (share + moved) * (b - a), rtol=1e-6, atol=1e-9)
        assert np.all(moved * abs(b - a) <= jump * (1 + 1e-6) + 1e-9)
        assert moved <= max(1e-3 / blend_s if blend_s > 1e-3 else 1.0, 1e-3) + 1e-9
        share += moved
        if not blended.blending:
            break
    assert share == pytest.approx(1.0)
    np.testing.assert_array_equal(blended.parameters, new)


def test_update_in_the_middle_of_an_update_goes_on_from_there(scara):
    controller = ComputedTorque(scara, scara.a_priori(), blend_s=0.1)
    still = np.zeros(2)
    controller.set_parameters(scara.truth())
    for _ in range(40):
        controller.step(still, still, still, still)
    half = controller.parameters
    np.testing.assert_allclose(half, scara.a_priori() + 0.4 * (scara.truth() - scara.a_priori()))
    controller.set_parameters(scara.a_priori())
    np.testing.assert_allclose(controller.parameters, half)


def test_first_sample_moves_as_its_reference(emps):
    controller = ComputedTorque(emps)
    tau = controller.step([0.1], [0.1], [0.3], [0.0])
    np.testing.assert_allclose(tau, 0.0, atol=1e-9)


def test_elapsed_time_enters_the_velocity(emps):
    controller = ComputedTorque(emps)
    controller.step([0.0], [0.0], [0.0], [0.0])
    tau = controller.step([0.002], [0.002], [1.0], [0.0], elapsed=0.002)
    np.testing.assert_allclose(tau, 0.0, atol=1e-6)


def test_bad_samples_are_refused_by_name_and_change_nothing(tx40):
    controller = ComputedTorque(tx40)
    ok = np.zeros(6)
    controller.step(ok, ok, ok, ok)
    bad = np.array([0, 0, np.nan, 0, 0, 0])
    before = [x.copy() for x in controller.memory]
    with refused(ControlError, joint='joint_3'):
        controller.step(bad, ok, ok, ok)
    with refused(ControlError, joint='joint_3'):
        controller.step(ok, ok, bad, ok)
    with refused(ControlError, code='shape'):
        controller.step(ok, ok[:5], ok, ok)
    with refused(ControlError, code='not_positive'):
        controller.step(ok, ok, ok, ok, elapsed=0.0)
    for x, y in zip(before, controller.memory):
        np.testing.assert_array_equal(x, y)


def test_bad_set_ups_are_refused(emps, scara):
    with refused(ControlError, code='wrong_law'):
        ComputedTorque(emps, loop='default')
    with refused(ControlError, code='parameter_count'):
        ComputedTorque(emps, [1, 2, 3])
    with refused(ControlError, code='not_finite'):
        ComputedTorque(emps, [95, np.nan, 0, 0])
    with refused(ControlError, code='not_positive'):
        ComputedTorque(emps, torque_limit=0.0)
    with refused(ControlError, code='joint_count'):
        ComputedTorque(emps, torque_jump=[1.0, 2.0])
    with pytest.raises(OptionError, match='integral must be a number from 0 to 1000, got -1'):
        ComputedTorque(emps, integral=-1.0)
    with refused(ControlError, code='not_positive_definite'):
        ComputedTorque(scara, np.zeros(8)).check_inertia([[0.0, 0.0]])


_robots = {}


def load_robot_once(name):
    if name not in _robots:
        _robots[name] = load_robot(name)
    return _robots[name]
