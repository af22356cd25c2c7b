"""What the page works on, without a browser."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import robot_id as rid
from robot_id.data import save

pytest.importorskip('nicegui', reason='the studio needs nicegui')

from robot_id.studio.workspace import Workspace

SAMPLES, TABS = 200_000, 4


def test_tabs_that_ask_at_once_read_a_recording_once(tmp_path):
    """What is read is as large as the recording; each further reading would be that again."""
    time = np.arange(SAMPLES) / 1000.0
    position = np.sin(time)[:, None]
    made = rid.Dataset.from_arrays(
        time=time, position=position, torque=position, joint_names=['carriage']
    )
    save(made, tmp_path / 'run.npz')
    workspace, start = Workspace(tmp_path), threading.Barrier(TABS)
    workspace.robot = 'emps'
    workspace.add('run.npz')

    def tab(_):
        start.wait()
        return workspace.data(0)

    with ThreadPoolExecutor(TABS) as tabs:
        found = list(tabs.map(tab, range(TABS)))
    assert all(each is found[0] for each in found)
    assert len(found[0].dataset) == SAMPLES


def test_a_recording_that_is_added_again_stays_at_its_place(tmp_path):
    """A list that a tab shows is chosen from by number: its order is what the tab sees."""
    workspace = Workspace(tmp_path)
    assert [workspace.add(name) for name in ('a.csv', 'b.csv')] == [0, 1]
    assert workspace.add('a.csv', 'a.mapping.yaml') == 0
    assert workspace.recordings == [('a.csv', 'a.mapping.yaml'), ('b.csv', '')]
