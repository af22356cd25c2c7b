"""The parameters of the node `ctc_controller`."""

from robot_id.ros.data_directory import DATA_DIRECTORY
from robot_id.ros.parameter_table import MAPPING, REAL_TIME_PRIORITY, Row

TABLE = (
    DATA_DIRECTORY,
    MAPPING,
    Row('loop', 'learning', 'Computed torque loop of the robot file (bandwidth and damping).'),
    Row('rate_hz', 0.0, 'Rate of the joint states [Hz]; 0: the rate of the loop.', 0.0, 1e5),
    Row('joints', [], "Order of the joints in effort_commands, by the driver's names; empty: the "
        "robot's order.", items=str),
    Row('parameters', '', 'Result file (JSON) with the start values of the model; empty: the a '
        'priori values of the robot file.'),
    Row('measured', False, 'Evaluate the model at the measured state instead of the reference.'),
    Row('integral', 0.0, 'Integral action, Ki = integral * Kp [1/s]; 0: none.', 0.0, 1000.0),
    Row('torque_limit', [], "Torque limits in the robot's order [N m or N]; empty: those of the "
        'robot file.'),
    Row('largest_error', 0.0, 'Largest tracking error; beyond it the robot is held [rad or m]; 0: '
        "5 % of each joint's range.", 0.0, 100.0),
    Row('state_timeout_s', 0.05, 'Zero torque after this time without a valid joint state [s].',
        1e-3, 10.0),
    Row('reference_timeout_s', 0.02, 'Time for which the last reference point is extrapolated; '
        'then the reference is braked to rest [s].', 1e-3, 0.2),
    Row('blend_s', 0.1, 'Time over which the model moves to new parameters [s].', 0.0, 60.0),
    Row('learning', False, 'Update the model with what ILIC identifies, from the start.'),
    Row('window_s', 0.0, 'Window of ILIC, a multiple of the cycle time [s]; 0: the duration '
        "of the robot file's motion.", 0.0, 3600.0),
    Row('sigma_max', 15.0, 'Update only parameters with a smaller percent deviation [%].',
        10.0, 30.0),
    Row('physical', True, 'Take and learn only parameters that a robot can have, which proves '
        'M(q) positive definite in every posture; false: a search over postures in place of the '
        'proof.'),
    Row('payload_bound_kg', 0.0, 'A load that the learner finds is taken over when it differs by '
        'at most this from the one that was set; a larger one waits for ~/set_payload [kg].',
        0.0, 1e4),
    Row('lock_step', False, 'Answer each joint state exactly once, with the reference of the same '
        'stamp; for a simulator in lock-step.'),
    Row('dry_run', False, 'Compute the commands and show them on ~/dry_run_commands; send none.'),
    REAL_TIME_PRIORITY,
)  # fmt: skip
