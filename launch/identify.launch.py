"""Simulate (or listen to a robot), record, identify: in one go."""

from typing import Any

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from robot_id.ros.launch_checks import check_and_show
from robot_id.ros.launch_support import (
    FROM_FILE,
    Given,
    argument,
    arguments,
    mapping_argument,
    package_file,
    switch,
)

# After Ctrl-C: a busy machine takes a while to close a recording.
PATIENCE_S = '20'
FOR_THE_SIMULATION = ('robot', 'namespace', 'use_sim_time', 'enclaves', 'remap')


def generate_launch_description() -> LaunchDescription:
    """Return simulator, generator, logger and server, and who asks them one after the other."""
    return LaunchDescription(
        [
            *_declared(),
            OpaqueFunction(function=check_and_show),
            OpaqueFunction(function=_nodes),
        ]
    )


def _nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = Given(context)
    found = given.parameters(mapping=str, data_directory=str)
    nodes: list[LaunchDescriptionEntity] = [
        given.node(name, found, sigterm_timeout=PATIENCE_S)
        for name in ('data_logger', 'identification_server')
    ]
    if given.on('sim'):
        nodes.insert(0, _simulation(given, context))
    if given.on('online'):
        nodes.append(given.node('online_identifier', given.parameters(mapping=str)))
    if given.on('identify'):
        told = given.parameters(method=str, record_s=float, settle_s=float)
        once = given.node('identify_once', told, {'wait_for_motion': given.on('sim')})
        nodes += [once, RegisterEventHandler(OnProcessExit(target_action=once, on_exit=_end))]
    return nodes


def _end(event: Any, context: LaunchContext) -> EmitEvent | None:
    """End the launch with the identification, and with exit code 1 if that failed."""
    if event.returncode and not context.is_shutdown:
        raise RuntimeError(f'the identification failed (exit code {event.returncode})')
    return EmitEvent(event=Shutdown(reason='the identification is done'))


def _simulation(given: Given, context: LaunchContext) -> GroupAction:
    """Return the simulated robot and its motion."""
    source = PythonLaunchDescriptionSource(
        str(package_file(context, 'launch', 'simulate.launch.py'))
    )
    told = {name: given[name] for name in FOR_THE_SIMULATION}
    told['params_file'] = str(package_file(context, 'config', 'simulation.yaml'))
    # Scoped: what is said to the simulation must not be said to the nodes below.
    return GroupAction([IncludeLaunchDescription(source, launch_arguments=told.items())])


def _declared() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        switch(
            'sim', 'true', 'Simulate the robot; false: its driver and a motion must be running.'
        ),
        *arguments('identification.yaml', use_sim_time=LaunchConfiguration('sim')),
        mapping_argument(),
        argument(
            'data_directory',
            f'Directory of recordings and results. {FROM_FILE}, else ~/.ros/robot_id.',
        ),
        argument('method', f'Identification method. {FROM_FILE}, else idim_wls.'),
        argument('record_s', f'Length of the recording [s]. {FROM_FILE}, else 10.0.'),
        argument(
            'settle_s',
            'Time to wait before the recording starts [s], in simulation from the end of the '
            f'approach on. {FROM_FILE}, else 1.0.',
        ),
        switch('online', 'false', 'Run the on-line identifier as well.'),
        switch(
            'identify', 'true', 'Record and identify at once, then end; false: wait for calls.'
        ),
    ]
