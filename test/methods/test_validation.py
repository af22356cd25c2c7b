"""Validation on data that the fit has not seen, and results that survive their file."""

import json

import numpy as np
import pytest

from robot_id.exceptions import DataError, OptionError
from robot_id.methods import Result, registry
from robot_id.methods.parameters import parameters_for
from robot_id.tasks.validation import Conditions, validate

OPTIONS = {'cutoff_hz': 60.0, 'decimation': 5, 'coulomb_slope': 500.0}


@pytest.fixture(scope='module')
def fitted(robots, simulate):
    robot = robots['scara']
    return robot, registry.create('idim_wls', OPTIONS).estimate(robot, simulate(robot))


def test_the_error_on_other_data_is_that_of_the_noise(fitted, simulate):
    robot, result = fitted
    other = simulate(robot, seed=9, amplitude=0.3, slope=500.0)
    validation = validate(robot, result, other)
    # 2 % of white torque noise, of which the decimation filter passes 0.8 / 5.
    assert validation.torque_relative_error_percent == pytest.approx(2 * np.sqrt(0.16), rel=0.2)
    assert len(validation.per_joint) == 2
    written = json.loads(json.dumps(validation.to_dict(), allow_nan=False))
    assert written['schema'] == 1
    assert written['per_joint'] == pytest.approx(validation.per_joint)


def test_wrong_parameters_show(fitted, simulate):
    robot, result = fitted
    data = simulate(robot, seed=9)
    good = validate(robot, result, data).torque_relative_error_percent
    wrong = Result.from_dict(
        result.to_dict()
        | {'parameters': [p | {'value': 1.2 * p['value']} for p in result.to_dict()['parameters']]}
    )
    bad = validate(robot, wrong, data).torque_relative_error_percent
    assert bad == pytest.approx(20.0, rel=0.05)
    assert bad > 10 * good


def test_conditions_of_the_identification_are_taken_over(fitted):
    _, result = fitted
    same = Conditions.of(result, 500.0)
    assert same.processing.cutoff_hz == 60.0
    assert same.processing.decimation == 5
    assert same.coulomb_slope == 500.0
    # At another rate what counts samples is derived anew, what counts in Hz stays.
    other = Conditions.of(result, 2000.0)
    assert other.processing.cutoff_hz == 60.0
    assert other.processing.decimation is None
    assert other.processing.border is None
    assert Conditions.of(result, 500.0, {'decimation': '8'}).processing.decimation == 8
    with pytest.raises(OptionError, match="no option 'loss'"):
        Conditions.of(result, 500.0, {'loss': 'huber'})


def test_a_result_survives_its_file_and_is_strict_json(fitted, tmp_path):
    robot, result = fitted
    file = tmp_path / 'r.json'
    result.save(file)
    json.loads(file.read_text(), parse_constant=lambda word: pytest.fail(f'{word} in the JSON'))
    loaded = Result.load(file)
    np.testing.assert_array_equal(loaded.values, result.values)
    np.testing.assert_array_equal(loaded.covariance, result.covariance)
    assert loaded.options == result.options
    assert loaded.extras == result.extras
    again = registry.create('idim_wls', loaded.options)
    assert again.processing.decimation == 5
    np.testing.assert_array_equal(parameters_for(robot, loaded), result.values)


def test_infinite_numbers_of_a_result_become_null(tmp_path):
    result = Result(
        'r', 'm', ('a',), np.array([0.0]), np.array([[np.nan]]),
        extras={'deep': [{'x': np.inf}], 'n': 3}, options={'memory_mb': np.inf},
    )  # fmt: skip
    written = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert written['extras'] == {'deep': [{'x': None}], 'n': 3}
    assert written['options'] == {'memory_mb': None}


def test_parameters_of_another_robot_are_refused(fitted, robots):
    _, result = fitted
    with pytest.raises(DataError, match="do not fit robot 'tx40'"):
        parameters_for(robots['tx40'], result)
