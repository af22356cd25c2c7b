"""Shared by the launch files: their arguments, and nodes that are started by transitions."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition

from robot_id.ros.enclave import ENCLAVE, missing_enclave

PACKAGE = 'robot_id'
VIEWERS = ('robot_state_publisher', 'rviz2')


def switch(name: str, default: Any, description: str) -> DeclareLaunchArgument:
    """Return an argument that is true or false."""
    return DeclareLaunchArgument(
        name, default_value=default, choices=['true', 'false'], description=description
    )


def arguments(params_file: str, use_sim_time: str) -> list[DeclareLaunchArgument]:
    """
    Return the arguments that every launch file has.

    :param params_file: default of `params_file`, a file of config/.
    :param use_sim_time: default of `use_sim_time`.
    """
    return [
        DeclareLaunchArgument(
            'robot',
            default_value='emps',
            description='Robot: a shipped name (emps, scara, tx40), a robot file or a URDF.',
        ),
        DeclareLaunchArgument(
            'namespace', default_value='', description='Namespace of all nodes and topics.'
        ),
        switch(
            'use_sim_time',
            use_sim_time,
            'Take the time from /clock, which the simulator publishes.',
        ),
        DeclareLaunchArgument(
            'params_file',
            default_value=PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', params_file]),
            description='Parameter file for all nodes; its key is /**:',
        ),
        DeclareLaunchArgument(
            'enclaves',
            default_value='/robot_id',
            description='With ROS_SECURITY_ENABLE=true each process runs in the enclave of its '
            'name below this one.',
        ),
        switch(
            'rviz', 'false', 'Show the robot in RViz (starts robot_state_publisher and rviz2).'
        ),
    ]


def configuration(name: str, kind: type = str) -> Any:
    """Return an argument as a parameter of a type."""
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


def in_enclave(executable: str) -> dict[str, Any]:
    """Return the environment of a process: its own enclave, whatever that of the shell is."""
    return {ENCLAVE: [LaunchConfiguration('enclaves'), '/', executable]}


def _common(executable: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        'package': PACKAGE,
        'executable': executable,
        'additional_env': in_enclave(executable),
        'namespace': LaunchConfiguration('namespace'),
        'output': 'screen',
        'parameters': [
            ParameterFile(LaunchConfiguration('params_file'), allow_substs=True),
            {
                'robot': configuration('robot'),
                'use_sim_time': configuration('use_sim_time', bool),
                **parameters,
            },
        ],
    }


def nodes_in_one_process(
    executable: str, parameters: dict[str, Any], own: str, **options: Any
) -> Node:
    """
    Return an executable with several nodes, which keep their own names.

    :param parameters: of all of them.
    :param own: file of config/ with parameters that one of them needs to be different.
    """
    common = _common(executable, parameters)
    path = PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', own])
    common['parameters'].append(ParameterFile(path))
    return Node(**common, **options)


def plain_node(executable: str, parameters: dict[str, Any], **options: Any) -> Node:
    """Return a node without a lifecycle."""
    return Node(name=executable, **_common(executable, parameters), **options)


def lifecycle_node(
    executable: str, parameters: dict[str, Any], condition: Any = None
) -> list[LaunchDescriptionEntity]:
    """Return a lifecycle node that is configured when it starts, and then activated."""
    node = LifecycleNode(name=executable, condition=condition, **_common(executable, parameters))

    def change(transition: int) -> EmitEvent:
        return EmitEvent(
            event=ChangeState(
                lifecycle_node_matcher=matches_action(node), transition_id=transition
            )
        )

    return [
        RegisterEventHandler(
            OnProcessStart(
                target_action=node,
                on_start=[change(Transition.TRANSITION_CONFIGURE)],
            ),
            condition=condition,
        ),
        RegisterEventHandler(
            OnStateTransition(
                target_lifecycle_node=node,
                start_state='configuring',
                goal_state='inactive',
                entities=[change(Transition.TRANSITION_ACTIVATE)],
            ),
            condition=condition,
        ),
        node,
    ]


def check_and_show(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Refuse what cannot run before any node starts; show the robot with `rviz:=true`."""
    from robot_id.exceptions import RobotIdError
    from robot_id.model.files import robot_files
    from robot_id.model.loading import load_robot

    line = missing_enclave(f'{LaunchConfiguration("enclaves").perform(context)}/operator')
    if line:
        raise RuntimeError(line)
    name = LaunchConfiguration('robot').perform(context)
    try:
        urdf = load_robot(name).description.urdf
    except RobotIdError as error:
        raise RuntimeError(str(error)) from None
    if LaunchConfiguration('rviz').perform(context) != 'true':
        return []
    missing = [package for package in VIEWERS if not _is_installed(package)]
    if missing:
        raise RuntimeError(
            f'rviz:=true needs the ROS packages {" and ".join(missing)}; install them '
            '(Debian names ros-$ROS_DISTRO-robot-state-publisher, ros-$ROS_DISTRO-rviz2) '
            'or leave rviz:=true out'
        )
    if urdf is None:
        raise RuntimeError(f"rviz:=true needs a URDF, robot '{name}' has none")
    text = ((robot_files().get(name) or Path(name)).parent / urdf).read_text()
    share = Path(FindPackageShare(PACKAGE).perform(context))
    common: dict[str, Any] = {
        'namespace': LaunchConfiguration('namespace'),
        # Frames below the namespace, or two robots would move each other's links.
        'remappings': [('/tf', 'tf'), ('/tf_static', 'tf_static')],
    }
    time = {'use_sim_time': configuration('use_sim_time', bool)}
    return [
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            additional_env=in_enclave('robot_state_publisher'),
            parameters=[{'robot_description': ParameterValue(text, value_type=str), **time}],
            **common,
        ),
        Node(
            package='rviz2',
            executable='rviz2',
            additional_env=in_enclave('rviz2'),
            arguments=['-d', str(share / 'config/layouts/robot.rviz'), '-f', root_link(text)],
            parameters=[time],
            **common,
        ),
    ]


def _is_installed(package: str) -> bool:
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def root_link(urdf: str) -> str:
    """Return the root link of a URDF."""
    robot = ElementTree.fromstring(urdf)
    children = {child.get('link') for child in robot.iterfind('{*}joint/{*}child')}
    return next(
        str(link.get('name'))
        for link in robot.iterfind('{*}link')
        if link.get('name') not in children
    )
