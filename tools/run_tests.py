"""
Run pytest; what failed and is marked as needing time runs once more, alone.

Usage: python tools/run_tests.py [PYTEST ARGUMENT ...]

Tests on real processes (marker real_processes) may fail on a machine that is busy: they get a
second chance and are named in the closing lines. Nothing else does. A run that was interrupted,
crashed, ended without a report or took more than LIMIT_S is red, whatever its tests said; what
had failed until then is named. Exit code 0 means green.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from failure_list import VARIABLE

# Exit codes of pytest: all passed, some failed.
PASSED, FAILED = 0, 1
# A run that hangs, s: more than twice what the tests take on two cores.
LIMIT_S = float(os.environ.get('ROBOT_ID_TESTS_WITHIN_S', '3000'))
# To print what it knows when it is interrupted, s.
ENDING_S = 20.0


def pytest_run(arguments: list[str]) -> tuple[int | None, dict[str, Any]]:
    """Run pytest once; return its exit code, None when it took too long, and its report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'failures.json'
        tools = str(Path(__file__).parent)
        path = os.pathsep.join(filter(None, (tools, os.environ.get('PYTHONPATH'))))
        process = subprocess.Popen(
            [sys.executable, '-m', 'pytest', '-p', 'failure_list', *arguments],
            env={**os.environ, VARIABLE: str(report), 'PYTHONPATH': path},
        )
        code = _ended(process)
        known = json.loads(report.read_text()) if report.exists() else {'code': None, 'failed': {}}
        return code, known


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return None


def main(arguments: list[str]) -> int:
    """Return the exit code of the whole run."""
    code, report = pytest_run(arguments)
    failed = report['failed']
    if code not in (PASSED, FAILED) or report['code'] != code:
        why = f'not done after {LIMIT_S:g} s' if code is None else f'pytest ended with {code}'
        return _end('aborted', f'{why}; failed until then: {_names(list(failed)) or "none"}', 2)
    if code == PASSED:
        return _end('passed', '', 0)
    final = [name for name, about in failed.items() if not about['needs_time']]
    if final or not failed:
        return _end('failed', _names(final), 1)
    print(f'test: {len(failed)} on real processes failed; once more, alone:', flush=True)
    code, again = pytest_run(['-n', '0', *failed])
    if code != PASSED:
        return _end('failed', _names(list(again['failed'] or failed)), 1)
    return _end('passed', f'at the second attempt: {_names(list(failed))}', 0)


def _names(names: list[str]) -> str:
    return ', '.join(names)


def _end(verdict: str, text: str, code: int) -> int:
    # A run that died may have left a line open.
    print(f'\ntest: {verdict}{": " if text else ""}{text}', flush=True)
    return code


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
