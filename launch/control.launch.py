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
                description='Simulate the robot; false: its driver must be running.',
            ),
            *arguments('control.yaml', use_sim_time=LaunchConfiguration('sim')),
            DeclareLaunchArgument(
                'rate_hz',
                default_value='1000.0',
                description='Rate of the joint states and of the reference [Hz].',
            ),
            DeclareLaunchArgument(
                'lock_step',
                default_value=LaunchConfiguration('sim'),
                choices=['true', 'false'],
                description='Simulator and controller wait for each other (repeatable); '
                'false with sim:=true runs in real time, which needs a machine that is not busy.',
            ),
            DeclareLaunchArgument(
                'parameters',
                default_value='',
                description='Result file (JSON) with the model; empty: the a priori values.',
            ),
            DeclareLaunchArgument(
                'learning',
                default_value='false',
                choices=['true', 'false'],
                description='Update the model from the first cycle on (ILIC).',
            ),
            DeclareLaunchArgument(
                'trajectory',
                default_value='',
                description="Motion: a standard one, 'lively' or a file; empty: the robot file's.",
            ),
            DeclareLaunchArgument(
                'autostart',
                default_value=LaunchConfiguration('sim'),
                choices=['true', 'false'],
                description='Start the motion at the first joint state; false: call '
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
