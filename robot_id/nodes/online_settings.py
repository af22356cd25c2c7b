"""Parameters of the node `online_identifier`, and the estimator that they describe."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.data import Dataset, Run
from robot_id.data.processing import Processing, resolve
from robot_id.estimation.parameters import parameters_for
from robot_id.estimation.result import Result
from robot_id.exceptions import DescriptionError, OptionError, RobotIdError
from robot_id.model import Robot
from robot_id.online.identifier import FILTERINGS, METHODS, OnlineIdentifier
from robot_id.online.memory import KINDS, Memory
from robot_id.online.sizes import nominal_sizes
from robot_id.online.supervision import CheapRule, EigenvalueRule, Rule
from robot_id.regression.prediction import predict
from robot_id.ros.parameter_table import ROBOT, Row

Array = NDArray[np.float64]

TABLE = (
    ROBOT,
    Row('method', 'rls', 'rls: recursive least squares; riv: instruments from the reference; '
        'integral: energy.', choices=METHODS),
    Row('nominal', '', 'Result file (JSON) of an earlier identification to start from and to take '
        'the sizes of the parameters from; empty: the a priori values of the robot file.'),
    Row('rate_hz', 0.0, 'Of the joint states [Hz]; 0: learned from their stamps.', 0.0, 1e5),
    Row('filtering', 'model', 'model: regressor and torques alike; input: positions only '
        '(biased); none.', choices=FILTERINGS),
    Row('low_pass_hz', 0.0, 'Cut-off of the causal low-pass [Hz]; 0: 40 % of the rate of the '
        'equations.', 0.0, 1e5),
    Row('filter_order', 2, 'Of that low-pass.', 1, 8),
    Row('decimation', 0, 'One sample in so many gives an equation; 0: about 100 Hz.', 0, 10000),
    Row('memory', 'infinite', 'How it forgets.', choices=KINDS),
    Row('memory_s', 10.0, 'How long it remembers [s]; infinite ignores it.', 1e-3, 1e6),
    Row('supervision', 'eigenvalue', 'Which parameters may move now: by eigenvalues, by the cheap '
        'rule, or all (none).', choices=('eigenvalue', 'cheap', 'none')),
    Row('max_std', 0.1, 'Largest standard deviation of a live parameter, of its size.',
        1e-6, 10.0),
    Row('supervision_s', 0.1, 'Time between two verdicts [s].', 1e-3, 60.0),
    Row('noise', [], 'Standard deviation of the torques, one or one for each joint [N m or N]; '
        'empty: 1 % of the torque limits.'),
    Row('rest_velocity', [], 'Slower joints rest and give no equation [rad/s or m/s]; empty: 1 % '
        'of the velocity limits.'),
    Row('held_torque', False, 'The torque of a sample is held until the next one, as by a '
        'sampled loop of the same rate.'),
    Row('coulomb_slope', 0.0, 'alpha of the smooth friction 2/pi atan(alpha dq); 0: sign(dq).',
        0.0, 1e9),
    Row('publish_period_s', 0.5, 'Time between two publications of the parameters [s].',
        0.02, 60.0),
)  # fmt: skip

# Equations per second when nobody says how many.
EQUATIONS_HZ = 100.0


def nominal_values(robot: Robot, settings: Any) -> Array | None:
    """Return (b,) what is known before the first sample, None when nothing is."""
    if settings['nominal']:
        return parameters_for(robot, Result.load(settings['nominal']))
    try:
        return robot.a_priori()
    except DescriptionError:
        return None


def make_identifier(
    robot: Robot, settings: Any, rate_hz: float, start: Array | None, nominal: Array | None
) -> OnlineIdentifier:
    """
    Return the estimator that the settings describe.

    :param start: (b,) values to begin with; zeros when None.
    :param nominal: (b,) values to take the sizes of the parameters from; supervision needs them.
    """
    decimation = settings['decimation'] or max(round(rate_hz / EQUATIONS_HZ), 1)
    rate = rate_hz / decimation
    samples = max(settings['memory_s'] * rate, 1.0)
    supervised = settings['supervision'] != 'none'
    if supervised and nominal is None:
        raise OptionError(
            f'parameter supervision: {robot.name} has no a priori values to take the sizes of '
            "its parameters from; add them, name a result as nominal, or set supervision to 'none'"
        )
    return OnlineIdentifier(
        robot,
        rate_hz,
        method=settings['method'],
        filtering=settings['filtering'],
        cutoff_hz=settings['low_pass_hz'] or 0.4 * rate_hz / max(decimation, 2),
        order=settings['filter_order'],
        decimation=decimation,
        rest_velocity=_per_joint(robot, settings, 'rest_velocity'),
        held_torque=settings['held_torque'],
        coulomb_slope=settings['coulomb_slope'] or None,
        noise=_noise(robot, settings),
        memory=Memory(settings['memory'], samples, blocks=10 if samples >= 10 else 1),
        supervisor=_rule(settings),
        period=max(round(settings['supervision_s'] * rate), 1),
        start=start,
        scale=nominal_sizes(robot.base.names, nominal) if nominal is not None else None,
    )


def recent_error(
    robot: Robot, settings: Any, rate_hz: float, chi: Array, position: Array, torque: Array
) -> float:
    """Return 100 ||Y - W chi|| / ||Y|| of the last samples, NaN where they do not tell."""
    time = np.arange(len(position)) / rate_hz
    dataset = Dataset(robot.joint_names, (Run(time, position, torque),), 'recent samples', ())
    try:
        loops = robot.description.loops
        bandwidth = robot.loop().bandwidth if 'default' in loops else None
        processing = resolve(Processing(), rate_hz, bandwidth)
        slope = settings['coulomb_slope'] or None
        return float(predict(robot, chi, dataset, processing, slope).relative_error_percent)
    except (RobotIdError, ValueError):
        return math.nan


def _rule(settings: Any) -> Rule | None:
    if settings['supervision'] == 'eigenvalue':
        return EigenvalueRule(settings['max_std'])
    return CheapRule(settings['max_std']) if settings['supervision'] == 'cheap' else None


def _noise(robot: Robot, settings: Any) -> Array:
    given = _per_joint(robot, settings, 'noise')
    if given is not None:
        return given
    limits = robot.limits.torque
    return np.where(np.isfinite(limits), 0.01 * limits, 1.0)


def _per_joint(robot: Robot, settings: Any, name: str) -> Array | None:
    values = np.array(settings[name], float)
    if not values.size:
        return None
    if values.size not in (1, robot.n):
        raise OptionError(f'parameter {name}: {values.size} numbers, expected 1 or {robot.n}')
    return np.broadcast_to(values, (robot.n,)).copy()
