"""
The regressor of N samples against Python loops over pinocchio, and against figaroh.

The loop does the same work: computeJointTorqueRegressor state by state, then for all states at
once our columns, rotors and friction. The bare loop throws away what pinocchio returns.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from bench.figure import Figure, compare
from robot_id import dynamics
from robot_id.robot import Robot, load_robot
from robot_id.robot.parameters.inertia import FROM_PINOCCHIO

SAMPLES = 4000


def _states(robot: Robot, samples: int = SAMPLES) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.uniform(-3, 3, (samples, robot.n)) for _ in range(3)]


def python_loop(robot: Robot, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    """(N, n, b) base regressor of the TX40: only the calls of pinocchio stand in the loop."""
    model = robot.pinocchio
    data = model.createData()
    N, n = q.shape
    full = np.empty((N, n, 10 * n))
    for k in range(N):
        full[k] = pin.computeJointTorqueRegressor(model, data, q[k], dq[k], ddq[k])
    place = {name: k for k, name in enumerate(robot.standard_names)}
    source = {
        row[k]: 10 * i + FROM_PINOCCHIO[k]
        for i, row in enumerate(robot.inertial_index)
        for k in range(10)
    }
    rigid = [k for k, column in enumerate(robot.base.columns) if column in source]
    W = np.zeros((N, n, len(robot.base)))
    W[:, :, rigid] = full[:, :, [source[robot.base.columns[k]] for k in rigid]]
    base = {int(column): k for k, column in enumerate(robot.base.columns)}
    sign, both = np.sign(dq), np.sign(dq[:, 4] + dq[:, 5])
    for j in range(n):
        for stem, values in (
            ('Ia', ddq[:, j]),
            ('Fv', dq[:, j]),
            ('Fc', sign[:, j]),
            ('Off', 1.0),
        ):
            column = base.get(place[f'{stem}{j + 1}'])
            if column is not None:
                W[:, j, column] = values
    rotor, viscous, coulomb = (base[place[name]] for name in ('Ia6', 'Fvm6', 'Fcm6'))
    W[:, 4, rotor], W[:, 5, rotor] = ddq[:, 5], ddq[:, 4] + ddq[:, 5]
    W[:, 4, viscous], W[:, 5, viscous] = dq[:, 5], dq[:, 4]
    W[:, 4, coulomb], W[:, 5, coulomb] = both, both - sign[:, 5]
    return W


def _figaroh(robot: Robot, states: list[np.ndarray]) -> dict[str, Callable[[], object]]:
    try:
        from figaroh.tools.regressor import RegressorBuilder, RegressorConfig
    except ImportError:
        return {}
    wrapper = SimpleNamespace(model=robot.pinocchio, data=robot.pinocchio.createData())
    options = RegressorConfig(has_friction=True, has_actuator_inertia=True, has_joint_offset=True)
    builder = RegressorBuilder(wrapper, options)
    settings = {'act_idxv': list(range(robot.n))}
    try:
        builder.build_basic_regressor(*(x[:2] for x in states), settings)
    except Exception as error:  # its interface is not ours
        print(f'figaroh is installed but could not be called: {error!r}')
        return {}
    return {'figaroh': lambda: builder.build_basic_regressor(*states, settings)}


def bench_tx40() -> list[Figure]:
    """Six joints, 60 base columns."""
    robot = load_robot('tx40')
    states = _states(robot)
    loop = python_loop(robot, *states)
    if not np.allclose(loop, dynamics.regressor(robot, *states), rtol=0, atol=1e-10):
        raise AssertionError('the loop over pinocchio and the kernel must agree')
    model = robot.pinocchio
    data = model.createData()
    q, dq, ddq = states

    def bare() -> None:
        for k in range(SAMPLES):
            pin.computeJointTorqueRegressor(model, data, q[k], dq[k], ddq[k])

    others = {
        'Python loop over pinocchio': lambda: python_loop(robot, *states),
        'the bare pinocchio calls in a loop': bare,
        **_figaroh(robot, states),
    }
    targets = {'Python loop over pinocchio': 3.0}
    figures = compare(
        'regressor of the TX40, 60 columns', lambda: dynamics.regressor(robot, *states),
        others, SAMPLES, targets,
    )  # fmt: skip
    W = np.empty_like(loop)
    return figures + compare(
        'the same into memory of the caller',
        lambda: dynamics.regressor(robot, *states, out=W), {}, SAMPLES,
    )  # fmt: skip


def bench_small_robots() -> list[Figure]:
    """Few columns, where the cost of a call counts."""
    figures = []
    for name in ('emps', 'scara'):
        robot = load_robot(name)
        states = _states(robot)
        figures += compare(
            f'regressor of {name}', lambda r=robot, s=states: dynamics.regressor(r, *s), {},
            SAMPLES,
        )  # fmt: skip
    return figures
