"""The parameters of the node ddm_simulator."""

from __future__ import annotations

from robot_id.ros.parameter_table import REAL_TIME_PRIORITY, Row

TABLE = (
    Row('mode', 'plant', "plant: takes effort commands; closed_loop: follows a reference with the "
        "robot's own controller.", choices=('plant', 'closed_loop')),
    Row('loop', 'default', "Loop of the robot file that is the robot's own controller."),
    Row('rate_hz', 0.0, 'Sample rate [Hz]; 0: 1000 Hz, in closed_loop the rate of the loop.',
        0.0, 1e5),
    Row('lock_step', False, 'Wait for the command (in closed_loop: the reference) to each state: '
        'repeatable to the last bit, as fast as the machine allows.'),
    Row('real_time_factor', 1.0, 'Simulated seconds per second of wall time; not in lock-step.',
        1e-3, 1e3),
    Row('parameters', '', 'The true parameters: a result file (JSON), a URDF, SDF or MJCF; empty: '
        '`truth` of the robot file, else its URDF.'),
    Row('noise', True, 'Add the encoder steps and the noise of the robot file.'),
    Row('seed', 0, 'Seed of the noise.', 0, 2**31 - 1),
    Row('joints', [], "Order of the joints in effort_commands; empty: the robot's order.",
        items=str),
    Row('initial_position', [], 'Initial joint positions [rad or m]; empty: zeros.'),
    Row('command_timeout_s', 0.1, 'Age at which a command or reference is stale [s].',
        1e-3, 10.0),
    Row('on_stale', 'zero', 'Reaction to a stale command: zero torque, or hold the position with '
        "the robot's own loop.", choices=('zero', 'hold')),
    Row('clock_rate_hz', 100.0, 'Rate of /clock in simulated time [Hz]; 0: one per state. '
        'The nodes of robot_id use the stamps of joint_states.', 0.0, 1e5),
    REAL_TIME_PRIORITY,
)  # fmt: skip
