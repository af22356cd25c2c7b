"""Simulate (or listen to a robot), record, identify: in one go."""

from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
)
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare

from robot_id.ros.launch_support import (
    arguments,
    check_and_show,
    configuration,
    in_enclave,
    plain_node,
    switch,
)

# After Ctrl-C: a busy machine takes a while to close a recording.
PATIENCE_S = '20'


def generate_launch_description() -> LaunchDescription:
    """Return simulator, generator, logger and server, and who asks them one after the other."""
    once = Node(
        package='robot_id',
        executable='identify_once',
        additional_env=in_enclave('identify_once'),
        name='identify_once',
        namespace=LaunchConfiguration('namespace'),
        output='screen',
        condition=IfCondition(LaunchConfiguration('identify')),
        parameters=[
            {
                'method': configuration('method'),
                'record_s': configuration('record_s', float),
                'settle_s': configuration('settle_s', float),
            }
        ],
    )
    return LaunchDescription(
        [
            *_declared(),
            OpaqueFunction(function=check_and_show),
            _simulation(),
            plain_node(
                'data_logger',
                {'data_directory': configuration('data_directory')},
                sigterm_timeout=PATIENCE_S,
            ),
            plain_node(
                'identification_server',
                {'data_directory': configuration('data_directory')},
                sigterm_timeout=PATIENCE_S,
            ),
            plain_node(
                'online_identifier', {}, condition=IfCondition(LaunchConfiguration('online'))
            ),
            once,
            RegisterEventHandler(
                OnProcessExit(
                    target_action=once,
                    on_exit=[EmitEvent(event=Shutdown(reason='the identification is done'))],
                ),
                condition=IfCondition(LaunchConfiguration('identify')),
            ),
        ]
    )


def _declared() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        switch(
            'sim', 'true', 'Simulate the robot; false: its driver and a motion must be running.'
        ),
        *arguments('identification.yaml', use_sim_time=LaunchConfiguration('sim')),
        DeclareLaunchArgument(
            'data_directory',
            default_value='~/.ros/robot_id',
            description='Directory of recordings and results.',
        ),
        DeclareLaunchArgument(
            'method', default_value='idim_wls', description='Identification method.'
        ),
        DeclareLaunchArgument(
            'record_s', default_value='10.0', description='Length of the recording [s].'
        ),
        DeclareLaunchArgument(
            'settle_s',
            default_value='1.0',
            description='Time to wait before the recording starts [s].',
        ),
        switch('online', 'false', 'Run the on-line identifier as well.'),
        switch(
            'identify', 'true', 'Record and identify at once, then end; false: wait for calls.'
        ),
    ]


def _simulation() -> GroupAction:
    """Return the simulated robot and its motion, where it is asked for."""
    # Scoped: what is said to the simulation must not be said to the nodes below.
    return GroupAction(
        [
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(
                    PathJoinSubstitution(
                        [FindPackageShare('robot_id'), 'launch', 'simulate.launch.py']
                    )
                ),
                launch_arguments={
                    'robot': LaunchConfiguration('robot'),
                    'namespace': LaunchConfiguration('namespace'),
                    'use_sim_time': LaunchConfiguration('use_sim_time'),
                    'enclaves': LaunchConfiguration('enclaves'),
                    'rviz': 'false',
                    'params_file': PathJoinSubstitution(
                        [FindPackageShare('robot_id'), 'config', 'simulation.yaml']
                    ),
                }.items(),
            )
        ],
        condition=IfCondition(LaunchConfiguration('sim')),
    )
