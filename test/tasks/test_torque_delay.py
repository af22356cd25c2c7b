"""Short delays of the torque, and what only looks like one."""

from dataclasses import replace

import numpy as np
import pytest

from robot_id.tasks.checks import check
from robot_id.tasks.checks.case import Case
from robot_id.tasks.checks.torque_delay import is_gone
from robot_id.tasks.recording import record


@pytest.fixture(scope='module')
def recording(scara):
    return record(scara, seed=3)


def changed(dataset, change):
    run = dataset.runs[0]
    return replace(dataset, runs=(replace(run, torque=change(run)),))


def late(run, samples):
    return np.concatenate([np.repeat(run.torque[:1], samples, 0), run.torque[:-samples]])


def with_springs(run, torque):
    """Add what no model has: torques that depend on the posture."""
    return torque + 0.15 * np.std(torque, axis=0) * np.sin(7.0 * run.position)


def test_a_short_delay_is_named_where_much_is_not_modelled(scara, recording):
    springs = changed(recording, lambda run: with_springs(run, run.torque))
    assert [finding.code for finding in check(scara, springs).findings] == []
    both = changed(recording, lambda run: with_springs(run, late(run, 3)))
    (finding,) = check(scara, both).findings
    assert finding.code == 'torque_delay'
    assert float(finding.fix.split()[1]) == pytest.approx(0.0125, abs=0.004)


def test_a_delay_is_gone_when_it_is_corrected_and_a_wrong_one_is_not(scara, recording):
    delayed = changed(recording, lambda run: late(run, 8))
    assert is_gone(Case(scara, delayed), 0.04)
    assert not is_gone(Case(scara, recording), 0.04)
