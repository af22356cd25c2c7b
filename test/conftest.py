"""Fixtures that several rooms use."""

import os
from pathlib import Path

import pytest

# Many small factorisations: threads of the BLAS only wait for each other, most of all on a busy
# machine. Set here because numpy is not imported yet.
for _name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ.setdefault(_name, '1')


@pytest.fixture(scope='session')
def shared() -> Path:
    """Directory with real measurements and reference figures; the test is skipped without it."""
    default = Path(__file__).resolve().parents[2] / 'shared'
    directory = Path(os.environ.get('ROBOT_ID_SHARED', default))
    if not (directory / 'data').is_dir():
        pytest.skip(f'no real measurements at {directory} (set ROBOT_ID_SHARED)')
    return directory
