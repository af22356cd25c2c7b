"""Shared by the launch files: their arguments, and nodes that are started by transitions."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterFile
from launch_ros.substitutions import FindPackageShare
from lifecycle_msgs.msg import Transition

from robot_id.ros.enclave import ENCLAVE

PACKAGE = 'robot_id'
# An argument that is left empty leaves the parameter to the parameter file.
FROM_FILE = 'Empty: as the parameter file says'
# Exit code of a node whose parameters cannot be used.
UNUSABLE = 2
TRUTH = {'true': True, 'false': False}


def switch(name: str, default: Any, description: str) -> DeclareLaunchArgument:
    """Return an argument that is true or false; '' as default leaves it to the parameter file."""
    choices = [*TRUTH, ''] if default == '' else list(TRUTH)
    return DeclareLaunchArgument(
        name, default_value=default, choices=choices, description=description
    )


def argument(name: str, description: str, default: Any = '') -> DeclareLaunchArgument:
    """Return an argument with any text."""
    return DeclareLaunchArgument(name, default_value=default, description=description)


def arguments(params_file: str, use_sim_time: Any) -> list[DeclareLaunchArgument]:
    """
    Return the arguments that every launch file has.

    :param params_file: default of `params_file`, a file of config/.
    :param use_sim_time: default of `use_sim_time`.
    """
    file = PathJoinSubstitution([FindPackageShare(PACKAGE), 'config', params_file])
    return [
        argument(
            'robot', 'Robot: a shipped name (emps, scara, tx40), a robot file or a URDF.', 'emps'
        ),
        argument(
            'lock',
            "Joints of a URDF that do not move, with their positions: '{gripper: 0.0}'; others: "
            'all but those of `joints`.',
        ),
        argument(
            'joints',
            "Order of the joints in effort_commands, by the driver's names: '[a, b, c]'. "
            f"{FROM_FILE}, else the robot's order.",
        ),
        argument('remap', "Topics of all nodes: 'joint_states:=/arm/joint_states a:=b'."),
        argument('namespace', 'Namespace of all nodes and topics.'),
        switch(
            'use_sim_time',
            use_sim_time,
            'Take the time from /clock, which the simulator publishes.',
        ),
        argument('params_file', 'Parameter file for all nodes; its key is /**:', file),
        argument(
            'enclaves',
            'With ROS_SECURITY_ENABLE=true each process runs in the enclave of its name below '
            'this one.',
            '/robot_id',
        ),
        switch(
            'rviz', 'false', 'Show the robot in RViz (starts robot_state_publisher and rviz2).'
        ),
    ]


def mapping_argument() -> DeclareLaunchArgument:
    """Return the argument of launch files that meet a robot's driver."""
    return argument(
        'mapping',
        "Topics, names, signs and units of the robot's driver: a shipped mapping or a file. "
        f'{FROM_FILE}.',
    )


