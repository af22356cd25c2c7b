"""The runner of the benchmarks: what it takes, writes and refuses (no speed is asserted)."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments):
    command = [sys.executable, '-m', 'bench', *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_unknown_topic_is_one_line():
    found = run('regresor')
    assert found.returncode == 2
    assert found.stderr == "bench: no topic 'regresor', did you mean 'regressor'?\n"


def test_figures_and_machine_are_written(tmp_path):
    found = run('dynamics', '--json', tmp_path / 'figures.json')
    assert found.returncode == 0, found.stderr
    written = json.loads((tmp_path / 'figures.json').read_text())
    assert written['machine']['versions']['numba']
    names = [figure['name'] for figure in written['figures']['dynamics']]
    assert {'inverse dynamics', 'inertia matrix', 'direct dynamics'} <= set(names)
    assert all(figure['value'] > 0 for figure in written['figures']['dynamics'])
    assert 'direct dynamics' in found.stdout
