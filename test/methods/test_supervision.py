"""Identifiability supervision on model functions whose excitation is known."""

import numpy as np
import pytest

from robot_id.exceptions import OptionError
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.recursive_iv import RecursiveInstrumentalVariables
from robot_id.methods.recursive.recursive_ls import RecursiveLeastSquares
from robot_id.methods.recursive.supervision import CheapRule, EigenvalueRule

NAMES = ('a', 'b', 'c')
TRUTH = np.array([2.0, -1.0, 0.5])
START = np.array([1.0, -0.6, 0.8])
RULES = [EigenvalueRule(), CheapRule()]


def functions(N, quiet):
    """Three model functions at 1 kHz; the third is zero for the first `quiet` samples."""
    t = np.arange(N) * 1e-3
    W = np.stack([np.sin(5 * t), np.cos(7 * t), np.sin(11 * t + 1)], axis=1)
    W[:quiet, 2] = 0.0
    return W[:, None, :]


def torque(W, chi, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    return W @ chi + noise * rng.standard_normal(W.shape[:2])


def estimator(rule, cls=RecursiveLeastSquares, samples=1000.0, **options):
    return cls(
        NAMES,
        start=START,
        scale=np.abs(TRUTH),
        memory=Memory('exponential', samples),
        supervisor=rule,
        period=20,
        **options,
    )


@pytest.mark.parametrize('rule', RULES, ids=['eigenvalue', 'cheap'])
@pytest.mark.parametrize('noise_in_function', [0.0, 1e-4])
def test_unexcited_parameter_holds_then_converges(rule, noise_in_function):
    W = functions(12000, 8000)
    y = torque(W, TRUTH)
    rng = np.random.default_rng(1)
    W = W + noise_in_function * rng.standard_normal(W.shape)
    rls = estimator(rule)
    for k in range(8000):
        rls.update(W[k], y[k])
        assert abs(rls.estimate[2] - START[2]) < 1e-6
    assert np.allclose(rls.estimate[:2], TRUTH[:2], rtol=0.02)
    status = rls.status()
    assert status.frozen == ('c',)
    assert 'not excited' in status.parameters[2].reason
    assert np.isnan(status.parameters[2].std)
    rls.update(W[8000:], y[8000:])
    assert rls.status().live == NAMES
    assert np.allclose(rls.estimate, TRUTH, rtol=0.05)


def test_it_drifts_without_supervision():
    W = functions(8000, 8000)
    y = torque(W, TRUTH)
    W = W + 3e-4 * np.random.default_rng(1).standard_normal(W.shape)
    rls = RecursiveLeastSquares(
        NAMES, start=START, initial_std=1.0, memory=Memory('exponential', 1000)
    )
    track = []
    for k in range(8000):
        rls.update(W[k], y[k])
        track.append(rls.estimate[2])
    assert np.max(np.abs(np.array(track) - START[2])) > 0.3


def test_collinear_pair_freezes_one():
    W = functions(4000, 0)
    W[:, :, 1] = 0.5 * W[:, :, 0]
    y = torque(W, TRUTH)
    rls = estimator(CheapRule())
    rls.update(W, y)
    status = rls.status()
    assert len(status.frozen) == 1
    frozen = NAMES.index(status.frozen[0])
    assert frozen in (0, 1)
    assert rls.estimate[frozen] == START[frozen]
    assert 'proportional' in status.parameters[frozen].reason
    prediction = W.reshape(-1, 3) @ rls.estimate
    assert np.allclose(prediction, (W @ TRUTH).ravel(), atol=0.05)


def test_eigenvalue_rule_moves_the_combination_only():
    W = functions(4000, 0)
    W[:, :, 1] = 2.0 * W[:, :, 0]
    y = torque(W, TRUTH)
    rls = estimator(EigenvalueRule())
    rls.update(W, y)
    status = rls.status()
    assert status.partial == ('a', 'b')
    assert status.live == ('c',)
    assert 'together with b' in status.parameters[0].reason
    scale = np.abs(TRUTH)
    moved = (rls.estimate - START) / scale
    null = np.array([-2.0 / scale[0], 1.0 / scale[1]])
    assert abs(moved[:2] @ null) < 1e-6 * np.linalg.norm(null)
    assert np.allclose(W.reshape(-1, 3) @ rls.estimate, (W @ TRUTH).ravel(), atol=0.05)


def test_dependency_of_three_functions_suspends_the_cheap_rule():
    W = functions(4000, 0)
    W[:, :, 2] = W[:, :, 0] + W[:, :, 1]
    rls = estimator(CheapRule())
    rls.update(W, torque(W, TRUTH))
    status = rls.status()
    assert status.suspended
    assert 'condition number' in status.parameters[0].reason
    held = rls.estimate
    rls.update(W, torque(W, TRUTH, seed=5))
    assert np.array_equal(rls.estimate, held)


@pytest.mark.parametrize('rule', RULES, ids=['eigenvalue', 'cheap'])
@pytest.mark.parametrize('kind', ['window', 'exponential'])
def test_payload_step_is_followed_within_the_window(rule, kind):
    W = functions(6000, 0)
    loaded = TRUTH + np.array([1.0, 0.0, 0.0])
    y = torque(W, TRUTH)
    y[3000:] = torque(W, loaded, seed=2)[3000:]
    rls = RecursiveLeastSquares(
        NAMES,
        start=START,
        scale=np.abs(TRUTH),
        memory=Memory(kind, 500),
        supervisor=rule,
        period=20,
    )
    rls.update(W[:3000], y[:3000])
    assert np.allclose(rls.estimate, TRUTH, rtol=0.05)
    within = 560 if kind == 'window' else 2500  # window + one block; five time constants
    rls.update(W[3000 : 3000 + within], y[3000 : 3000 + within])
    assert np.allclose(rls.estimate, loaded, rtol=0.05)


@pytest.mark.parametrize('rule', RULES, ids=['eigenvalue', 'cheap'])
def test_everything_holds_when_the_robot_stops(rule):
    W = functions(3000, 0)
    y = torque(W, TRUTH)
    rls = estimator(rule, samples=300)
    rls.update(W, y)
    rng = np.random.default_rng(3)
    rls.update(1e-6 * rng.standard_normal((20000, 1, 3)), 0.05 * rng.standard_normal((20000, 1)))
    status = rls.status()
    assert status.frozen == NAMES
    assert status.suspended
    assert np.allclose(rls.estimate, TRUTH, rtol=0.15)  # the bound was 10 %
    held = rls.estimate
    rls.update(np.zeros((1000, 1, 3)), np.zeros((1000, 1)))
    assert np.array_equal(rls.estimate, held)


@pytest.mark.parametrize('rule', RULES, ids=['eigenvalue', 'cheap'])
def test_supervised_instrumental_variables(rule):
    Z = functions(12000, 8000)
    y = torque(Z, TRUTH)
    W = Z + 0.3 * np.random.default_rng(4).standard_normal(Z.shape) * (np.abs(Z) > 0)
    riv = estimator(rule, RecursiveInstrumentalVariables, samples=4000)
    riv.update(W[:8000], y[:8000], Z[:8000])
    assert riv.status().frozen == ('c',)
    assert abs(riv.estimate[2] - START[2]) < 1e-6
    riv.update(W[8000:], y[8000:], Z[8000:])
    assert riv.status().live == NAMES
    assert np.allclose(riv.estimate, TRUTH, rtol=0.1)


def test_supervision_equals_plain_rls_when_all_is_excited():
    W = functions(3000, 0)
    y = torque(W, TRUTH)
    plain = RecursiveLeastSquares(NAMES, memory=Memory('exponential', 1000))
    plain.update(W, y)
    for rule in RULES:
        rls = estimator(rule)
        rls.update(W, y)
        assert np.allclose(rls.estimate, plain.estimate, rtol=1e-9)


def test_rules_check_their_options():
    with pytest.raises(OptionError, match='max_std'):
        EigenvalueRule(max_std=0)
    with pytest.raises(OptionError, match='min_angle'):
        CheapRule(min_angle_deg=120)
    with pytest.raises(OptionError, match='scale'):
        RecursiveLeastSquares(NAMES, supervisor=CheapRule())