class Given:
    """
    The arguments of a launch, and nodes that are started with them.

    A parameter of a node is that of the argument; where it is empty, that of the parameter file;
    where there is none, the default of the launch file.
    """

    def __init__(self, context: LaunchContext) -> None:
        self._context = context

    def __getitem__(self, name: str) -> str:
        return str(LaunchConfiguration(name).perform(self._context))

    def on(self, name: str, default: bool = False) -> bool:
        """Return whether a switch is on."""
        return TRUTH.get(self[name], default)

    def parameters(self, **kinds: type) -> dict[str, Any]:
        """Return the arguments that were given, each as a parameter of its type."""
        return {
            name: _typed(name, text, kind) for name, kind in kinds.items() if (text := self[name])
        }

    @property
    def simulates(self) -> bool:
        """Whether the robot is simulated."""
        return 'sim' in self._context.launch_configurations and self.on('sim')

    @property
    def mapping(self) -> str:
        """The mapping of the driver, by the argument or by the parameter file; '' for none."""
        if self['mapping']:
            return self['mapping']
        file = Path(self['params_file']).expanduser()
        try:
            sections = yaml.safe_load(file.read_text())
        except (OSError, yaml.YAMLError) as error:
            line = ' '.join(str(error).split())
            raise RuntimeError(f'params_file: {file} cannot be read ({line})') from None
        for section in sections.values() if isinstance(sections, dict) else ():
            named = section.get('ros__parameters') if isinstance(section, dict) else None
            if isinstance(named, dict) and named.get('mapping'):
                return str(named['mapping'])
        return ''

    @property
    def remappings(self) -> list[tuple[str, str]]:
        """What `remap` says."""
        pairs = [each.split(':=') for each in self['remap'].split()]
        for pair in pairs:
            if len(pair) != 2 or not all(pair):
                raise RuntimeError(f"remap: '{':='.join(pair)}' is not of the form old:=new")
        return [(old, new) for old, new in pairs]

    def _common(
        self,
        executable: str,
        parameters: dict[str, Any],
        defaults: dict[str, Any] | None,
        remappings: Sequence[tuple[str, str]],
    ) -> dict[str, Any]:
        told = {
            'robot': self['robot'],
            'use_sim_time': self.on('use_sim_time'),
            **parameters,
        }
        file = ParameterFile(self['params_file'], allow_substs=True)
        return {
            'package': PACKAGE,
            'executable': executable,
            'additional_env': in_enclave(executable),
            'namespace': self['namespace'],
            'output': 'screen',
            'on_exit': _end_if_unusable,
            'parameters': [*_file_of(defaults), file, told],
            'remappings': [*remappings, *self.remappings],
        }

    def node(
        self,
        executable: str,
        parameters: dict[str, Any],
        defaults: dict[str, Any] | None = None,
        remappings: Sequence[tuple[str, str]] = (),
        composed: bool = False,
        **options: Any,
    ) -> Node:
        """
        Return a node without a lifecycle, or several in one process.

        :param parameters: that the launch file was told.
        :param defaults: where the parameter file says nothing.
        :param composed: several nodes, which keep their own names.
        """
        named: dict[str, Any] = {} if composed else {'name': executable}
        common = self._common(executable, parameters, defaults, remappings)
        return Node(**named, **common, **options)

    def lifecycle_node(
        self,
        executable: str,
        parameters: dict[str, Any],
        defaults: dict[str, Any] | None = None,
        remappings: Sequence[tuple[str, str]] = (),
        activate: bool = True,
    ) -> list[LaunchDescriptionEntity]:
        """Return a lifecycle node that is configured when it starts, and activated on request."""
        common = self._common(executable, parameters, defaults, remappings)
        node = LifecycleNode(name=executable, **common)

        def change(transition: int) -> EmitEvent:
            matches = matches_action(node)
            event = ChangeState(lifecycle_node_matcher=matches, transition_id=transition)
            return EmitEvent(event=event)

        configured = OnProcessStart(
            target_action=node, on_start=[change(Transition.TRANSITION_CONFIGURE)]
        )
        activated = OnStateTransition(
            target_lifecycle_node=node,
            start_state='configuring',
            goal_state='inactive',
            entities=[change(Transition.TRANSITION_ACTIVATE)],
        )
        refused = OnStateTransition(
            target_lifecycle_node=node,
            start_state='configuring',
            goal_state='unconfigured',
            entities=[OpaqueFunction(function=_refused, args=[executable])],
        )
        handlers = [configured, refused, *([activated] if activate else [])]
        return [*map(RegisterEventHandler, handlers), node]


def _end_if_unusable(event: Any, context: LaunchContext) -> None:
    """End the launch where a node ends before it works; later the others keep the robot safe."""
    if event.returncode == UNUSABLE and not context.is_shutdown:
        _refused(context, event.process_name)


def _refused(context: LaunchContext, name: str) -> None:
    raise RuntimeError(f'{name} cannot start with its parameters, see its line above')


def _file_of(defaults: dict[str, Any] | None) -> list[ParameterFile]:
    """
    Return parameters as a file for any node.

    A dictionary would be keyed by the node, and ROS takes what it first read of a node before
    what it later reads of all.
    """
    if not defaults:
        return []
    with tempfile.NamedTemporaryFile('w', prefix='launch_params_', delete=False) as file:
        yaml.safe_dump({'/**': {'ros__parameters': defaults}}, file)
    return [ParameterFile(file.name)]


def in_enclave(executable: str) -> dict[str, Any]:
    """Return the environment of a process: its own enclave, whatever that of the shell is."""
    return {ENCLAVE: [LaunchConfiguration('enclaves'), '/', executable]}


def _typed(name: str, text: str, kind: type) -> Any:
    if kind is str:
        # A ROS parameter file would read '1' as a number.
        return text
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise RuntimeError(f'{name}:={text} is not {WORDS[kind]}')
    return value


WORDS = {float: 'a number', int: 'a whole number', bool: 'true or false', list: 'a list [a, b]'}


def package_file(context: LaunchContext, *parts: str) -> Path:
    """Return a file of the package."""
    return Path(FindPackageShare(PACKAGE).perform(context)).joinpath(*parts)
