"""Computed torque control on a real robot, or with sim:=true on a simulated one."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition, UnlessCondition
from launch.substitutions import LaunchConfiguration

from robot_id.ros.launch_support import (
    arguments,
    check_and_show,
    configuration,
    lifecycle_node,
    nodes_in_one_process,
    plain_node,
    switch,
)

LOOP = {
    'rate_hz': configuration('rate_hz', float),
    'lock_step': configuration('lock_step', bool),
    'real_time_priority': configuration('real_time_priority', int),
}
CONTROLLER = {
    **LOOP,
    'parameters': configuration('parameters'),
    'data_directory': configuration('data_directory'),
    'learning': configuration('learning', bool),
    'dry_run': configuration('dry_run', bool),
}
GENERATOR = {**LOOP, 'trajectory': configuration('trajectory')}


def generate_launch_description() -> LaunchDescription:
    """Return controller and generator, and the simulator where it is asked for."""
    return LaunchDescription(
        [
            *_declared(),
            OpaqueFunction(function=check_and_show),
            *lifecycle_node(
                'ddm_simulator',
                {'mode': 'plant', **LOOP},
                condition=IfCondition(LaunchConfiguration('sim')),
            ),
            nodes_in_one_process(
                'control_loop',
                {**CONTROLLER, **GENERATOR, 'autostart': configuration('autostart', bool)},
                'control_loop.yaml',
                condition=IfCondition(LaunchConfiguration('composed')),
            ),
            *lifecycle_node(
                'ctc_controller',
                CONTROLLER,
                condition=UnlessCondition(LaunchConfiguration('composed')),
            ),
            plain_node(
                'trajectory_generator',
                {**GENERATOR, 'autostart': configuration('autostart', bool)},
                condition=UnlessCondition(LaunchConfiguration('composed')),
            ),
        ]
    )


def _declared() -> list[DeclareLaunchArgument]:
    """Return the arguments of this launch file."""
    return [
        switch('sim', 'false', 'Simulate the robot; false: its driver must be running.'),
        *arguments('control.yaml', use_sim_time=LaunchConfiguration('sim')),
        DeclareLaunchArgument(
            'rate_hz',
            default_value='1000.0',
            description='Rate of the joint states and of the reference [Hz].',
        ),
        switch(
            'lock_step',
            LaunchConfiguration('sim'),
            'Simulator and controller wait for each other (repeatable); '
            'false with sim:=true runs in real time, which needs a machine that is not busy.',
        ),
        DeclareLaunchArgument(
            'parameters',
            default_value='',
            description='The model: a result file (JSON), a URDF, SDF or MJCF, or urdf: the '
            'inertias of its own URDF; empty: the a priori values.',
        ),
        DeclareLaunchArgument(
            'data_directory',
            default_value='~/.ros/robot_id',
            description='Directory of the result files that ~/set_dynamic_parameters may name.',
        ),
        switch('learning', 'false', 'Update the model from the first cycle on (ILIC).'),
        DeclareLaunchArgument(
            'trajectory',
            default_value='',
            description="Motion: a standard one, 'lively' or a file; empty: the robot file's.",
        ),
        switch(
            'autostart',
            LaunchConfiguration('sim'),
            'Start the motion at the first joint state; false: call trajectory_generator/start.',
        ),
        switch(
            'composed',
            'true',
            'Generator and controller in one process; false: a process each, as a '
            'reference from another node needs.',
        ),
        switch('dry_run', 'false', 'Compute the commands and show them; send none to the robot.'),
        DeclareLaunchArgument(
            'real_time_priority',
            default_value='0',
            description='Priority of SCHED_FIFO (1 to 98) with memory locked; 0: none.',
        ),
    ]
