"""The verb reproduce and its table emps-ilic."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_id.cli import main as entry
from robot_id.studies.papers import TABLES, emps_ilic


@pytest.fixture(scope='module')
def comparison():
    """All sections, with a short bias study."""
    return emps_ilic.build(rates=(1000.0, 4000.0))


def column(section, header, occurrence=0):
    places = [k for k, name in enumerate(section.columns) if name == header]
    return {row[0]: row[places[occurrence]] for row in section.rows}


def test_paper_figures_are_those_of_the_paper(shared):
    paper = yaml.safe_load((shared / 'reference' / 'paper_tables.yaml').read_text())['emps_ilic']
    for short, name in (('M', 'M1'), ('Fv', 'Fv1'), ('Fc', 'Fc1')):
        first, _, second, _ = emps_ilic.PAPER_1[name]
        assert first == paper['simulation']['iteration_1'][short]
        assert second == paper['simulation']['iteration_2'][short]
        assert list(emps_ilic.PAPER_2[name]) == paper['experiment'][short]
    torque = paper['experiment']['relative_torque_error_percent']
    tracking = paper['experiment']['relative_tracking_error']
    assert list(emps_ilic.PAPER_TORQUE_ERROR) == torque
    assert list(emps_ilic.PAPER_TRACKING) == [
        tracking['start'],
        *tracking['ilic'],
        *tracking['idim_ls'],
    ]


def test_table_1_beside_the_paper(comparison):
    table = comparison.sections[0]
    for header, occurrence, tolerance in (('chi 1', 0, 0.015), ('chi 2', 2, 0.006)):
        paper, ours = column(table, header), column(table, 'ours', occurrence)
        for name in emps_ilic.NAMES:
            assert ours[name] == pytest.approx(paper[name], rel=tolerance)
    exact, truth = column(table, 'LS ours'), column(table, 'truth')
    for name in emps_ilic.NAMES:
        assert exact[name] == pytest.approx(truth[name], rel=1e-10)


def test_the_page_has_the_verdicts_of_today(comparison):
    page = (Path(__file__).resolve().parents[2] / 'doc/studies/reproduction.md').read_text()
    for claim in comparison.claims:
        assert f'| [emps-ilic](#emps-ilic) | {claim.text} | {claim.verdict} |' in page


def test_bias_section_falls(comparison):
    slow, fast = comparison.sections[1].rows
    assert np.all(np.array(fast[1:4]) < np.array(slow[1:4]) / 2)


def test_table_2_finds_its_own_truth(comparison):
    table = comparison.sections[2]
    truth = column(table, 'our truth')
    for occurrence in (1, 2, 3):
        ours = column(table, 'ours', occurrence)
        for name in emps_ilic.NAMES:
            assert ours[name] == pytest.approx(truth[name], rel=0.015)


def test_payload_section(comparison):
    last = comparison.sections[3].rows[-2]
    assert last[2] == pytest.approx(10.0, rel=0.05)


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, 'argv', ['robot-id', 'reproduce', *arguments])
    with pytest.raises(SystemExit) as stop:
        entry.main()
    return stop.value.code, capsys.readouterr()


def test_verb_prints_and_writes(monkeypatch, capsys, tmp_path, comparison):
    monkeypatch.setattr(emps_ilic, 'build', lambda progress: comparison)
    monkeypatch.setenv('COLUMNS', '60')
    file = tmp_path / 'tables.json'
    code, printed = run(monkeypatch, capsys, 'emps-ilic', '--json', str(file))
    assert code in (0, None)
    assert 'table II' in printed.out
    assert 'simulation with noise' in printed.out
    assert re.search(r'Fv1 .* 298 .* 26[0-9.]+ .* 263 .* 26[0-9.]+', printed.out)
    figures = json.loads(file.read_text())
    assert figures['schema'] == 1
    sections = figures['tables']['emps-ilic']['sections']
    assert sections[0]['rows'][0][0] == 'M1'
    assert sections[0]['rows'][0][1] == 95.0


def test_verb_lists_and_refuses(monkeypatch, capsys, tmp_path):
    code, printed = run(monkeypatch, capsys, '--list')
    assert code in (0, None)
    for name in TABLES:
        assert name in printed.out
    code, printed = run(monkeypatch, capsys, 'emps-ilik')
    assert code == 2
    assert printed.err.strip() == "robot-id: no table 'emps-ilik': did you mean 'emps-ilic'?"
    code, printed = run(monkeypatch, capsys, '--json', str(tmp_path / 'no' / 'file.json'))
    assert code == 2
    assert len(printed.err.strip().splitlines()) == 1
