"""Computed torque control on a real robot, or with sim:=true on a simulated one."""

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration

from robot_id.ros.driver_mapping import topics_of
from robot_id.ros.effort_commands import COMMANDS
from robot_id.ros.launch_checks import check_and_show
from robot_id.ros.launch_support import (
    FROM_FILE,
    Given,
    argument,
    arguments,
    mapping_argument,
    switch,
)

LOOP = {'rate_hz': float, 'lock_step': bool, 'real_time_priority': int}
CONTROLLER = {
    **LOOP,
    'mapping': str,
    'joints': list,
    'parameters': str,
    'data_directory': str,
    'learning': bool,
    'dry_run': bool,
}
GENERATOR = {**LOOP, 'mapping': str, 'trajectory': str, 'start_motion': bool}
RELAYED = 'effort_relay/commands'


def generate_launch_description() -> LaunchDescription:
    """Return controller and generator, and simulator and relay where they are asked for."""
    return LaunchDescription(
        [
            *_declared(),
            OpaqueFunction(function=check_and_show),
            OpaqueFunction(function=_nodes),
        ]
    )


def _nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = Given(context)
    sim, found = given.on('sim'), []
    defaults = {'rate_hz': 1000.0, 'lock_step': sim, 'autostart': sim, 'start_motion': sim}
    loop = {key: defaults[key] for key in ('rate_hz', 'lock_step')}
    if sim:
        told = {'mode': 'plant', **given.parameters(**LOOP, joints=list)}
        found += given.lifecycle_node('ddm_simulator', told, loop)
    # A simulated robot has a time-out of its own.
    to_robot = []
    if given.on('relay', not sim):
        topic = topics_of(given.mapping).effort_commands or COMMANDS
        to_robot = [(topic, RELAYED)]
        told = given.parameters(mapping=str, real_time_priority=int)
        found.append(given.node('effort_relay', told))
    if given.on('composed'):
        told = given.parameters(**{**CONTROLLER, **GENERATOR}, autostart=bool)
        found.append(given.node('control_loop', told, defaults, to_robot, composed=True))
        return found
    told = given.parameters(**CONTROLLER)
    active = given.on('autostart', sim)
    generator = {'start_motion': sim, **loop}
    return [
        *found,
        *given.lifecycle_node('ctc_controller', told, loop, to_robot, activate=active),
        given.node('trajectory_generator', given.parameters(**GENERATOR), generator),
    ]


def _declared() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        switch('sim', 'false', 'Simulate the robot; false: its driver must be running.'),
        *arguments('control.yaml', use_sim_time=LaunchConfiguration('sim')),
        mapping_argument(),
        argument(
            'rate_hz',
            f'Rate of the joint states and of the reference [Hz]. {FROM_FILE}, else 1000.0.',
        ),
        switch(
            'lock_step',
            '',
            'Simulator and controller wait for each other (repeatable); false with sim:=true runs '
            f'in real time, which needs a machine that is not busy. {FROM_FILE}, else as sim.',
        ),
        argument(
            'parameters',
            'The model: a result file (JSON), a URDF, SDF or MJCF, or urdf: the inertias of its '
            f'own URDF. {FROM_FILE}, else the a priori values.',
        ),
        argument(
            'data_directory',
            'Directory of the result files that ~/set_dynamic_parameters may name. '
            f'{FROM_FILE}, else ~/.ros/robot_id.',
        ),
        switch(
            'learning',
            '',
            f'Update the model from the first cycle on (ILIC). {FROM_FILE}, else false.',
        ),
        argument(
            'trajectory',
            f"Motion: a standard one, 'random' or a file. {FROM_FILE}, else the robot file's.",
        ),
        *_starting(),
    ]


def _starting() -> list[DeclareLaunchArgument]:
    """Return the arguments that say what happens to the robot."""
    return [
        switch(
            'autostart',
            '',
            'Activate the controller: it holds the robot with its torques. '
            f'{FROM_FILE}, else as sim: a real robot waits for you.',
        ),
        switch(
            'start_motion',
            '',
            'Start the motion at the first joint state; false: call trajectory_generator/start. '
            f'{FROM_FILE}, else as sim.',
        ),
        switch(
            'relay',
            '',
            'Pass the commands through effort_relay, which sends zero when they stop: for a '
            'driver that repeats the last command for ever. Empty: true without sim.',
        ),
        switch(
            'composed',
            'true',
            'Generator and controller in one process; false: a process each, as a '
            'reference from another node needs.',
        ),
        switch(
            'dry_run',
            '',
            'Compute the commands and show them; send none to the robot. '
            f'{FROM_FILE}, else false.',
        ),
        argument(
            'real_time_priority',
            f'Priority of SCHED_FIFO (1 to 98) with memory locked; 0: none. {FROM_FILE}, else 0.',
        ),
    ]
