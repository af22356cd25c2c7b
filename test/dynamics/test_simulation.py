"""The closed-loop simulator: identities it must keep, and how it fails."""

from dataclasses import replace

import numpy as np
import pytest
from errors import refused
from scipy.integrate import solve_ivp

from robot_id import dynamics
from robot_id.control import loop_inertia, tune
from robot_id.control.laws.pd import Pd
from robot_id.dynamics import Controller, Disturbances, simulate, simulate_many
from robot_id.exceptions import SimulationError
from robot_id.robot import load_robot
from robot_id.trajectory import Reference
from robot_id.trajectory.random import random_trajectory


def motion(robot, loop='default', seconds=2.0, share=0.6, seed=2):
    settings = robot.loop(loop)
    return random_trajectory(robot.limits, seconds, seed, share).sampled(
        settings.rate_hz
    ), settings


@pytest.mark.parametrize('loop', ['default', 'learning'])
@pytest.mark.parametrize('name', ['emps', 'scara', 'tx40'])
def test_records_satisfy_the_inverse_model(name, loop):
    robot = load_robot(name)
    reference, settings = motion(robot, loop)
    run = simulate(robot, robot.truth(), reference, tune(robot, settings))
    tau = dynamics.inverse_dynamics(
        robot,
        robot.truth(),
        run.position,
        run.velocity,
        run.acceleration,
        robot.description.coulomb_slope,
    )
    assert np.abs(tau - run.torque).max() < 1e-9 * np.abs(run.torque).max()


def test_scara_against_an_independent_integrator():
    robot = load_robot('scara')
    reference, settings = motion(robot, seconds=1.0)
    run = simulate(robot, robot.truth(), reference, tune(robot, settings), substeps=20)
    slope, state = robot.description.coulomb_slope, np.zeros(4)
    state[:2], state[2:] = reference.position[0], reference.velocity[0]
    for k in range(60):

        def rate(_, x, tau=run.torque[k]):
            return np.concatenate(
                [x[2:], dynamics.direct_dynamics(robot, robot.truth(), x[:2], x[2:], tau, slope)]
            )

        state = solve_ivp(rate, (0, reference.step), state, rtol=1e-10, atol=1e-12).y[:, -1]
        assert np.allclose(state[:2], run.position[k + 1], atol=1e-7)


def test_power_balance_of_a_free_swing():
    """Energy at the end = energy at the start - what friction took, no torque applied."""
    robot = load_robot('scara')
    still = Reference(np.arange(401) / 200, *(np.zeros((401, 2)) for _ in range(3)))
    idle = Controller(Pd(), np.zeros(2), np.zeros(2), 200.0, np.full(2, np.inf))
    start = (np.array([0.3, -1.0]), np.array([1.5, -4.0]))
    run = simulate(robot, robot.truth(), still, idle, initial=start, largest_error=1e3)
    M = dynamics.inertia_matrix(robot, robot.truth(), run.position)
    energy = 0.5 * np.einsum('ki,kij,kj->k', run.velocity, M, run.velocity)
    zero = np.zeros_like(run.position)
    slope = robot.description.coulomb_slope
    chi = robot.truth() * np.array([n.startswith('F') for n in robot.base.names])
    friction = dynamics.bias(robot, chi, zero, run.velocity, slope)
    power = np.einsum('ki,ki->k', friction, run.velocity)
    lost = np.sum(0.5 * (power[1:] + power[:-1])) / 200.0
    assert np.all(power >= 0.0)
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=2e-3)


def test_a_stiff_loop_tracks_and_a_softer_one_tracks_worse():
    robot = load_robot('tx40')
    reference, settings = motion(robot, 'one_khz')
    errors = [
        np.abs(run.position - reference.position).max()
        for run in (
            simulate(robot, robot.truth(), reference, tune(robot, settings, bandwidth_factor=f))
            for f in (1.0, 0.5)
        )
    ]
    assert errors[0] < 0.01
    assert errors[1] > 2.0 * errors[0]


def test_gains_keep_the_bandwidth_when_the_estimate_changes():
    """Eq. 46 of paper 000: kp stays, kv follows J."""
    robot = load_robot('scara')
    chi = robot.truth()
    one, two = (tune(robot, robot.loop(), c) for c in (chi, 3.0 * chi))
    assert np.array_equal(one.kp, two.kp)
    assert np.allclose(two.kv, 3.0 * one.kv)
    # J of the paper: ZZ1R + ZZ2R + 2 LMX2 and ZZ2R, found on configurations instead of by hand.
    value = dict(zip(robot.base.names, chi))
    J1 = value['ZZ1R'] + value['ZZ2R'] + 2.0 * value['LMX2']
    assert loop_inertia(robot, chi) == pytest.approx([J1, value['ZZ2R']], rel=2e-3)


