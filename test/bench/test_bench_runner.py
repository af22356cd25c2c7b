"""The runner of the benchmarks: what it takes, writes and refuses (no speed is asserted)."""

import json
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from bench import run as runner
from bench.figure import Figure
from bench.page import write_page

ROOT = Path(__file__).resolve().parents[2]


def run_bench(*arguments):
    command = [sys.executable, '-m', 'bench', *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_unknown_topic_is_one_line():
    found = run_bench('regresor')
    assert found.returncode == 2
    assert found.stderr == "bench: no topic 'regresor', did you mean 'regressor'?\n"


def test_figures_and_machine_are_written(tmp_path):
    found = run_bench('dynamics', '--json', tmp_path / 'figures.json')
    assert found.returncode == 0, found.stderr
    written = json.loads((tmp_path / 'figures.json').read_text())
    assert written['machine']['versions']['numba']
    names = [figure['name'] for figure in written['figures']['dynamics']]
    assert {'inverse dynamics', 'inertia matrix', 'direct dynamics'} <= set(names)
    assert all(figure['value'] > 0 for figure in written['figures']['dynamics'])
    assert 'direct dynamics' in found.stdout


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    def stop():
        raise KeyboardInterrupt

    works = {'one': lambda: {'a': 1.0}, 'two': lambda: {'b': 2.0}, 'three': stop}
    monkeypatch.setattr(runner, 'topics', lambda: sorted(works))
    monkeypatch.setattr(runner, 'benchmarks', lambda topic: [('bench_it', works[topic])])
    first, page = tmp_path / 'first.json', tmp_path / 'page.md'
    arguments = ['one', 'three', 'two', '--json', str(first), '--page', str(page)]
    assert CliRunner().invoke(runner.main, arguments).exit_code == 1
    assert '| a | 1' in page.read_text()
    works['three'] = lambda: {'c': 3.0}
    second = ['three', 'two', '--json', str(tmp_path / 'second.json'), '--page', str(page)]
    assert CliRunner().invoke(runner.main, [*second, '--add', str(first)]).exit_code == 0
    assert all(row in page.read_text() for row in ('| a | 1', '| b | 2', '| c | 3'))


def test_a_benchmark_that_fails_costs_only_its_own_rows(tmp_path, monkeypatch):
    works = {'one': lambda: [][0], 'two': lambda: {'b': 2.0}}
    monkeypatch.setattr(runner, 'topics', lambda: sorted(works))
    monkeypatch.setattr(runner, 'benchmarks', lambda topic: [('bench_it', works[topic])])
    found = CliRunner().invoke(runner.main, ['--json', str(tmp_path / 'all.json')])
    assert found.exit_code == 1
    assert 'failed: IndexError' in found.output
    assert list(json.loads((tmp_path / 'all.json').read_text())['figures']) == ['two']


def test_the_verb_runs_the_same_benchmarks():
    command = [sys.executable, '-m', 'robot_id.cli.main', 'bench', 'regresor']
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "did you mean 'regressor'" in found.stderr


def test_a_page_holds_every_figure_and_draws_the_curves(tmp_path):
    machine = {
        'processor': 'p', 'cores': 2, 'system': 's', 'python': '3', 'versions': {'numpy': '2'},
        'load': [0.0],
    }  # fmt: skip
    figures = [
        Figure('fast', 2.0, 'us', 'slow', 12.0, 10.0),
        Figure('short', 2.0, 'us', 'slow', 9.0, 10.0),
        *(Figure('grows', float(n), 'us/sample', curve='joints', at=n) for n in (1, 2, 6)),
    ]
    write_page(tmp_path / 'page.md', machine, {'some_topic': figures})
    text = (tmp_path / 'page.md').read_text()
    assert '| fast | 2 us | 12 (slow) | 10, met |' in text
    assert '| short | 2 us | 9 (slow) | 10, **missed** |' in text
    assert '| grows | us/sample | 1 | 2 | 6 |' in text
    assert (tmp_path / 'images/performance_joints.png').stat().st_size > 1000
