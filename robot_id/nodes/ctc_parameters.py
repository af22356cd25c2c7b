"""The parameters of the node `ctc_controller`."""

from robot_id.control.learning.options import IlicOptions
from robot_id.control.runtime.computed_torque import BLEND_S, INTEGRAL
from robot_id.ros.data_directory import DATA_DIRECTORY
from robot_id.ros.option_rows import rows_of
from robot_id.ros.parameter_table import MAPPING, REAL_TIME_PRIORITY, Row

# Options of the learner that are parameters of the node.
LEARNER = ('window_s', 'sigma_max', 'physical')

TABLE = (
    DATA_DIRECTORY,
    MAPPING,
    Row('loop', 'learning', 'Computed torque loop of the robot file (bandwidth and damping).'),
    Row('rate_hz', 0.0, 'Rate of the joint states [Hz]; 0: the rate of the loop.', 0.0, 1e5),
    Row('joints', [], "Order of the joints in effort_commands, by the driver's names; empty: the "
        "robot's order.", items=str),
    Row('parameters', '', 'Start values of the model: a result file (JSON), a URDF, SDF or MJCF, '
        'or urdf: the inertias of its own URDF; empty: the a priori values of the robot file.'),
    Row('accept_caution', False, 'Start with a result file whose verdict is caution.'),
    Row('measured', False, 'Evaluate the model at the measured state instead of the reference.'),
    Row('integral', 0.0, 'Integral action, Ki = integral * Kp [1/s]; 0: none.',
        INTEGRAL.low, INTEGRAL.high),
    Row('torque_limit', [], "Torque limits in the robot's order [N m or N]; empty: those of the "
        'robot file.'),
    Row('largest_error', 0.0, 'Largest tracking error; beyond it the robot is stopped [rad or m]; '
        "0: 5 % of each joint's range.", 0.0, 100.0),
    Row('soft_start_s', 0.5, 'Time in which the torque grows after activation: to '
        'start_torque_share until the motion of a joint agrees with the model, then to its limit '
        '[s]; 0, and in lock-step: none.', 0.0, 60.0),
    Row('start_torque_share', 0.15, 'Largest torque of a joint before its motion agrees with the '
        'model, beyond the gravity of the model, as a share of its limit.', 0.01, 1.0),
    Row('saturation_s', 0.2, 'Longest time of a torque at its limit; then zero torque [s].',
        0.01, 10.0),
    Row('torque_delay_s', 0.0, 'Known delay from a command to its torque, for the check of the '
        'gains [s].', 0.0, 1.0),
    Row('state_timeout_s', 0.05, 'Zero torque after this time without a valid joint state [s].',
        1e-3, 10.0),
    Row('reference_timeout_s', 0.02, 'Time for which the last reference point is extrapolated; '
        'then the reference is braked to rest [s].', 1e-3, 0.2),
    Row('blend_s', 0.1, 'Time over which the model moves to new parameters [s].',
        BLEND_S.low, BLEND_S.high),
    Row('learning', False, 'Update the model with what ILIC identifies, from the start.'),
    *rows_of(IlicOptions(physical=True), only=LEARNER),
    Row('payload_bound_kg', 0.0, 'A load that the learner finds is taken over when it differs by '
        'at most this from the one that was set; a larger one waits for ~/set_payload [kg].',
        0.0, 1e4),
    Row('lock_step', False, 'Answer each joint state exactly once, with the reference of the same '
        'stamp; for a simulator in lock-step.'),
    Row('dry_run', False, 'Compute the commands and show them on ~/dry_run_commands; send none.'),
    REAL_TIME_PRIORITY,
)  # fmt: skip
