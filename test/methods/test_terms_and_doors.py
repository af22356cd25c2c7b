"""Every friction term goes through every door: a method fits it, or refuses it by name."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id import dynamics
from robot_id.control import tune
from robot_id.data import Dataset
from robot_id.exceptions import IdentificationError, OptionError
from robot_id.methods import registry
from robot_id.methods.recursive.settings import OnlineSettings
from robot_id.robot import load_robot
from robot_id.robot.friction.registry import TERMS
from robot_id.robot.friction.replacement import with_friction
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.learning_run import run_ilic
from robot_id.trajectory.random import random_trajectory

# Terms that are fitted beside each one.
BESIDE = {
    'coulomb': 'viscous', 'smooth_coulomb': 'viscous', 'asymmetric_coulomb': 'viscous',
    'asymmetric_viscous': 'coulomb', 'viscous': 'coulomb',
}  # fmt: skip
# A hundredth of what the EMPS has of its own friction, or so.
VALUES = {
    'Fq': 60.0, 'Fl': 0.05, 'Flv': 0.3, 'Fs': 5.0, 'Fc+': 22.0, 'Fc-': 18.0,
    'Fv+': 210.0, 'Fv-': 190.0, 'FvT': -2.0, 'FcT': -0.2, 'Off': 2.0,
}  # fmt: skip
# The slow ones have the filter or the simulation of another one.
METHODS = [
    name
    for name in registry.with_torques()
    if name not in ('clie', 'sr_ekf', 'ukf', 'cdkf', 'ckf')
]
MEASURED = ('idim_ols', 'idim_wls', 'idim_irls', 'idim_tls')


def plant(term):
    """Return an EMPS with a term, its parameters and the names of its terms."""
    base = load_robot('emps')
    terms = tuple(dict.fromkeys([*BESIDE.get(term, 'viscous,coulomb').split(','), term]))
    known = dict(zip(base.base.names, base.truth()))
    robot = with_friction(base, dict.fromkeys(base.joint_names, terms))

    def value(name):
        return known.get(name, VALUES.get(name.replace('1', ''), 0.0))

    chi = np.array([value(name) for name in robot.base.names])
    return robot.with_load(chi), chi, ','.join(terms)


def recorded(robot, chi):
    """Return two runs in the robot's loop; the second one is warmer, where that matters."""
    warm = any('temperature' in term for term in robot.description.joints[0].friction)
    runs = []
    for seed, celsius in enumerate((25.0, 45.0)):
        loop = robot.loop()
        reference = random_trajectory(robot.limits, 4.0).sampled(loop.rate_hz)
        there = robot.at_temperature(celsius) if warm else robot
        run = dynamics.simulate(there, chi, reference, tune(robot, loop, chi)).to_run()
        noise = np.random.default_rng(seed).normal(0, 0.2, run.torque.shape)
        heat = np.full(run.torque.shape, celsius) if warm else None
        runs.append(replace(run, torque=run.torque + noise, temperature=heat))
    return Dataset(robot.joint_names, tuple(runs))


@pytest.mark.parametrize('term', sorted(TERMS))
def test_every_method_fits_or_refuses(term):
    robot, chi, terms = plant(term)
    data, base = recorded(robot, chi), load_robot('emps')
    for method in METHODS:
        request = Request(base, data, method, friction=terms)
        if term.startswith('temperature') and method not in MEASURED:
            with pytest.raises(OptionError, match=f"method '{method}' cannot have temperature"):
                identify(request)
            continue
        if term.startswith('load') and method == 'integral':
            with pytest.raises(OptionError, match="'integral' cannot have load-dependent"):
                identify(request)
            continue
        found = identify(request).result
        assert found.names == robot.base.names
        error = found.relative_error_percent
        assert error < 1.0, f'{method} with {term}: {error} %'


@pytest.mark.parametrize('term', sorted(TERMS))
def test_learning_and_running_robots_have_the_term(term):
    robot, chi, _ = plant(term)
    motion = random_trajectory(robot.limits, 4.0)
    start = 0.7 * chi
    run = run_ilic(robot, chi, motion, 2, start=start)
    states = motion.sample(np.linspace(0.1, 3.9, 500))
    true = dynamics.inverse_dynamics(robot, chi, *states)
    learned = run.updates[-1].parameters
    before, after = (
        np.linalg.norm(dynamics.inverse_dynamics(robot, values, *states) - true)
        for values in (start, learned)
    )
    assert after < 0.2 * before
    data = recorded(robot, chi).runs[0]
    settings = OnlineSettings(held_torque=True, coulomb_slope=robot.description.coulomb_slope)
    if term.startswith('temperature'):
        with pytest.raises(OptionError, match='cannot be followed on-line'):
            settings.for_running_robot(robot, data.rate, 'rls', None, None)
        return
    identifier = settings.for_running_robot(robot, data.rate, 'rls', None, None)
    identifier.feed(data.position, data.torque)
    predicted = dynamics.inverse_dynamics(robot, identifier.estimate, *states)
    assert np.linalg.norm(predicted - true) < 0.02 * np.linalg.norm(true)


def test_a_recording_of_one_temperature_says_so():
    robot, chi, terms = plant('temperature_viscous')
    data = recorded(robot, chi)
    cold = Dataset(data.joint_names, data.runs[:1])
    with pytest.raises(IdentificationError, match='the temperature stays at its reference'):
        identify(Request(load_robot('emps'), cold, friction=terms))
    warm = Dataset(data.joint_names, data.runs[1:])
    with pytest.raises(IdentificationError, match='the temperature changes too little'):
        identify(Request(load_robot('emps'), warm, friction=terms))
