"""The parameters of every node, for pages and tests."""

from robot_id.nodes import (
    ctc_parameters,
    data_logger,
    ddm_parameters,
    effort_relay,
    identification_server,
    identify_once,
    motion_player,
    online_settings,
    replay,
    trajectory_generator,
)
from robot_id.ros.parameter_table import AUTOSTART, ROBOT, Row

TABLES: dict[str, tuple[Row, ...]] = {
    'ctc_controller': (ROBOT, AUTOSTART, *ctc_parameters.TABLE),
    'data_logger': data_logger.TABLE,
    'ddm_simulator': (ROBOT, AUTOSTART, *ddm_parameters.TABLE),
    'effort_relay': effort_relay.TABLE,
    'identification_server': identification_server.TABLE,
    'identify_once': identify_once.TABLE,
    'motion_player': motion_player.TABLE,
    'online_identifier': online_settings.TABLE,
    'replay': replay.TABLE,
    'trajectory_generator': trajectory_generator.TABLE,
}
