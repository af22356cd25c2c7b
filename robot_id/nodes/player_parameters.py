"""Parameters of the node `motion_player`."""

from __future__ import annotations

from robot_id.ros.data_directory import DATA_DIRECTORY
from robot_id.ros.parameter_table import MAPPING, ROBOT, Row

TABLE = (
    ROBOT,
    MAPPING,
    DATA_DIRECTORY,
    Row('trajectory', '', 'Motion to play: a file of `robot-id excite`, or a standard motion.'),
    Row('controller', 'joint_trajectory_controller', 'Name of the controller of the robot.'),
    Row('interface', 'auto', 'How trajectories reach the controller; auto: by the action '
        'FollowJointTrajectory where control_msgs is installed.',
        choices=('auto', 'action', 'topic')),
    Row('point_rate_hz', 0.0, 'Rate of the points of a trajectory [Hz]; 0: as the motion needs.',
        0.0, 1000.0),
    Row('accelerations', True, 'Send accelerations; not all controllers take them.'),
    Row('speeds', [0.2, 0.5, 1.0], 'Speeds at which the motion is played, in this order, as '
        "shares of the motion's own."),
    Row('sim', False, 'The robot is simulated: no arming, no confirmation.'),
    Row('armed', False, 'Permit motion of a real robot; false again after each run.', live=True),
    Row('confirmed_speed', 0.0, 'Highest speed that is played without a call of ~/confirm.',
        0.0, 1.0, live=True),
    Row('confirm_s', 600.0, 'Time limit for ~/confirm [s].', 1.0, 1e6),
    Row('approach_share', 0.2, 'Fraction of the velocity and acceleration limits used on approach '
        'and return.', 0.01, 1.0),
    Row('back', True, 'Return to where the robot stood before.'),
    Row('largest_tracking_error', 0.1, 'Stop where a joint is further from its reference [rad or '
        'm].', 1e-4, 10.0),
    Row('largest_effort_share', 0.9, 'Stop above this share of an effort limit.', 0.01, 10.0),
    Row('stall_s', 5.0, 'Stop after so long without advance along the motion [s].', 0.1, 3600.0),
    Row('state_timeout_s', 0.5, 'Stop after so long without joint states [s].', 0.01, 60.0),
    Row('record', True, 'Record each speed by the data_logger, and check it before the next.',
        live=True),
    Row('clearance_m', 0.02, 'Smallest distance of the links on approach and return, from the '
        'geometry of the URDF [m]; 0: not checked.', 0.0, 1.0),
    Row('wait_s', 60.0, 'Time limit for controller, joint states and data_logger [s].', 0.1, 1e6),
    Row('once', False, 'Play at once, and end afterwards.'),
)  # fmt: skip
