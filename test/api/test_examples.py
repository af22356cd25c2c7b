"""The examples run from the first line to the last, each in a fresh process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / 'examples'
MOST_LINES = 60


@pytest.mark.parametrize('path', sorted(EXAMPLES.glob('*.py')), ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path):
    text = path.read_text()
    assert len(text.splitlines()) < MOST_LINES
    assert text.startswith('"""')
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=300, check=False,
        cwd=tmp_path, env={**os.environ, 'MPLBACKEND': 'Agg'},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
