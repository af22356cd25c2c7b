"""A recording on the topics, recorded again or identified on the way where it is asked for."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.substitutions import LaunchConfiguration

from robot_id.ros.launch_support import (
    arguments,
    check_and_show,
    configuration,
    plain_node,
    switch,
)


def generate_launch_description() -> LaunchDescription:
    """Return the replay, and the on-line identifier where it is asked for."""
    replay = plain_node(
        'replay',
        {
            'bag': configuration('bag'),
            'rate': configuration('rate', float),
            'start_s': configuration('start_s', float),
            'loop': configuration('loop', bool),
            'clock': configuration('use_sim_time', bool),
            # It makes the time that the others follow.
            'use_sim_time': False,
        },
    )
    return LaunchDescription(
        [
            *arguments('replay.yaml', use_sim_time='true'),
            DeclareLaunchArgument(
                'bag',
                default_value='',
                description='Recording: a directory, an .mcap or a .db3 file.',
            ),
            DeclareLaunchArgument(
                'rate',
                default_value='1.0',
                description='Playback speed: recorded seconds per second.',
            ),
            DeclareLaunchArgument(
                'start_s',
                default_value='0.0',
                description='Start time, counted from the first joint state [s].',
            ),
            switch('loop', 'false', 'Start again at the end.'),
            switch('online', 'false', 'Run the on-line identifier on the recording.'),
            OpaqueFunction(function=check_and_show),
            plain_node(
                'online_identifier', {}, condition=IfCondition(LaunchConfiguration('online'))
            ),
            replay,
            RegisterEventHandler(
                OnProcessExit(
                    target_action=replay,
                    on_exit=[EmitEvent(event=Shutdown(reason='the recording is over'))],
                )
            ),
        ]
    )
