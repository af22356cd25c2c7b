"""What the terminal and the page say: no number that is none, nothing left out that is in."""

import io

import numpy as np
from rich.console import Console

from robot_id.excitation.deviations import Deviations
from robot_id.methods.result import Result
from robot_id.regression.rows.prediction import PredictedRun, Prediction
from robot_id.report.html.page import title_and_lead
from robot_id.report.html.parameters import parameter_section, residual_section
from robot_id.report.tables import not_excited, parameter_table, result_lines
from robot_id.robot import load_robot
from robot_id.tasks.friction.preparation import selection_lines


def result(**more):
    robot = load_robot('scara')
    values = robot.truth().copy()
    values[0] = 0.0
    flags = np.arange(len(values)) > 1
    return robot, Result(
        'scara', 'idim_wls', robot.base.names, values, np.eye(len(values)), essential=flags, **more
    )


def test_parameters_that_a_motion_does_not_excite_are_counted_with_a_remedy():
    names = tuple(f'p{k}' for k in range(12))
    known = Deviations(names, np.ones(12), np.array([np.inf] * 10 + [0.1, 0.2]))
    (line,) = not_excited(known)
    assert line.startswith('10 of 12 parameters are not excited')
    assert 'longer' in line
    assert not_excited(Deviations(names[:1], np.ones(1), np.ones(1))) == []


def test_only_what_is_left_out_is_called_so():
    page = parameter_section(*result())
    assert page.count('left out') == 1
    assert page.count('not essential') == 1


def test_samples_at_rest_are_mentioned_only_where_some_are_left_out():
    values, used = np.zeros((400, 2)), np.ones((400, 2), bool)
    for rest in (False, True):
        used[:20, 1] = not rest
        prediction = Prediction(
            ('a', 'b'), (PredictedRun(np.arange(400.0), values, values, used),)
        )
        assert ('rest band' in title_and_lead(result()[1], prediction)[1]) == rest


def test_standard_deviations_are_called_too_small_only_where_they_are_classical():
    noise = np.cumsum(np.random.default_rng(0).normal(size=(400, 2)), axis=0)
    run = PredictedRun(np.arange(400.0), noise, np.zeros_like(noise), np.ones((400, 2), bool))
    prediction = Prediction(('shoulder', 'elbow'), (run,))
    robust = residual_section(
        prediction, result(options={'deviations': 'robust'})[1], ('N.m', 'N.m')
    )
    classical = residual_section(
        prediction, result(options={'deviations': 'classical'})[1], ('N.m', 'N.m')
    )
    assert 'too small' not in robust
    assert 'too small' in classical


def test_one_training_error_is_printed():
    reduced = {'removed': ['a'], 'values': {'b': 1.0}, 'relative_error_percent': 3.25,
               'full_relative_error_percent': 3.125}  # fmt: skip
    lines = result_lines(result(relative_error_percent=3.0, extras={'reduced': reduced})[1])
    text = '\n'.join(lines)
    assert 'training error 3 %' in text
    assert '3.125' not in text
    assert 'by 0.12 %' in text


def test_the_chosen_friction_is_named_as_chosen():
    rows = [
        {'terms': terms, 'fit_percent': 1.0, 'cross_validated_percent': 1.0, 'gain_percent': None,
         'gain_error_percent': None, 'remark': ''}
        for terms in (['viscous'], ['viscous', 'coulomb'], ['viscous', 'coulomb', 'load'])
    ]  # fmt: skip
    chosen = {'blocks': 'x', 'candidates': rows, 'terms': ['viscous', 'coulomb'], 'reason': 'r'}
    marked = [line for line in selection_lines({'selection': chosen}) if 'chosen' in line]
    assert [line.endswith('<- chosen') for line in marked] == [True, False]
    assert marked[0].startswith('  viscous, coulomb:')


def test_one_stribeck_velocity_is_chosen_and_each_is_named():
    rows = [
        {'terms': ['stribeck'], 'fit_percent': 1.0, 'cross_validated_percent': 1.0,
         'gain_percent': gain, 'gain_error_percent': 1.0, 'remark': '', 'share': share}
        for share, gain in ((0.02, 6.0), (0.06, 9.0), (0.15, -3.0))
    ]  # fmt: skip
    chosen = {'blocks': 'x', 'candidates': rows, 'terms': ['stribeck'], 'reason': 'r'}
    lines = selection_lines({'selection': chosen})[1:-1]
    assert len(set(lines)) == 3
    assert [line.endswith('<- chosen') for line in lines] == [False, True, False]
    assert '6 % of the top speed' in lines[1]


def test_no_number_of_a_table_is_cut_on_a_narrow_terminal():
    from robot_id.cli.console import print_whole

    stream = io.StringIO()
    _, found = result()
    print_whole(Console(file=stream, width=30), parameter_table(found))
    assert '…' not in stream.getvalue()
    assert all(f'{value:.5g}' in stream.getvalue() for value in found.values)
