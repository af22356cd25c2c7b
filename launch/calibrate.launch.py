"""From a position-controlled robot to a verdict: motion, recordings, report, in one launch."""

from __future__ import annotations

from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import EmitEvent, ExecuteProcess, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown

from robot_id.ros.launch_checks import check_and_show
from robot_id.ros.launch_support import Given, argument, arguments, mapping_argument, switch


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the process of `robot-id play --identify`."""
    return LaunchDescription(
        [
            *arguments('identification.yaml', 'false'),
            mapping_argument(),
            argument('controller', 'Name of the joint_trajectory_controller.',
                     'joint_trajectory_controller'),
            argument('motion', 'Motion of `robot-id excite`; empty: one is found first.'),
            argument('budget', 'Time to find a motion, s.', '60'),
            argument('speeds', "Shares of the motion's own speed, in this order.", '0.2,0.5,1'),
            argument('data_directory', 'Folder of motion, recordings, result and report.', 'runs'),
            argument('method', 'Identification method.', 'idim_wls'),
            switch('sim', 'false', 'The robot is simulated: nothing is asked.'),
            switch('dry_run', 'false', 'Show motion and limits, and move nothing.'),
            OpaqueFunction(function=check_and_show),
            OpaqueFunction(function=_start),
        ]
    )  # fmt: skip


def _start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = Given(context)
    line: list[Any] = ['robot-id', 'play', '--identify', '--robot', given['robot']]
    for option, name in (
        ('--mapping', 'mapping'),
        ('--controller', 'controller'),
        ('--motion', 'motion'),
        ('--budget', 'budget'),
        ('--speeds', 'speeds'),
        ('--out', 'data_directory'),
        ('--method', 'method'),
        ('--namespace', 'namespace'),
    ):
        line += [option, given[name]] if given[name] else []
    if given['lock']:
        # Those of a URDF that has a file are locked by then: these are for the topic.
        locked = yaml.safe_load(given['lock'])
        if not isinstance(locked, dict):
            raise RuntimeError(f"lock:={given['lock']} is not '{{joint: position}}'")
        line += [word for name, at in locked.items() for word in ('--lock', f'{name}={at}')]
    line += ['--sim'] if given.on('sim') else []
    line += ['--dry-run'] if given.on('dry_run') else []
    # What a person is asked for comes from the terminal of the launch.
    process = ExecuteProcess(cmd=line, output='screen', emulate_tty=True)
    done = OnProcessExit(target_action=process, on_exit=[EmitEvent(event=Shutdown())])
    return [process, RegisterEventHandler(done)]
