"""What all rooms' tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def shared() -> Path:
    """Return the folder with the papers' figures and the measurements, or skip."""
    default = Path(__file__).resolve().parents[1].parent / 'shared'
    folder = Path(os.environ.get('ROBOT_ID_SHARED', default))
    if not (folder / 'data').is_dir():
        pytest.skip(f'no shared data in {folder} (set ROBOT_ID_SHARED)')
    return folder
