"""Computed torque control on a real robot, or with sim:=true on a simulated one."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration

from robot_id.ros.launch_support import (
    arguments,
    check_and_show,
    configuration,
    lifecycle_node,
    plain_node,
)


def generate_launch_description() -> LaunchDescription:
    """Return controller and generator, and the simulator where it is asked for."""
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'sim',
                default_value='false',
                choices=['true', 'false'],
                description='Simulate the robot; else its driver must be running.',
            ),
            *arguments('control.yaml', use_sim_time=LaunchConfiguration('sim')),
            DeclareLaunchArgument(
                'rate_hz',
                default_value='1000.0',
                description='Joint states of the robot and points of the reference per second.',
            ),
            DeclareLaunchArgument(
                'lock_step',
                default_value=LaunchConfiguration('sim'),
                choices=['true', 'false'],
                description='Simulator and controller wait for each other; with sim:=true '
                'lock_step:=false runs in real time, which takes a machine with time to spare.',
            ),
            DeclareLaunchArgument(
                'parameters',
                default_value='',
                description='Result file (JSON) to control with; empty: the a priori values.',
            ),
            DeclareLaunchArgument(
                'learning',
                default_value='false',
                choices=['true', 'false'],
                description='Learn from the first cycle on (ILIC).',
            ),
            DeclareLaunchArgument(
                'trajectory',
                default_value='',
                description="A standard motion, 'lively' or a file; empty: the robot's own.",
            ),
            DeclareLaunchArgument(
                'autostart',
                default_value=LaunchConfiguration('sim'),
                choices=['true', 'false'],
                description='Begin to move with the first joint state; else call '
                'trajectory_generator/start.',
            ),
            OpaqueFunction(function=check_and_show),
            *lifecycle_node(
                'ddm_simulator',
                {
                    'mode': 'plant',
                    'rate_hz': configuration('rate_hz', float),
                    'lock_step': configuration('lock_step', bool),
                },
                condition=IfCondition(LaunchConfiguration('sim')),
            ),
            *lifecycle_node(
                'ctc_controller',
                {
                    'rate_hz': configuration('rate_hz', float),
                    'lock_step': configuration('lock_step', bool),
                    'parameters': configuration('parameters'),
                    'learning': configuration('learning', bool),
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
