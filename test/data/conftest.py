"""Fixtures for tests of the readers."""

import pytest
import yaml


@pytest.fixture
def write(tmp_path):
    def make(**content):
        path = tmp_path / 'mapping.yaml'
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        return path

    return make
