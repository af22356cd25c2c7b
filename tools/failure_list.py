"""
Plugin of pytest: tells each failure when it happens, and keeps the list in a file.

The file is the one that ROBOT_ID_FAILURES names, JSON. It is written after each failure too, so
that a run which is cut off leaves what it knew; `code` is None until the run is done.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

VARIABLE, MARKER = 'ROBOT_ID_FAILURES', 'real_processes'


class FailureList:
    """
    Collects the failures of a run, also of a run on several workers.

    :param path: file to write.
    """

    def __init__(self, path: Path, config: pytest.Config) -> None:
        self._path, self._config = path, config
        self._failed: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            # A worker that died reports no phase of the test: nothing is known about the rest.
            crashed = report.when not in ('setup', 'call', 'teardown')
            marked = MARKER in report.keywords and not crashed
            self._add(report, marked)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._add(report, False)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        self._write(int(exitstatus))

    def _add(self, report: pytest.TestReport | pytest.CollectReport, marked: bool) -> None:
        self._failed[report.nodeid] = {'needs_time': marked}
        self._write(None)
        terminal = self._config.pluginmanager.get_plugin('terminalreporter')
        if terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(f'failed: {report.nodeid}: {_reason(report)}', flush=True)

    def _write(self, code: int | None) -> None:
        # Whole or not at all: the reader may look at any moment.
        part = self._path.with_suffix('.part')
        part.write_text(json.dumps({'code': code, 'failed': self._failed}))
        part.replace(self._path)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the line of the report that says what was wrong."""
    crash = getattr(report.longrepr, 'reprcrash', None)
    lines = (crash.message if crash is not None else report.longreprtext).strip().splitlines()
    return lines[0] if lines else ''


def pytest_configure(config: pytest.Config) -> None:
    path = os.environ.get(VARIABLE)
    # Workers report to the process that has started them.
    if path and not hasattr(config, 'workerinput'):
        config.pluginmanager.register(FailureList(Path(path), config))
