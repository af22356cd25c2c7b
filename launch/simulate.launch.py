"""A simulated robot with its own controller, and a reference that it follows."""

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from robot_id.ros.launch_checks import check_and_show
from robot_id.ros.launch_support import FROM_FILE, Given, argument, arguments, switch

BOTH = {'rate_hz': float, 'lock_step': bool}


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
            argument(
                'loop',
                "Loop of the robot file: the robot's own controller. "
                f'{FROM_FILE}, else the first one.',
            ),
            argument(
                'rate_hz',
                f'Rate of the joint states and of the reference [Hz]. {FROM_FILE}, else 1000.0.',
            ),
            switch(
                'lock_step',
                '',
                'The simulator waits for the reference: repeatable, at full speed. '
                f'{FROM_FILE}, else false.',
            ),
            argument(
                'trajectory',
                f"Motion: a standard one, 'random' or a file. {FROM_FILE}, else the robot file's.",
            ),
            switch(
                'start_motion',
                '',
                f'Start the motion at the first joint state. {FROM_FILE}, else true.',
            ),
            OpaqueFunction(function=check_and_show),
            OpaqueFunction(function=_nodes),
        ]
    )


def _nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = Given(context)
    rate = {'rate_hz': 1000.0}
    simulator = given.parameters(**BOTH, mode=str, loop=str, joints=list)
    generator = given.parameters(**BOTH, trajectory=str, start_motion=bool)
    return [
        *given.lifecycle_node('ddm_simulator', simulator, rate),
        given.node('trajectory_generator', generator, {**rate, 'start_motion': True}),
    ]
