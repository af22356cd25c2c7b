"""The reproduced tables: printed figures, verdicts that follow from figures, JSON and Markdown."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from robot_id.cli.main import cli
from robot_id.robot import load_robot
from robot_id.studies import papers
from robot_id.studies.papers import TABLES, Claim, Comparison, Section, scara_iv
from robot_id.studies.papers.comparison import printed

SCARA = {
    'table_1': 'table1_idim_filtered',
    'table_2': 'table2_iv_from_good_start',
    'table_3': 'table3_iv_regular_start',
    'table_5': 'table5_idim_no_filter',
    'table_6': 'table6_iv_no_filter',
    'table_7': 'table7_iv_half_bandwidth',
}


@pytest.fixture(scope='module')
def paper(shared):
    return yaml.safe_load((shared / 'reference' / 'paper_tables.yaml').read_text())


def test_printed_figures_are_those_of_the_papers(paper):
    ours, theirs = printed('scara_iv'), paper['scara_iv']
    assert ours['parameters'] == theirs['parameters']
    assert ours['table_4'] == theirs['table4_iv_convergence']
    for key, name in SCARA.items():
        for what in ('value', 'percent', 'relative_error', 'iterations'):
            assert ours[key].get(what) == theirs[name].get(what), (key, what)
    ours, theirs = printed('scara_ekf'), paper['scara_ekf']
    assert ours['table_1'] == theirs['table1_wls']
    assert ours['table_2'] == theirs['table2_ekf']
    assert printed('tx40_didim')['table_2'] == paper['tx40_didim_cloe']['table2']


def test_printed_figures_have_the_names_of_our_robots():
    assert set(printed('tx40_didim')['table_2']) == set(load_robot('tx40').base.names)
    for key in ('scara_iv', 'scara_ekf'):
        assert tuple(printed(key)['parameters']) == load_robot('scara').base.names


@pytest.fixture(scope='module')
def scara():
    return scara_iv.build()


def column(section, header):
    place = section.columns.index(header)
    return {row[0]: row[place] for row in section.rows}


def test_scara_tables_stand_beside_the_paper(scara):
    titles = [section.title for section in scara.sections]
    for k in range(1, 8):
        assert any(title.startswith(f'table {k}:') for title in titles)
    table = next(s for s in scara.sections if s.title.startswith('table 3'))
    paper, ours = column(table, 'paper'), column(table, 'ours')
    for name in ('ZZ1R', 'ZZ2R', 'LMX2'):
        assert ours[name] == pytest.approx(paper[name], rel=0.01)
    raw = column(next(s for s in scara.sections if s.title.startswith('table 5')), 'ours')
    assert raw['ZZ1R'] < 0.5 * paper['ZZ1R']


def test_every_claim_has_a_verdict_and_figures(scara):
    assert len(scara.claims) >= 4
    verdicts = {claim.verdict for claim in scara.claims}
    assert verdicts <= {'reproduced', 'reproduced in simulation', 'not reproduced'}
    assert all(any(c.isdigit() for c in claim.evidence) for claim in scara.claims)


def test_the_page_has_the_verdicts_of_today(scara):
    page = (Path(__file__).resolve().parents[2] / 'doc/studies/reproduction.md').read_text()
    for claim in scara.claims:
        assert f'| [scara-iv](#scara-iv) | {claim.text} | {claim.verdict} |' in page


def test_a_verdict_can_be_lost(scara):
    """The judgement reads the figures: with those of a wrong result it says no."""
    robot = load_robot('scara')
    iv = _result_like(robot, 1.0)
    wrong = _result_like(robot, 1.5)
    motion = [[9.0, 9.0, 9.0]] * 3
    claims = scara_iv._claims(robot, iv, iv, wrong, wrong, wrong, wrong, motion)
    held = {claim.text: claim.holds for claim in claims}
    assert held['without filters IDIM-LS is biased']
    assert not held['without filters IV is not biased']
    assert not held['IV works with half the bandwidth in the simulator']
    assert held['IV fails with a third of the bandwidth or less']
    good = scara_iv._claims(robot, iv, iv, iv, iv, iv, iv, [[0.1, 0.1, 0.1]] * 3)
    held = {claim.text: claim.holds for claim in good}
    assert not held['without filters IDIM-LS is biased']
    assert held['the same at the start (iteration 0)']


def _result_like(robot, factor):
    from robot_id.methods.result import Iteration, Result

    values = factor * robot.truth()
    steps = tuple(Iteration(values, 1.0) for _ in range(3))
    return Result('scara', 'idim_iv', robot.base.names, values, np.diag(values**2 * 1e-4),
                  history=steps, iterations=3)  # fmt: skip


def test_verb_writes_markdown_and_json(monkeypatch, tmp_path):
    section = Section(
        'table I | II', ('name', 'paper', 'ours'), (('M', 95.0, None), ('a|b', 1, 2))
    )
    claims = (Claim('it works', True, '1 %', 'measurements'), Claim('it flies', False, '0 m'))
    made = Comparison('online', 'A paper', (section,), ('a note',), claims)
    monkeypatch.setattr(papers, 'reproduce', lambda name, progress: made)
    page, figures = tmp_path / 'r.md', tmp_path / 'r.json'
    done = CliRunner().invoke(
        cli, ['reproduce', 'online', '--markdown', str(page), '--json', str(figures)]
    )
    assert done.exit_code == 0, done.output
    assert '1 of 2 claims reproduced' in done.output
    text = page.read_text()
    for words in ('| it works | **reproduced** | 1 % |', '| it flies | **not reproduced** | 0 m |',
                  '| M | 95 | - |', 'a\\|b', '- a note', '(#online)'):  # fmt: skip
        assert words in text
    stored = json.loads(figures.read_text())['tables']['online']['claims']
    assert [c['verdict'] for c in stored] == ['reproduced', 'not reproduced']


def test_the_committed_page_judges_every_table():
    page = (Path(__file__).resolve().parents[2] / 'doc/studies/reproduction.md').read_text()
    for name in TABLES:
        assert f'\n## {name}\n' in page
        assert f'| [{name}](#{name}) |' in page