def test_noise_is_repeatable_and_measured_positions_are_on_encoder_steps():
    robot = load_robot('scara')
    reference, settings = motion(robot)
    runs = [
        simulate(
            robot,
            robot.truth(),
            reference,
            tune(robot, settings),
            disturbances=Disturbances.of_robot(robot, seed),
        )
        for seed in (7, 7, 8)
    ]
    assert np.array_equal(runs[0].measured_torque, runs[1].measured_torque)
    assert not np.array_equal(runs[0].measured_torque, runs[2].measured_torque)
    step = np.array(robot.description.noise.encoder_step)
    for run in runs:
        counts = (run.measured_position - run.measured_position[0]) / step
        assert np.allclose(counts, np.round(counts), atol=1e-6)
        assert np.all(np.abs(run.measured_position - run.position) <= 0.5 * step + 1e-12)
    # Each seed has its own grid, against which the same reference moves.
    moved = (runs[2].measured_position[0] - runs[0].measured_position[0]) / step
    assert np.all(np.abs(moved - np.round(moved)) > 1e-3)


def test_payload_change_and_external_pulse_act_when_they_should():
    robot = load_robot('emps')
    reference, settings = motion(robot)
    heavier = robot.truth() + np.array([10.0, 0.0, 0.0, 0.0])
    plain = simulate(robot, robot.truth(), reference, tune(robot, settings))
    changed = simulate(
        robot,
        robot.truth(),
        reference,
        tune(robot, settings),
        disturbances=Disturbances(changes=((1.0, heavier),)),
    )
    assert np.array_equal(plain.position[:1001], changed.position[:1001])
    assert np.abs(plain.position - changed.position)[1001:].max() > 1e-6
    pulse = np.zeros_like(reference.position)
    pulse[500:520] = 50.0
    hit = simulate(
        robot,
        robot.truth(),
        reference,
        tune(robot, settings),
        disturbances=Disturbances(external=pulse),
    )
    assert np.array_equal(plain.position[:501], hit.position[:501])
    assert np.abs(plain.position - hit.position)[501:600].max() > 1e-5


def test_torque_is_saturated_at_the_limit():
    robot = load_robot('emps')
    reference, settings = motion(robot)
    controller = replace(tune(robot, settings), torque_limit=np.array([60.0]))
    run = simulate(robot, robot.truth(), reference, controller, largest_error=10.0)
    assert np.abs(run.torque).max() == 60.0


def test_many_parameters_side_by_side_equal_one_by_one():
    robot = load_robot('scara')
    reference, settings = motion(robot)
    sets = [robot.truth() * f for f in (0.9, 1.0, 1.1)]
    laws = [tune(robot, settings, chi) for chi in sets]
    bad = [*sets, -robot.truth()]
    together = simulate_many(robot, bad, reference, [*laws, laws[0]])
    for chi, law, run in zip(sets, laws, together):
        alone = simulate(robot, chi, reference, law)
        assert np.array_equal(alone.position, run.position)
    assert isinstance(together[-1], SimulationError)


def test_divergence_names_the_time_and_the_joint():
    robot = load_robot('scara')
    reference, settings = motion(robot)
    wild = replace(tune(robot, settings), kv=-tune(robot, settings).kv)
    with refused(SimulationError, code='diverged', joint='elbow'):
        simulate(robot, robot.truth(), reference, wild)
    with refused(SimulationError, code='diverged'):
        simulate(robot, -robot.truth(), reference, tune(robot, settings))
    with refused(SimulationError, code='wrong_rate'):
        simulate(robot, robot.truth(), reference, replace(wild, rate_hz=1000.0))


def test_sensitivities_against_finite_differences():
    robot = load_robot('scara')
    settings = robot.loop('default')
    reference = random_trajectory(robot.limits, 4.0, 1, 0.5).sampled(2000.0)
    law = replace(tune(robot, settings), rate_hz=2000.0)
    chi, slope = robot.truth(), 30.0
    run = simulate(robot, chi, reference, law, coulomb_slope=slope)
    from robot_id.dynamics.simulation.sensitivity import loop_sensitivities

    S, T = loop_sensitivities(
        robot,
        chi,
        run.position,
        run.velocity,
        run.acceleration,
        reference.step,
        (law.kp * law.kv, law.kv),
        0.0,
        slope,
    )
    for i in range(len(chi)):
        h = 1e-4 * max(abs(chi[i]), 0.01)
        up, down = chi.copy(), chi.copy()
        up[i] += h
        down[i] -= h
        a = simulate(robot, up, reference, law, coulomb_slope=slope)
        b = simulate(robot, down, reference, law, coulomb_slope=slope)
        for exact, x, y in ((S, a.position, b.position), (T, a.torque, b.torque)):
            difference = (x - y) / (2 * h)
            assert np.linalg.norm(exact[:, :, i] - difference) < 0.03 * np.linalg.norm(difference)
