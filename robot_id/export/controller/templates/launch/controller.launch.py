"""Run the controller manager with the identified controller; by default on mock hardware."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import Command, LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare


def generate_launch_description():
    """Return the manager, the broadcaster of joint states and the controller."""
    config = PathJoinSubstitution([FindPackageShare('@PACKAGE@'), 'config'])
    description = ParameterValue(Command(['cat ', LaunchConfiguration('urdf')]), value_type=str)
    controllers = LaunchConfiguration('controllers')
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                'urdf',
                default_value=PathJoinSubstitution([config, 'mock.urdf']),
                description='URDF with the ros2_control tag of your hardware.',
            ),
            DeclareLaunchArgument(
                'controllers',
                default_value=PathJoinSubstitution([config, 'controllers.yaml']),
                description='Parameters of the controller manager and of the controllers.',
            ),
            Node(
                package='robot_state_publisher',
                executable='robot_state_publisher',
                parameters=[{'robot_description': description}],
            ),
            Node(
                package='controller_manager',
                executable='ros2_control_node',
                parameters=[controllers],
                remappings=[('~/robot_description', '/robot_description')],
                output='screen',
            ),
            Node(
                package='controller_manager',
                executable='spawner',
                arguments=['joint_state_broadcaster', '@PREFIX@_controller'],
            ),
        ]
    )
