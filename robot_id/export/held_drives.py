"""
Input of the model formats: physically consistent bodies, and the drives that a file can hold.

A motor that turns with several joints, at c . dq, adds J c c^T to M(q): a shaft. Its share of the
joints' own parameters, Ia_i = sum_m c_mi^2 J_m and Fv_i likewise, is taken out of them where the
format has shafts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import DataError
from robot_id.export.parts import Request
from robot_id.methods.consistency import project, standard_of
from robot_id.methods.parameters import parameters_for
from robot_id.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shaft:
    """
    A motor that turns with several joints.

    :param joint: name of the joint it belongs to.
    :param c: (n,) its speed is c . dq.
    """

    joint: str
    c: Array
    armature: float
    damping: float
    dry: float


@dataclass(frozen=True)
class HeldDrives:
    """
    The content of the file.

    :param armature: (n,) rotor inertias, damping (n,), dry (n,) friction, offset (n,).
    :param shafts: of coupled motors.
    :param lost: names of the parameters that are not zero and have no place.
    :param notes: values that differ from the identified ones, one line each.
    """

    armature: Array
    damping: Array
    dry: Array
    offset: Array
    shafts: tuple[Shaft, ...]
    lost: tuple[str, ...]
    notes: tuple[str, ...]

    def torques(self, dq: Array, ddq: Array) -> Array:
        """(N, n) of the drives, velocities and accelerations (N, n)."""
        tau = ddq * self.armature + dq * self.damping + np.sign(dq) * self.dry + self.offset
        for shaft in self.shafts:
            speed, acceleration = dq @ shaft.c, ddq @ shaft.c
            own = shaft.armature * acceleration + shaft.damping * speed
            tau = tau + (own + shaft.dry * np.sign(speed))[:, None] * shaft.c
        return tau


def held_drives(
    bodies: Bodies, *, rotors: bool = False, shafts: bool = False, offsets: bool = False
) -> HeldDrives:
    """
    Return the drives of a physically consistent robot as a file can hold them.

    :param rotors: it has a place for rotor inertias, shafts: for coupled motors, offsets: for
        constant torques.
    """
    robot, n = bodies.robot, bodies.robot.n
    notes: list[str] = []
    held = {robot.standard_names[rotor] for rotor, _, _ in robot.direct_columns}
    damping, dry = np.zeros(n), np.zeros(n)
    for j in range(n):
        damping[j], names = _friction(bodies, j, 'Fv', notes)
        dry[j], others = _friction(bodies, j, 'Fc', notes)
        held |= names | others
    armature = np.array([bodies.value(f'Ia{j + 1}') for j in range(n)])
    armature[[f'Ia{j + 1}' in held for j in range(n)]] = 0.0  # direct: a part of the link
    made: tuple[Shaft, ...] = ()
    if shafts:
        made = tuple(_shaft(bodies, m, c, dry[m], notes) for m, c in _coupled(robot))
        for shaft in made:
            m = robot.joint_names.index(shaft.joint)
            armature -= shaft.armature * robot.rotor_shares[m]
            damping -= shaft.damping * np.where(_viscous(robot), shaft.c**2, 0.0)
            dry[m] -= shaft.dry
            held |= {f'Fvm{m + 1}'} | ({f'Fcm{m + 1}'} if _all_dry(bodies, shaft, m) else set())
    if rotors and (shafts or robot.coupling is None):
        held |= {f'Ia{j + 1}' for j in range(n)}
    else:
        armature[:] = 0.0
    offset = np.array([bodies.value(f'Off{j + 1}') for j in range(n)]) if offsets else np.zeros(n)
    if offsets:
        held |= {f'Off{j + 1}' for j in range(n)}
    rounding = 1e-12 * np.abs(bodies.x).max(initial=0.0)
    armature[np.abs(armature) < rounding] = 0.0
    for name, value in zip(robot.joint_names, damping):
        if value < 0.0:
            notes.append(
                f"joint '{name}': its own damping is negative, the damping of the motor shaft "
                'takes the energy out'
            )
    return HeldDrives(armature, damping, dry, offset, made, _lost(bodies, held), tuple(notes))


def _friction(bodies: Bodies, j: int, stem: str, notes: list[str]) -> tuple[float, set[str]]:
    """Return viscous (Fv) or Coulomb (Fc) friction of a joint, and the names it stands for."""
    name, both = f'{stem}{j + 1}', (f'{stem}{j + 1}+', f'{stem}{j + 1}-')
    plus, minus = (bodies.value(one) for one in both)
    joint = bodies.robot.joints[j]
    if plus != minus:
        notes.append(
            f"joint '{joint.name}': its friction differs by direction ({both[0]} = {plus:.4g}, "
            f'{both[1]} = {minus:.4g}), the mean is written'
        )
    if stem == 'Fc' and 'smooth_coulomb' in joint.friction:
        notes.append(
            f"joint '{joint.name}': {name} changes sign smoothly (alpha = "
            f'{joint.constant_of("smooth_coulomb"):.4g} s/rad), it is written as plain Coulomb '
            'friction'
        )
    held = {name} | (set(both) if plus == minus else set())
    return max(bodies.value(name) + 0.5 * (plus + minus), 0.0), held


def _coupled(robot: Robot) -> list[tuple[int, Array]]:
    """Return the motors that turn with several joints, and their (n,) directions."""
    if robot.coupling is None:
        return []
    c = robot.coupling / np.diag(robot.coupling)[:, None]
    return [(m, c[m]) for m in range(robot.n) if np.count_nonzero(c[m]) > 1]


def _viscous(robot: Robot) -> NDArray[np.bool_]:
    """(n,) the joints whose Fv holds a share of every shaft that turns with them."""
    return np.array(['viscous' in joint.friction for joint in robot.joints], bool)


def _shaft(bodies: Bodies, m: int, c: Array, dry: float, notes: list[str]) -> Shaft:
    """Return the shaft of a motor, with at most the dry friction of its joint (passive)."""
    name = f'Fcm{m + 1}'
    wanted = max(bodies.value(name), 0.0)
    if wanted > dry:
        notes.append(
            f'{name} = {wanted:.4g} is more than Fc{m + 1} = {dry:.4g}, of which it is a part: '
            f'{dry:.4g} is written'
        )
    armature = bodies.value(f'Ia{m + 1}')
    damping = bodies.value(f'Fvm{m + 1}')
    return Shaft(bodies.robot.joint_names[m], c, armature, damping, min(wanted, dry))


def _all_dry(bodies: Bodies, shaft: Shaft, m: int) -> bool:
    return shaft.dry == bodies.value(f'Fcm{m + 1}')


def _lost(bodies: Bodies, held: set[str]) -> tuple[str, ...]:
    """Return the parameters that are not zero and have no place in the file."""
    inertial = {*bodies.robot.inertial_index.ravel().tolist()}
    return tuple(
        name
        for k, name in enumerate(bodies.robot.standard_names)
        if k not in inertial and name not in held and bodies.x[k] != 0.0
    )


@dataclass(frozen=True)
class Bodies:
    """
    A physically consistent robot.

    :param robot: the Robot.
    :param x: (s,) standard parameters.
    :param rows: (nb, 10) inertial parameters of the bodies, direct rotors included.
    :param notes: how it was found.
    """

    robot: Robot
    x: Array
    rows: Array
    notes: tuple[str, ...]

    def value(self, name: str) -> float:
        """Return a standard parameter, 0 where the robot has none of that name."""
        names = self.robot.standard_names
        return float(self.x[names.index(name)]) if name in names else 0.0


def bodies_of(request: Request) -> Bodies:
    """
    Return the bodies of a result; one without standard parameters is made physically consistent
    first.

    :raises DataError: where the result cannot be used.
    """
    robot, result = request.loaded, request.result
    if not result.converged:
        raise DataError(f'{request.source}: {result.method} did not converge, no model is written')
    chi = parameters_for(robot, result)
    notes: tuple[str, ...] = ()
    if result.standard_parameters is None:
        result = project(robot, result)
        moved = np.abs(parameters_for(robot, result) - chi)
        sigma = np.sqrt(np.diag(request.result.covariance))
        far = float(np.nanmax(moved / np.where(sigma > 0.0, sigma, np.nan)))
        assert result.physical is not None
        notes = (
            f'{request.source} was not identified with physical=true: its parameters were moved '
            f'to the nearest physically consistent ones, by {far:.2g} standard deviations at most '
            f'({result.physical["meaning"]})',
        )
    x = standard_of(robot, result)
    return Bodies(robot, x, robot.standard.inertial_rows(x), notes)


def central(row: Array) -> tuple[float, Array, Array]:
    """Return mass, (3,) centre and (3, 3) inertia about the centre of a body."""
    m, c = float(row[9]), row[6:9] / row[9]
    xx, xy, xz, yy, yz, zz = row[:6]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return m, c, tensor - m * (c @ c * np.eye(3) - np.outer(c, c))


def text_of(values: Array | list[float]) -> str:
    """Return numbers with every digit, separated by spaces."""
    return ' '.join(repr(float(v)) for v in np.ravel(values))
