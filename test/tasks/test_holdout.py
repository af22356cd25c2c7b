"""The error on the part of the motion that a fit has not seen."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id.robot import load_robot
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.recording import record


@pytest.mark.parametrize('method', ['idim_wls', 'didim'])
def test_torques_that_are_recorded_late_are_judged_at_the_time_that_was_found(method):
    scara = load_robot('scara')
    straight = record(scara, seed=1)
    run, samples = straight.runs[0], 4
    torque = np.concatenate([np.repeat(run.torque[:1], samples, 0), run.torque[:-samples]])
    late = replace(straight, runs=(replace(run, torque=torque),))
    first, second = (
        identify(Request(scara, data, method, check=False)).result for data in (straight, late)
    )
    # The offset belongs to the model: without it the error would be that of the delay.
    assert second.holdout_error_percent < 1.3 * first.holdout_error_percent
    assert second.verdict == first.verdict == 'usable', second.reasons


def test_a_hold_out_that_filters_left_too_little_for_is_replaced_by_the_rows():
    """Rows of 0.8 s: of blocks between others little is left, and a fit to that is no judge."""
    scara = load_robot('scara')
    data = record(scara, seed=1)
    options = {'decimation': 160}
    found = identify(Request(scara, data, options=options, check=False))
    assert found.holdout is None
    assert any('too few equations' in note for note in found.result.extras['data_notes'])
    error, training = found.result.holdout_error_percent, found.result.relative_error_percent
    assert training < error < 3.0 * training
