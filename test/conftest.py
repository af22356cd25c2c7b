"""Fixtures that several rooms use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope='session')
def shared() -> Path:
    """Directory with real measurements and reference figures; the test is skipped without it."""
    default = Path(__file__).resolve().parents[2] / 'shared'
    directory = Path(os.environ.get('ROBOT_ID_SHARED', default))
    if not (directory / 'data').is_dir():
        pytest.skip(f'no real measurements at {directory} (set ROBOT_ID_SHARED)')
    return directory
