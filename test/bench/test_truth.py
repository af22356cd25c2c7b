"""The tables of coverage: what chance gives a bias, and rows of another state of the code."""

import json

import numpy as np
import pytest

from bench.truth.experiments import read, rows, version
from bench.truth.figures import figures


def drawn(bias, count=400, parameters=5):
    """Return rows of experiments whose estimates have a bias and a scatter of one."""
    values = 100.0 + bias + np.random.default_rng(3).normal(size=(count, parameters))
    truth, std = [100.0] * parameters, [1.0] * parameters
    names = [f'p{k}' for k in range(parameters)]
    return [
        {'names': names, 'truth': truth, 'values': list(v), 'std': std, 'converged': True,
         'seconds': 1.0}
        for v in values
    ]  # fmt: skip


def test_a_bias_is_told_from_chance():
    none, some = figures(drawn(0.0)), figures(drawn(np.array([0.0, 0.0, 0.0, 0.0, 0.5])))
    assert none.biased == 0
    assert none.worst_bias < none.bias.max()
    assert some.biased == 1
    assert some.worst_bias == pytest.approx(0.5, abs=0.2)
    assert none.coverage == pytest.approx(0.95, abs=0.03)


def test_rows_of_another_state_of_the_code_are_not_read(tmp_path):
    row = next(iter(rows('emps', ['idim_wls'], [0])))
    assert row['version'] == version()
    assert row['converged']
    old = row | {'version': '00000000'}
    (tmp_path / 'rows_0.jsonl').write_text(json.dumps(row) + '\n' + json.dumps(old) + '\n')
    assert read(tmp_path) == [row]


def test_a_method_that_breaks_does_not_end_the_study(monkeypatch):
    def broken(name, options):
        raise ZeroDivisionError('by nothing')

    monkeypatch.setattr('bench.truth.experiments.registry.create', broken)
    found = list(rows('emps', ['idim_wls', 'ekf'], [0]))
    assert [row['failure'] for row in found] == ['ZeroDivisionError: by nothing'] * 2
    assert figures(found).failed == 2
