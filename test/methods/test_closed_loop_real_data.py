"""The methods that simulate the closed loop on measurements of EMPS and TX40."""

import numpy as np
import pytest
import yaml

from robot_id import data, dynamics
from robot_id.data.signals.processing import Processing
from robot_id.methods.closed_loop.didim import Didim
from robot_id.methods.closed_loop.idim_iv import IdimIv
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.robot import load_robot
from robot_id.tasks import record
from robot_id.tasks.validation import validate
from robot_id.trajectory.random import random_trajectory


@pytest.fixture(scope='module')
def emps_real(shared):
    robot = load_robot('emps')
    return robot, data.load(shared / 'data/emps/DATA_EMPS.mat', 'emps_benchmark', robot)


@pytest.mark.parametrize('method', [IdimIv, Didim])
def test_emps_from_unit_mass(emps_real, method):
    robot, measured = emps_real
    authors = Processing(cutoff_hz=100, decimation=10, border=49)
    ls = IdimWls(processing=authors).estimate(robot, measured)
    for options in ({}, {'processing': authors}):
        result = method(**options).estimate(robot, measured)
        assert result.converged
        assert result.iterations <= 4
        for name, percent in (('M1', 0.3), ('Fc1', 3.0), ('Fv1', 4.0)):
            assert abs(result[name] / ls[name] - 1.0) < percent / 100.0


def test_emps_closed_loop_simulation_beats_the_authors_figures(emps_real, shared):
    robot, measured = emps_real
    authors = Processing(cutoff_hz=100, decimation=10, border=49)
    result = Didim(processing=authors).estimate(robot, measured)
    figures = yaml.safe_load((shared / 'reference/emps_benchmark.yaml').read_text())
    printed = figures['closed_loop_simulation_percent']
    ours = validate(robot, result, measured).simulation
    assert ours['position'] <= printed['position']
    assert ours['velocity'] <= printed['velocity']
    assert ours['acceleration'] <= printed['acceleration']
    assert ours['torque'] <= printed['force']


def test_tx40_reaches_the_statistical_optimum_from_unit_rotors():
    robot = load_robot('tx40')
    motion = random_trajectory(robot.limits, 10.0, seed=0)
    assert np.all(motion.extremes().acceleration > 20.0)
    measured = record(robot, motion, seed=1)
    result = Didim(processing=Processing(decimation=100)).estimate(robot, measured)
    z = np.abs(result.values - robot.truth()) / result.std
    assert result.converged
    assert result.iterations <= 8
    assert np.mean(z < 2.0) >= 0.9
    assert z.max() < 4.0


def test_tx40_real_data_with_the_filtered_position_as_reference(shared):
    robot = load_robot('tx40')
    measured = data.load(shared / 'data/tx40', 'tx40_csv', robot)
    band = yaml.safe_load((shared / 'reference/tx40_measured.yaml').read_text())
    processing = Processing(cutoff_hz=100, decimation=100, rest_band=band['dead_band_rad_s'])
    wls = IdimWls(processing=processing).estimate(robot, measured)
    result = Didim(processing=processing).estimate(robot, measured)
    assert result.converged
    assert result.iterations <= 5
    assert result.relative_error_percent < wls.relative_error_percent + 3.0
    assert any('stands in' in line for line in result.warnings)
    q = measured.runs[0].position[::500]
    for step in result.history:
        assert dynamics.smallest_inertia_eigenvalue(robot, step.parameters, q) > 0.0


def test_didim_of_the_tx40_ends_with_default_options(shared):
    """Its steps went back and forth between two points for ever."""
    robot = load_robot('tx40')
    measured = data.load(shared / 'data/tx40', 'tx40_csv', robot)
    result = Didim().estimate(robot, measured)
    assert result.converged
    assert result.iterations < 10
