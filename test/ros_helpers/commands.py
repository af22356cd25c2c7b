"""
Commands of ROS 2 as a user types them: run by `ros2` where it is installed.

Elsewhere the same calls are made here, on the same processes, and print the same in the parts
that the pages show.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from ros_helpers.launching import LAUNCH, Launched
from running.client import Client
from running.node_process import NodeProcess, executable
from running.robot_graph import START_S, bring_up

from robot_id.ros.qos import LATCHED

CONFIG = LAUNCH.parent / 'config'
WORK_S = 600.0
# What a launch file starts, with a parameter file, its own values and a last word.
LAUNCHES: dict[str, tuple[tuple[str, ...], str, dict[str, str], str]] = {
    'simulate': (
        ('ddm_simulator', 'trajectory_generator'), 'simulation',
        {'mode': 'closed_loop', 'rate_hz': '1000.0', 'start_motion': 'true',
         'use_sim_time': 'true'}, '',
    ),
    'control': (
        ('ddm_simulator', 'control_loop'), 'control',
        {'mode': 'plant', 'lock_step': 'true', 'autostart': 'true', 'start_motion': 'true',
         'rate_hz': '1000.0', 'use_sim_time': 'true'}, '',
    ),
    'identify': (('data_logger', 'identification_server'), 'identification', {}, ''),
}  # fmt: skip
# Arguments of launch files that are no parameters of nodes.
OF_LAUNCH = {'sim', 'identify', 'params_file'}


class Terminal:
    """
    What runs in a terminal until Ctrl-C.

    :param command: `ros2 launch robot_id FILE key:=value ...`.
    """

    def __init__(self, command: str, folder: Path) -> None:
        words = shlex.split(command.replace('$PWD', str(folder)))
        assert words[:3] == ['ros2', 'launch', 'robot_id'], command
        file, given = words[3].removesuffix('.launch.py'), words[4:]
        self._launched, self._nodes = None, []
        self._stack = contextlib.ExitStack()
        if shutil.which('ros2'):
            self._launched = Launched(file, *given)
            return
        for node in LAUNCHES[file][0]:
            process = NodeProcess(_node(file, node, given))
            self._nodes.append(self._stack.enter_context(process))
        for process in self._nodes:
            process.wait_for_log('ready', START_S)
        if file != 'identify':
            with Client('launcher') as client:
                bring_up(client, 'ddm_simulator')

    def interrupt(self) -> str:
        """Press Ctrl-C; all must end cleanly. Return what was printed."""
        if self._launched:
            assert self._launched.interrupt() == 0, self._launched.output
            return self._launched.output
        for process in self._nodes:
            process.interrupt()
        for process in self._nodes:
            assert process.stop() == 0, process.log
        self._stack.close()
        return '\n'.join(process.log for process in self._nodes)

    def kill(self) -> None:
        """End whatever still runs."""
        if self._launched and self._launched.process.poll() is None:
            self._launched.kill()
        self._stack.close()


def _node(file: str, node: str, given: list[str]) -> list[str]:
    """Return the command of a node that a launch file starts."""
    _, own, values, last = LAUNCHES[file]
    arguments = dict(each.split(':=', 1) for each in given)
    parameters = arguments.get('params_file', str(CONFIG / f'{own}.yaml'))
    command = [*executable(node), '--ros-args', '--params-file', parameters]
    for key, value in {**values, **arguments}.items():
        if key not in OF_LAUNCH and not (node == 'ddm_simulator' and key == 'autostart'):
            command += ['-p', f'{key}:={value}']
    return command + (['--params-file', str(CONFIG / f'{last}.yaml')] if last else [])


def run(command: str, folder: Path) -> str:
    """Run a command that ends by itself, in a folder, and return what it prints."""
    if not command.startswith('ros2') or shutil.which('ros2'):
        tools = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
        done = subprocess.run(
            ['bash', '-c', command], cwd=folder, capture_output=True, text=True, timeout=WORK_S,
            env={**os.environ, 'PATH': tools},
        )  # fmt: skip
        assert done.returncode == 0, f'{command}\n{done.stdout}{done.stderr}'
        return done.stdout
    verb = tuple(shlex.split(command)[1:3])
    words = [word for word in shlex.split(command)[3:] if word not in _IMPLIED]
    with Client('commands') as client:
        return _VERBS[verb](client, *words)


# What is done here without being asked, and --filter, which stands before its expression.
_IMPLIED = {
    '--once', '--no-arr', '--feedback', '--qos-durability', 'transient_local',
    '--qos-reliability', 'reliable', '--filter',
}  # fmt: skip


def _call(client: Client, name: str, kind: str, text: str = '{}') -> str:
    service = _interface(kind)
    request = _filled(service.Request(), text)
    answer = client.call(service, name, request, WORK_S)
    return f'requester: making request: {request!r}\n\nresponse:\n{answer!r}\n'


def _send_goal(client: Client, name: str, kind: str, text: str) -> str:
    action = _interface(kind)
    goal = client.send_goal(action, name, _filled(action.Goal(), text), WORK_S)
    assert goal.accepted
    status, result = goal.result(WORK_S)
    assert goal.feedback
    reports = [f'Feedback:\n{yaml.safe_dump(_plain(each))}' for each in goal.feedback]
    ended = {4: 'SUCCEEDED', 5: 'CANCELED', 6: 'ABORTED'}[status]
    return '\n'.join(
        ['Goal accepted with ID: 1', *reports, 'Result:',
         yaml.safe_dump(_plain(result), sort_keys=False), f'Goal finished with status: {ended}']
    )  # fmt: skip


def _echo(client: Client, *words: str) -> str:
    *condition, topic, kind = words
    messages = client.collect(_interface(kind), topic, LATCHED)
    wanted = condition[0] if condition else 'True'
    chosen: list[Any] = []

    def found() -> bool:
        chosen.extend(m for m in messages if eval(wanted, {'m': m}))
        messages.clear()
        return bool(chosen)

    client.spin_until(found, WORK_S, f'{topic}: {wanted}')
    return yaml.safe_dump(_plain(chosen[0]), sort_keys=False)


_VERBS = {
    ('service', 'call'): _call,
    ('action', 'send_goal'): _send_goal,
    ('topic', 'echo'): _echo,
}


def _interface(kind: str) -> Any:
    package, folder, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.{folder}'), name)


def _filled(message: Any, text: str) -> Any:
    """Return a message with the fields of a YAML text, lists of messages included."""

    def fill(into: Any, values: dict[str, Any]) -> Any:
        for key, value in values.items():
            setattr(into, key, converted(into, key, value))
        return into

    def converted(into: Any, key: str, value: Any) -> Any:
        old = getattr(into, key)
        if isinstance(value, dict):
            return fill(old, value)
        element = re.fullmatch(r'sequence<(\w+)/(\w+)>', into.get_fields_and_field_types()[key])
        if element:
            package, kind = element.groups()
            return [fill(_interface(f'{package}/msg/{kind}')(), each) for each in value]
        return type(old)(value)

    return fill(message, yaml.safe_load(text))


def _plain(message: Any) -> Any:
    """Return a message as what YAML knows; arrays of numbers are left out."""
    if not hasattr(message, 'get_fields_and_field_types'):
        return message if isinstance(message, (bool, int, float, str)) else '<sequence>'
    return {key: _plain(getattr(message, key)) for key in message.get_fields_and_field_types()}
