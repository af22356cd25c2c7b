"""The story of doc/tutorials/ros.md, command by command."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(900)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from ros_helpers.commands import Terminal, run
from ros_helpers.page import prints, steps

PAGE = Path(__file__).resolve().parents[2] / 'doc/tutorials/ros.md'
METHODS = ('idim_wls', 'idim_iv', 'didim', 'cloe', 'ekf')


def errors(output: str) -> dict[str, list[float]]:
    """Return the largest distances from the reference of each bag."""
    return {
        bag: [float(each) for each in rest.split()]
        for bag, rest in re.findall(r'^(before|after) (.*)$', output, re.M)
    }


def test_the_story(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    terminals, outputs, said = {}, {}, ''
    try:
        for step in steps(PAGE):
            began = time.monotonic()
            if step.terminal and step.command:
                terminals[step.terminal] = Terminal(step.command, tmp_path)
            elif step.terminal:
                said += terminals.pop(step.terminal).interrupt()
            else:
                output = outputs[step.command] = run(step.command, tmp_path)
                assert 'error_code' not in output or re.search('error_code[=:] ?0', output), output
                assert prints(step.printed, output), f'{step.command}\n{output}'
            what = step.command.splitlines()[0][:110] if step.command else 'Ctrl-C'
            print(f'{time.monotonic() - began:5.1f} s  {what}')
    finally:
        for terminal in terminals.values():
            terminal.kill()
    assert not terminals
    for method in METHODS:
        found = sorted(p.name for p in (tmp_path / 'monday.results').glob(f'tx40_{method}*.json'))
        assert found == [f'tx40_{method}.json', f'tx40_{method}_2.json']
        for name in found:
            result = json.loads((tmp_path / 'monday.results' / name).read_text())
            assert result['converged'], (name, result['reasons'], result['warnings'])
    (tracking,) = (errors(text) for command, text in outputs.items() if 'python3' in command)
    print(tracking)
    assert all(
        new < old / 5 for old, new in zip(tracking['before'], tracking['after'], strict=True)
    )
    assert 'the load has changed from 0 kg, payload: ' in said
