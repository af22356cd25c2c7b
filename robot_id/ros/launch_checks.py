"""What a launch file does before any node starts: refuse what cannot run, show the robot."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescriptionEntity
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from robot_id.ros.enclave import missing_enclave
from robot_id.ros.launch_support import Given, in_enclave, package_file

if TYPE_CHECKING:
    from robot_id.robot import Robot

# Name of a robot that stands for the topic robot_description.
TOPIC_ROBOT = 'topic'
VIEWERS = ('robot_state_publisher', 'rviz2')


def check_and_show(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Refuse what cannot run before any node starts; show the robot with `rviz:=true`."""
    from robot_id.data.joint_order import joint_order
    from robot_id.exceptions import RobotIdError
    from robot_id.robot.files.loading import load_robot
    from robot_id.robot.files.source import robot_files

    given = Given(context)
    line = missing_enclave(f'{given["enclaves"]}/operator')
    if line:
        raise RuntimeError(line)
    if given['robot'] == TOPIC_ROBOT:
        if given.on('rviz'):
            raise RuntimeError('rviz:=true: who publishes robot_description shows the robot too')
        return []
    if given['lock']:
        context.launch_configurations['robot'] = _locked(given)
        context.launch_configurations['lock'] = ''
    name = given['robot']
    try:
        robot = load_robot(name)
        names = robot.joint_names
        if 'mapping' in context.launch_configurations:
            names = tuple(_names_of_driver(given, robot))
        if given['joints']:
            joint_order(names, given.parameters(joints=list)['joints'], 'joints')
    except RobotIdError as error:
        raise RuntimeError(str(error)) from None
    if not given.on('rviz'):
        return []
    missing = [package for package in VIEWERS if not _is_installed(package)]
    if missing:
        raise RuntimeError(
            f'rviz:=true needs the ROS packages {" and ".join(missing)}; install them '
            '(Debian names ros-$ROS_DISTRO-robot-state-publisher, ros-$ROS_DISTRO-rviz2) '
            'or leave rviz:=true out'
        )
    urdf = robot.description.urdf
    if urdf is None:
        raise RuntimeError(f"rviz:=true needs a URDF, robot '{name}' has none")
    text = ((robot_files().get(name) or Path(name)).parent / urdf).read_text()
    return _viewers(given, text, package_file(context, 'config/layouts/robot.rviz'))


def _names_of_driver(given: Given, robot: Robot) -> Sequence[str]:
    """Return how the driver calls the joints; refuse a mapping that does not fit."""
    from robot_id.ros.driver_mapping import DriverMapping

    mapping = given.mapping
    if mapping and given.simulates:
        raise RuntimeError(f"mapping '{mapping}': a simulated robot has no driver, leave it out")
    return DriverMapping(mapping, robot.joint_names, robot.drive_gains).names


def _viewers(given: Given, urdf: str, layout: Path) -> list[LaunchDescriptionEntity]:
    common: dict[str, Any] = {
        'namespace': given['namespace'],
        # Frames below the namespace, or two robots would move each other's links.
        'remappings': [('/tf', 'tf'), ('/tf_static', 'tf_static'), *given.remappings],
    }
    time: dict[str, Any] = {'use_sim_time': given.on('use_sim_time')}
    return [
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            additional_env=in_enclave('robot_state_publisher'),
            parameters=[{'robot_description': ParameterValue(urdf, value_type=str), **time}],
            **common,
        ),
        Node(
            package='rviz2',
            executable='rviz2',
            additional_env=in_enclave('rviz2'),
            arguments=['-d', str(layout), '-f', root_link(urdf)],
            parameters=[time],
            **common,
        ),
    ]


def _locked(given: Given) -> str:
    """Return a robot file: the URDF with its locked joints, for all nodes of the launch."""
    urdf = Path(given['robot'])
    if urdf.suffix not in ('.urdf', '.xml', '.xacro'):
        raise RuntimeError(
            f"lock:=... is for a URDF; robot '{urdf}' has its own file: write 'locked' there"
        )
    try:
        lock = yaml.safe_load(given['lock'])
    except yaml.YAMLError:
        lock = None
    if not isinstance(lock, dict) and lock != 'others':
        raise RuntimeError(f"lock:={given['lock']} is neither '{{joint: position}}' nor others")
    content: dict[str, Any] = {'name': urdf.stem, 'urdf': str(urdf.absolute()), 'locked': lock}
    if lock == 'others':
        names = given.parameters(joints=list).get('joints', [])
        content['joints'] = [{'name': name} for name in names]
    folder = Path(tempfile.mkdtemp(prefix='robot_id_'))
    path = folder / f'{urdf.stem}.yaml'
    path.write_text(yaml.safe_dump(content))
    return str(path)


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
