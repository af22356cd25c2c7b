"""Verdicts on the papers' claims follow from the figures: good ones win them, bad ones lose."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from robot_id.methods.result import Iteration, Result
from robot_id.robot import load_robot
from robot_id.studies import online_study
from robot_id.studies.papers import Section, emps_ilic, online, scara_ekf, tx40_didim
from robot_id.studies.papers.comparison import printed

ROOT = Path(__file__).resolve().parents[2]


def sizes(robot):
    """(b,) of the parameters: their truth, and something where that is zero."""
    truth = np.abs(robot.truth())
    return np.where(truth > 0.0, truth, truth.min(where=truth > 0.0, initial=1.0))


def result(robot, values, percent=1.0, **more):
    """Return a result with these values, known to a percentage of the truth."""
    std = percent / 100.0 * sizes(robot)
    return Result(
        robot.name, 'm', robot.base.names, np.asarray(values, float), np.diag(std**2), **more
    )


def lost(good, bad):
    """Return the texts of the claims that hold with good figures and not with bad ones."""
    assert [claim.text for claim in good] == [claim.text for claim in bad]
    return {g.text for g, b in zip(good, bad) if g.holds and not b.holds}


def table(rows):
    return Section('', tuple(str(k) for k in range(len(rows[0]))), tuple(map(tuple, rows)))


def ilic_claims(final=1.0, noisy=1.0, track=(9e-4, 1e-4, 1e-4), bias=5e-5, load=10.1):
    names = emps_ilic.NAMES
    first = [[name, 10.0, 0, 0, 11.0, 0, 0, 0, 10.0 * final, 0, 0, 0] for name in names]
    second = [[name, 10.0, 0, 0, 0, 0, 10.0 * noisy, 0, 0, 0, 0] for name in names]
    rates = [['500 Hz', bias, bias, bias, 0, 0], ['20000 Hz', 1e-6, 1e-6, 1e-6, 0, 0]]
    payload = [['70 s', 104.0, load, 0.1, 0.0], ['paper', 104.0, 9.7, None, None]]
    parts = [table(rows) for rows in (first, rates, second, payload)]
    return emps_ilic._claims(parts, np.array(track))


@pytest.mark.parametrize(
    ('bad', 'word'),
    [
        ({'final': 1.01}, 'two iterations'),
        ({'track': (9e-4, 5e-4, 1e-4)}, 'one iteration'),
        ({'bias': 1e-3}, 'the bias'),
        ({'noisy': 0.98}, 'with noise'),
        ({'load': 9.0}, 'a payload'),
    ],
)
def test_emps_ilic(bad, word):
    good = ilic_claims()
    assert all(claim.holds for claim in good)
    (text,) = lost(good, ilic_claims(**bad))
    assert text.startswith(word)


def didim_claims(found=1.0, cloe=1.0, late=0.0, simplex=1000, real=1.0, wls=1.0):
    robot, paper = load_robot('tx40'), printed('tx40_didim')
    truth = robot.truth()
    std = sizes(robot) / 100.0
    steps = [Iteration(truth + late * std, 1.0) for _ in range(3)] + [Iteration(truth, 1.0)]
    simulated = result(robot, found * truth, history=tuple(steps), iterations=4)
    wide = [10.0 if n in paper['printed_ten_times_too_small'] else 1.0 for n in robot.base.names]
    values = np.array([paper['table_2'][n][0] for n in robot.base.names]) * wide
    measured = result(robot, real * values), result(robot, real * values / wls)
    runs = [[SimpleNamespace(simulations=n)] for n in (simplex, 5)]
    return tx40_didim._claims(
        robot, paper, simulated, result(robot, cloe * truth), *runs, measured
    )


@pytest.mark.parametrize(
    ('bad', 'words'),
    [
        ({'late': 2.0}, {'DIDIM converges'}),
        ({'found': 1.08}, {'DIDIM finds', 'CLOE agrees'}),
        ({'cloe': 1.1}, {'CLOE agrees'}),
        ({'simplex': 100}, {'CLOE by'}),
        ({'real': 1.2}, {'table II'}),
        ({'wls': 0.9}, {'DIDIM agrees'}),
    ],
)
def test_tx40_didim(bad, words):
    good = didim_claims()
    assert all(claim.holds for claim in good)
    assert {
        ' '.join(text.split()[:2]).rstrip(':') for text in lost(good, didim_claims(**bad))
    } == words


def online_claims(plain=0.9, riv=0.002, inputs=0.9, model=0.01, integral=0.01, **more):
    robot = load_robot('scara')
    figures = dict(zip(('rls, none', 'riv, none', 'rls, input', 'rls, model', 'integral, none'),
                       (plain, riv, inputs, model, integral)))  # fmt: skip
    bias = {
        label: np.full(len(robot.base), figures.get(f'{method}, {filtering}', 0.0))
        for method, filtering, label in online_study.CURVES
    }
    count = len(online.OF_JOINT_2)
    drift = {'none': 40.0, 'eigenvalues': 0.001, 'norms and angles': 0.001} | more.get('drift', {})
    return online._claims(
        robot,
        bias,
        np.full(3, more.get('scatter', 5.0)),
        {'integral': more.get('wander', 0.5), 'rls': 0.01},
        {label: np.full(count, value) for label, value in drift.items()},
        more.get('cost', (2e-4, 1e-4)),
    )


@pytest.mark.parametrize(
    ('bad', 'word'),
    [
        ({'plain': 0.3}, 'recursive LS'),
        ({'riv': 0.011}, 'recursive IV'),
        ({'scatter': 1.5}, 'its estimates'),
        ({'riv': 0.009, 'plain': 0.51}, 'the term'),
        ({'inputs': 0.2}, 'filtering'),
        ({'model': 0.2}, 'filtering'),
        ({'integral': 0.1}, 'the integral model is'),
        ({'wander': 0.02}, 'the integral model drifts'),
        ({'drift': {'none': 1.0}}, 'a parameter'),
        ({'drift': {'norms and angles': 1.0}}, 'a parameter'),
        ({'cost': (1e-4, 1e-4)}, 'the cheap'),
    ],
)
def test_online(bad, word):
    good = online_claims()
    assert all(claim.holds for claim in good)
    (text,) = lost(good, online_claims(**bad))
    assert text.startswith(word)


def ekf_claims(
    raw=1.5, forward=1.6, full=1.01, rough=1.05, good=1.02, failure='it diverged', s=9.0
):
    robot = load_robot('scara')
    truth = robot.truth()
    names = {'raw': raw, 'forward': forward, 'full': full, 'rough': rough, 'good': good}
    r = {key: result(robot, factor * truth, elapsed_s=1.0) for key, factor in names.items()}
    again = result(robot, rough * truth, extras={'filtering_s': s})
    return scara_ekf._claims(
        robot, r['raw'], r['forward'], r['full'], r['rough'], again, r['good'], failure
    )


@pytest.mark.parametrize(
    ('bad', 'words'),
    [
        ({'raw': 1.1}, ['WLS without']),
        ({'forward': 1.2}, ['WLS with a forward']),
        ({'full': 1.06}, ['WLS with zero-phase', 'WLS is the better']),
        ({'failure': ''}, ['EKF without']),
        ({'rough': 1.15}, ['EKF from a rough']),
        ({'good': 1.08}, ['EKF is sensitive']),
        ({'s': 2.0}, ['WLS is the better']),
    ],
)
def test_scara_ekf(bad, words):
    good = ekf_claims()
    assert all(claim.holds for claim in good)
    texts = lost(good, ekf_claims(**bad))
    assert len(texts) == len(words)
    assert all(any(text.startswith(word) for text in texts) for word in words), texts


@pytest.mark.parametrize(
    ('name', 'claims'),
    [
        ('emps-ilic', ilic_claims),
        ('tx40-didim', didim_claims),
        ('online', online_claims),
        ('scara-ekf', ekf_claims),
    ],
)
def test_the_page_has_a_verdict_on_every_claim(name, claims):
    page = (ROOT / 'doc/studies/reproduction.md').read_text()
    for claim in claims():
        assert f'| [{name}](#{name}) | {claim.text} | ' in page
