"""A simulated robot with its own controller, and a reference that it follows."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from robot_id.ros.launch_support import (
    arguments,
    check_and_show,
    configuration,
    lifecycle_node,
    plain_node,
    switch,
)


def generate_launch_description() -> LaunchDescription:
    """Return simulator and generator."""
    return LaunchDescription(
        [
            *arguments('simulation.yaml', use_sim_time='true'),
            DeclareLaunchArgument(
                'mode',
                default_value='closed_loop',
                choices=['closed_loop', 'plant'],
                description='closed_loop: the robot follows the reference by itself; plant: it '
                'takes effort commands.',
            ),
            DeclareLaunchArgument(
                'loop',
                default_value='default',
                description="Loop of the robot file: the robot's own controller.",
            ),
            DeclareLaunchArgument(
                'rate_hz',
                default_value='1000.0',
                description='Rate of the joint states and of the reference [Hz].',
            ),
            switch(
                'lock_step',
                'false',
                'The simulator waits for the reference: repeatable, at full speed.',
            ),
            DeclareLaunchArgument(
                'trajectory',
                default_value='',
                description="Motion: a standard one, 'lively' or a file; empty: the robot file's.",
            ),
            switch('autostart', 'true', 'Start the motion at the first joint state.'),
            OpaqueFunction(function=check_and_show),
            *lifecycle_node(
                'ddm_simulator',
                {
                    'mode': configuration('mode'),
                    'loop': configuration('loop'),
                    'rate_hz': configuration('rate_hz', float),
                    'lock_step': configuration('lock_step', bool),
                },
            ),
            plain_node(
                'trajectory_generator',
                {
                    'rate_hz': configuration('rate_hz', float),
                    'lock_step': configuration('lock_step', bool),
                    'trajectory': configuration('trajectory'),
                    'autostart': configuration('autostart', bool),
                },
            ),
        ]
    )
