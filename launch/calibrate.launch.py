"""From a position-controlled robot to a verdict: motion, recordings, report, in one launch."""

from __future__ import annotations

from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import EmitEvent, ExecuteProcess, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown

from robot_id.ros.launch_checks import check_and_show
from robot_id.ros.launch_support import (
    Given,
    argument,
    arguments,
    in_enclave,
    mapping_argument,
    switch,
)

# s until `robot-id play` is told that only the launch was ended (Ctrl-C tells it too), and until
# it is killed: by then the robot rests and its recording is closed.
TELL_S, KILL_S = '1', '20'


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
            argument('confirmed_speed', 'Highest speed that is played without a call of '
                     'motion_player/confirm.', '0'),
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
        ('--confirmed-speed', 'confirmed_speed'),
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
    time = str(given.on('use_sim_time')).lower()
    line += ['--', '--params-file', given['params_file'], '-p', f'use_sim_time:={time}']
    line += [word for old, new in given.remappings for word in ('-r', f'{old}:={new}')]
    process = ExecuteProcess(
        cmd=line,
        output='screen',
        emulate_tty=True,
        additional_env=in_enclave('operator'),
        sigterm_timeout=TELL_S,
        sigkill_timeout=KILL_S,
    )
    return [process, RegisterEventHandler(OnProcessExit(target_action=process, on_exit=_ended))]


def _ended(event: Any, context: LaunchContext) -> EmitEvent | None:
    """End the launch; with an error where the robot was not played or its result is not usable."""
    if context.is_shutdown:
        return None
    if event.returncode:
        raise RuntimeError(
            f'robot-id play ended with exit code {event.returncode}: its lines above say why'
        )
    return EmitEvent(event=Shutdown())
