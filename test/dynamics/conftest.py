"""Fixtures of the dynamics room."""

import pytest

from robot_id.dynamics.generated import library


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    library.forget()
    yield tmp_path / 'robot_id'
    library.forget()
