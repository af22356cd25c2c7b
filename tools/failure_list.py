"""Plugin of pytest: writes what failed to the file that ROBOT_ID_FAILURES names, as JSON."""

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

    :param path: file to write at the end; a run that is cut off leaves none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            # A worker that died reports no phase of the test: nothing is known about the rest.
            crashed = report.when not in ('setup', 'call', 'teardown')
            marked = MARKER in report.keywords and not crashed
            self._failed[report.nodeid] = {'needs_time': marked}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = {'needs_time': False}

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        self._path.write_text(json.dumps({'code': int(exitstatus), 'failed': self._failed}))


def pytest_configure(config: pytest.Config) -> None:
    path = os.environ.get(VARIABLE)
    # Workers report to the process that has started them.
    if path and not hasattr(config, 'workerinput'):
        config.pluginmanager.register(FailureList(Path(path)))
