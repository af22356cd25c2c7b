"""A recording on the topics, recorded again or identified on the way where it is asked for."""

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import EmitEvent, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown

from robot_id.ros.launch_checks import check_and_show
from robot_id.ros.launch_support import (
    FROM_FILE,
    Given,
    argument,
    arguments,
    mapping_argument,
    switch,
)


def generate_launch_description() -> LaunchDescription:
    """Return the replay, and the on-line identifier where it is asked for."""
    return LaunchDescription(
        [
            *arguments('replay.yaml', use_sim_time='true'),
            mapping_argument(),
            argument('bag', 'Recording: a directory, an .mcap or a .db3 file.'),
            argument(
                'rate', f'Playback speed: recorded seconds per second. {FROM_FILE}, else 1.0.'
            ),
            argument(
                'start_s',
                f'Start time, counted from the first joint state [s]. {FROM_FILE}, else 0.0.',
            ),
            switch('loop', '', f'Start again at the end. {FROM_FILE}, else false.'),
            switch('online', 'false', 'Run the on-line identifier on the recording.'),
            OpaqueFunction(function=check_and_show),
            OpaqueFunction(function=_nodes),
        ]
    )


def _nodes(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    given = Given(context)
    told = given.parameters(bag=str, rate=float, start_s=float, loop=bool)
    # It makes the time that the others follow.
    own = {'clock': given.on('use_sim_time'), 'use_sim_time': False}
    replay = given.node('replay', {**told, **own})
    over = EmitEvent(event=Shutdown(reason='the recording is over'))
    nodes: list[LaunchDescriptionEntity] = [
        replay,
        RegisterEventHandler(OnProcessExit(target_action=replay, on_exit=[over])),
    ]
    if given.on('online'):
        nodes.append(given.node('online_identifier', given.parameters(mapping=str)))
    return nodes
