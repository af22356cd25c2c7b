"""Teeth that rub with the torque behind them or with that of the motor: the interval has both."""

from __future__ import annotations

import numpy as np
import pytest

from robot_id.robot import load_robot
from robot_id.tasks.payload.gears import (
    BEHIND,
    dissipative_parameters,
    tooth_load,
    with_load_friction,
)
from robot_id.tasks.payload.solution import solve

MASS, COULOMB, SHARE, NOISE = 2.0, 3.0, 0.08, 0.02
ROWS, JOINTS = 2000, 3


class Plant:
    """Joints that lift a mass, with dry friction and friction for the load: unknowns c f m."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.arm = 10.0 * self.rng.normal(size=(ROWS, JOINTS))
        self.turn = np.where(self.rng.normal(size=(ROWS, JOINTS)) > 0.0, 1.0, -1.0)

    def torque(self, motor):
        """Return t = y + c s + f s |p|, p = y behind the gear or p = t at the motor."""
        y = MASS * self.arm
        t = y + COULOMB * self.turn
        for _ in range(50):
            pressed = t if motor else y
            t = y + COULOMB * self.turn + SHARE * self.turn * np.abs(pressed)
        return [t + NOISE * self.rng.normal(size=t.shape)]

    def design(self, x, side):
        columns = [self.turn, self.arm]
        if x is not None:
            rigid = x[-1] * self.arm
            friction = x[0] * self.turn
            if len(x) > 2:
                friction = friction + x[1] * self.turn * np.abs(rigid)
            columns.insert(1, self.turn * np.abs(rigid + side * friction))
        return [np.stack(columns, axis=2)]


@pytest.mark.parametrize('motor', [True, False])
def test_mass_is_covered_wherever_the_teeth_are_pressed(motor):
    for seed in range(5):
        plant = Plant(seed)
        y = plant.torque(motor)
        found, _ = with_load_friction(plant.design, y, 1, doubt=False)
        deviation = np.sqrt(found.covariance[-1, -1])
        assert abs(found.x[-1] - MASS) < 1.96 * deviation
        assert deviation < SHARE**2 * MASS
        # Teeth pressed by the torque behind them only: an interval that misses the other case.
        x = solve(plant.design(None, BEHIND), y, deviations=False).x
        alone = solve(plant.design(x, BEHIND), y, 1)
        missed = abs(alone.x[-1] - MASS) > 5.0 * np.sqrt(alone.covariance[-1, -1])
        assert missed == motor


def test_torque_of_the_motor_has_friction_but_no_offset():
    robot = load_robot('tx40')
    rng = np.random.default_rng(3)
    W, rigid = rng.normal(size=(5, robot.n, len(robot.base))), rng.normal(size=(5, robot.n))
    chi, names = rng.normal(size=len(robot.base)), robot.base.names
    lost = [k for k, name in enumerate(names) if name.startswith(('Fv', 'Fc'))]
    assert list(dissipative_parameters(robot)) == lost
    assert any(name.startswith('Off') for name in names)
    none = np.zeros(0)
    np.testing.assert_array_equal(tooth_load(robot, W, rigid, chi, none, 0.0), rigid)
    wanted = rigid + 0.5 * W[:, :, lost] @ chi[lost]
    np.testing.assert_allclose(tooth_load(robot, W, rigid, chi, none, 0.5), wanted, atol=1e-12)
