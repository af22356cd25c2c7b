"""Nodes announce themselves often, unless the user has profiles of his own."""

import os
import subprocess
import sys

import pytest

from robot_id.ros.discovery import LOCAL, VARIABLE, announce_often
from robot_id.share import share_directory


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """A folder and an environment without profiles."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    return monkeypatch


def test_the_shipped_profile_is_used_where_there_is_none(bare):
    announce_often()
    assert os.environ[VARIABLE] == str(share_directory() / 'config/fastdds.xml')


def test_a_profile_of_the_user_stays(bare, tmp_path):
    bare.setenv(VARIABLE, 'mine.xml')
    announce_often()
    assert os.environ[VARIABLE] == 'mine.xml'
    bare.delenv(VARIABLE)
    (tmp_path / LOCAL).write_text('<profiles/>')
    announce_often()
    assert VARIABLE not in os.environ


NODE = """
import sys, rclpy
from robot_id.ros.discovery import announce_often
announce_often()
rclpy.init()
node = rclpy.create_node('announced')
print(rclpy.get_rmw_implementation_identifier())
node.destroy_node()
rclpy.shutdown()
"""


def test_the_middleware_takes_the_profile(bare):
    done = subprocess.run([sys.executable, '-c', NODE], capture_output=True, text=True, check=True)
    said = done.stdout + done.stderr
    assert 'XMLPARSER' not in said, said


@pytest.mark.parametrize('damage', ['<count>', 'initialAnnouncements'])
def test_the_middleware_does_read_the_profile(bare, tmp_path, damage):
    """The test above can fail: Fast DDS complains of a profile that it cannot read."""
    text = (share_directory() / 'config/fastdds.xml').read_text()
    (tmp_path / 'wrong.xml').write_text(text.replace(damage, '<'))
    bare.setenv(VARIABLE, str(tmp_path / 'wrong.xml'))
    done = subprocess.run([sys.executable, '-c', NODE], capture_output=True, text=True, check=True)
    if 'rmw_fastrtps' not in done.stdout:
        pytest.skip('the middleware is not Fast DDS')
    said = done.stdout + done.stderr
    assert 'XMLPARSER' in said, said
