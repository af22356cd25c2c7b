"""The Robot: kinematics, parameters, limits and loops of one robot file, URDF or MDH table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.model.base import BaseParameters, find_base
from robot_id.model.description import (
    Joint,
    Loop,
    RobotDescription,
    parse_description,
    read_description,
)
from robot_id.model.files import robot_files
from robot_id.model.kinematics import (
    FROM_PINOCCHIO,
    Kinematics,
    from_mdh,
    from_urdf,
    to_pinocchio,
)
from robot_id.model.terms import Kind, Terms, build_terms, direct_rotors

Array = NDArray[np.float64]
INERTIAL = ('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ', 'MX', 'MY', 'MZ', 'M')


@dataclass(frozen=True)
class Limits:
    """Limits of the n joints as arrays, infinite where the robot file and the URDF give none."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    torque: Array


class Robot:
    """
    One robot, ready for dynamics and identification.

    :param description: the checked robot file.
    :param kinematics: the tree of bodies, joints in the order of the robot file.
    """

    def __init__(self, description: RobotDescription, kinematics: Kinematics) -> None:
        self.description = description
        self.kinematics = kinematics
        joints = description.joints or tuple(Joint(name=name) for name in kinematics.joint_names)
        self.joints: tuple[Joint, ...] = joints
        self.coupling: Array | None = (
            None if description.coupling is None else np.array(description.coupling, float)
        )
        self.terms: Terms = build_terms(joints, self.coupling)
        self.direct_rotors: dict[int, Array] = direct_rotors(joints, kinematics)

    def __repr__(self) -> str:
        return f'Robot({self.name!r}, n={self.n}, b={len(self.base)})'

    @property
    def name(self) -> str:
        """Name of the robot file."""
        return self.description.name

    @property
    def n(self) -> int:
        """Number of independent joints."""
        return self.kinematics.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of all columns."""
        return self.kinematics.joint_names

    @property
    def gravity(self) -> Array:
        """(3,) gravity in the base frame, m/s^2."""
        return np.array(self.description.gravity)

    @cached_property
    def standard_names(self) -> tuple[str, ...]:
        """(s,) standard parameters: the 10 of each body, then the terms of its joint."""
        names: list[str] = []
        for i, dof in enumerate(self.kinematics.dof):
            names += [f'{stem}{i + 1}' for stem in INERTIAL]
            if self.kinematics.body_names[i] == self.joint_names[dof]:
                names += [f'Ia{dof + 1}'] if dof in self.direct_rotors else []
                names += [t for t, j in zip(self.terms.names, self.terms.joint) if j == dof]
        return tuple(names)

    @cached_property
    def inertial_index(self) -> NDArray[np.int64]:
        """(nb, 10) where the inertial parameters of each body stand in the standard vector."""
        place = {name: k for k, name in enumerate(self.standard_names)}
        bodies = range(len(self.kinematics.dof))
        return np.array([[place[f'{stem}{i + 1}'] for stem in INERTIAL] for i in bodies])

    @cached_property
    def term_index(self) -> NDArray[np.int64]:
        """(e,) where the rotor, friction and offset parameters stand in the standard vector."""
        return np.array([self.standard_names.index(name) for name in self.terms.names], np.int64)

    @cached_property
    def direct_columns(self) -> tuple[tuple[int, NDArray[np.int64], Array], ...]:
        """Return (column of Ia, columns of its link, (10,) weights) of directly driven joints."""
        columns = []
        for j, weights in self.direct_rotors.items():
            body = self.kinematics.body_names.index(self.joint_names[j])
            rotor = self.standard_names.index(f'Ia{j + 1}')
            columns.append((rotor, self.inertial_index[body], weights))
        return tuple(columns)

    def inertial_rows(self, chi_st: Array) -> Array:
        """(nb, 10) inertial parameters of the bodies in a standard set, direct rotors included."""
        rows = np.array(chi_st[self.inertial_index], float)
        for j, weights in self.direct_rotors.items():
            body = self.kinematics.body_names.index(self.joint_names[j])
            rows[body] += chi_st[self.standard_names.index(f'Ia{j + 1}')] * weights
        return rows

    @cached_property
    def base(self) -> BaseParameters:
        """The base parameters of this robot."""
        renamed = {
            old: (alias.name, alias.factor) for old, alias in self.description.renamed.items()
        }
        base = find_base(self._random_regressor(), self.standard_names, renamed)
        return base

    @cached_property
    def limits(self) -> Limits:
        """Limits of the robot file, else of the URDF, else infinite."""
        given = self.kinematics.limits
        lower, upper = (np.where(np.isnan(given[:, k]), s, given[:, k]) for k, s in ((0, -np.inf), (1, np.inf)))  # noqa: E501  # fmt: skip
        velocity, torque = (np.where(np.isnan(given[:, k]), np.inf, given[:, k]) for k in (2, 3))
        acceleration = np.full(self.n, np.inf)
        for j, joint in enumerate(self.joints):
            own = joint.limits
            if own.position is not None:
                lower[j], upper[j] = own.position
            velocity[j] = own.velocity or velocity[j]
            acceleration[j] = own.acceleration or acceleration[j]
            torque[j] = own.torque or torque[j]
        return Limits(lower, upper, velocity, acceleration, torque)

    @cached_property
    def gear(self) -> Array:
        """(n, n) motor speeds = gear * joint speeds, joint torques = gear^T * motor torques."""
        if self.coupling is not None:
            return self.coupling
        return np.diag([joint.gear_ratio for joint in self.joints])

    @cached_property
    def drive_gain(self) -> Array:
        """(n,) joint torque = drive_gain * control signal."""
        return np.array([joint.drive_gain for joint in self.joints])

    def to_motor(self, dq: Array) -> Array:
        """(..., n) joint speeds (or positions) -> motor speeds (or positions)."""
        return np.asarray(dq) @ self.gear.T

    def from_motor(self, dq_motor: Array) -> Array:
        """(..., n) motor speeds (or positions) -> joint side."""
        shape = np.shape(dq_motor)
        return np.linalg.solve(self.gear, np.reshape(dq_motor, (-1, self.n)).T).T.reshape(shape)

    def torque_from_motor(self, tau_motor: Array) -> Array:
        """(..., n) motor torques -> joint torques, so that the power is the same."""
        return np.asarray(tau_motor) @ self.gear

    def torque_to_motor(self, tau: Array) -> Array:
        """(..., n) joint torques -> motor torques."""
        shape = np.shape(tau)
        return np.linalg.solve(self.gear.T, np.reshape(tau, (-1, self.n)).T).T.reshape(shape)

    @cached_property
    def pinocchio(self) -> pin.Model:
        """The pinocchio model with the truth, else the URDF's inertias, else massless bodies."""
        return self.pinocchio_with(self.standard_prior())

    def pinocchio_with(self, chi_st: Array) -> pin.Model:
        """Return the pinocchio model with the inertias of a standard set (positive masses)."""
        return to_pinocchio(self.kinematics, self.gravity, self.inertial_rows(chi_st))

    def standard_prior(self) -> Array:
        """(s,) the truth of the robot file, else the inertias of its URDF, else zeros."""
        if self.description.truth:
            return self.standard_vector(self.description.truth, 'truth')
        chi_st = np.zeros(len(self.standard_names))
        chi_st[self.inertial_index] = self.kinematics.inertia
        return chi_st

    def representative(self, chi: Array) -> Array:
        """
        (b,) -> (s,) a standard set with these base parameters and positive masses.

        Regrouped parameters keep their prior value, a missing mass is 1 kg. Only a mass that is
        itself identified (a prismatic axis) carries the estimate.
        """
        prior = self.standard_prior()
        masses = self.inertial_index[:, 9]
        prior[masses] = np.where(prior[masses] > 0.0, prior[masses], 1.0)
        return self.base.to_standard(chi, prior)

    def standard_vector(self, values: dict[str, float], key: str) -> Array:
        """Return the (s,) vector of named standard parameters, the others zero."""
        chi_st = np.zeros(len(self.standard_names))
        for name, value in values.items():
            if name not in self.standard_names:
                hint = did_you_mean(name, self.standard_names)
                raise DescriptionError(
                    f"{self.name}: {key}: no standard parameter '{name}', {hint}"
                )
            chi_st[self.standard_names.index(name)] = value
        for i, mass in enumerate(chi_st[self.inertial_index[:, 9]]):
            if mass < 0.0:
                raise DescriptionError(f'{self.name}: {key}: M{i + 1} is negative ({mass:g} kg)')
        return chi_st

    def truth(self) -> Array:
        """(b,) parameters of the simulated robot."""
        if not self.description.truth:
            raise DescriptionError(f"{self.name}: the robot file has no 'truth' to simulate")
        return self.base.from_standard(self.standard_vector(self.description.truth, 'truth'))

    def a_priori(self) -> Array:
        """(b,) values known before any identification."""
        if not self.description.a_priori:
            raise DescriptionError(f"{self.name}: the robot file has no 'a_priori' values")
        return self.base.from_standard(self.standard_vector(self.description.a_priori, 'a_priori'))

    def regular_start(self) -> Array:
        """
        (b,) zeros but one inertia per joint, so that M(q) is regular (eq. 48 and 51 of paper 000).

        With geared rotors M(q) is the same in every configuration: I, or K^T K of unit rotors when
        they are coupled (a coupled rotor also counts in the Ia of the joints it turns with).
        """
        chi_st = np.zeros(len(self.standard_names))
        kinematics = self.kinematics
        coupling = np.eye(self.n)
        if self.coupling is not None:
            coupling = self.coupling / np.diag(self.coupling)[:, None]
        for i, dof in enumerate(kinematics.dof):
            stem = f'Ia{dof + 1}'
            value = 1.0
            if stem in self.standard_names:
                value = float(np.sum(coupling[:, dof] ** 2))
            elif kinematics.prismatic[i]:
                stem = f'M{i + 1}'
            else:
                stem = ('XX', 'YY', 'ZZ')[int(np.argmax(np.abs(kinematics.axis[i])))] + str(i + 1)
            chi_st[self.standard_names.index(stem)] = value
        return self.base.from_standard(chi_st)

    def loop(self, name: str = 'default') -> Loop:
        """Return a control loop of the robot file by its name."""
        if name not in self.description.loops:
            if not self.description.loops:
                raise DescriptionError(f"{self.name}: the robot file has no 'loops'")
            hint = did_you_mean(name, self.description.loops)
            raise DescriptionError(f"{self.name}: no loop '{name}', {hint}")
        return self.description.loops[name]

    def _random_regressor(self) -> Array:
        """(r, s) standard regressor of random states, from pinocchio."""
        rng = np.random.default_rng(0)
        s, n = len(self.standard_names), self.n
        A = self.kinematics.expansion()
        model = to_pinocchio(self.kinematics, self.gravity, np.zeros((len(A), 10)))
        data = model.createData()
        count = max(60, 6 * s // n)
        W = np.zeros((count, n, s))
        permutation = np.concatenate([10 * i + FROM_PINOCCHIO for i in range(len(A))])
        for k in range(count):
            q, dq, ddq = rng.uniform(-np.pi, np.pi, n), rng.normal(0, 2, n), rng.normal(0, 5, n)
            body_q = A @ q + self.kinematics.offset
            full = pin.computeJointTorqueRegressor(model, data, body_q, A @ dq, A @ ddq)
            full = np.reshape(full, (len(A), -1))
            W[k][:, self.inertial_index.ravel()] = A.T @ full[:, permutation]
            for rotor, columns, weights in self.direct_columns:
                W[k][:, rotor] = W[k][:, columns] @ weights
            add_terms(W[k], self.terms, self.term_index, dq, ddq)
        return W.reshape(count * n, s)


def add_terms(W: Array, terms: Terms, columns: NDArray[np.int64], dq: Array, ddq: Array) -> None:
    """Add the rotor, friction and offset columns of one state to W (n, s), with sign(dq)."""
    for p, kind, row, gain, c in zip(
        terms.parameter, terms.kind, terms.row, terms.gain, terms.direction
    ):
        x = c @ (ddq if kind == Kind.INERTIA else dq)
        value = {
            Kind.INERTIA: x,
            Kind.VISCOUS: x,
            Kind.COULOMB: np.sign(x),
            Kind.OFFSET: 1.0,
            Kind.VISCOUS_POSITIVE: max(x, 0.0),
            Kind.VISCOUS_NEGATIVE: min(x, 0.0),
            Kind.COULOMB_POSITIVE: float(x > 0),
            Kind.COULOMB_NEGATIVE: -float(x < 0),
        }[Kind(kind)]
        W[row, columns[p]] += gain * value


def load_robot(robot: str | Path) -> Robot:
    """Load a robot by a shipped name, or from the path of a robot file or of a URDF."""
    text = str(robot)
    path = Path(text)
    if path.suffix in ('.urdf', '.xml'):
        description = parse_description({'name': path.stem, 'urdf': str(path.resolve())}, text)
        return _build(description, path)
    if path.suffix not in ('.yaml', '.yml'):
        shipped = robot_files()
        if text not in shipped:
            hint = did_you_mean(text, shipped)
            raise DescriptionError(f"no robot '{text}': {hint} Or give a .yaml or .urdf file")
        path = shipped[text]
    return _build(read_description(path), path)


def _build(description: RobotDescription, path: Path) -> Robot:
    kinematics = None
    names = tuple(joint.name for joint in description.joints or ())
    if description.urdf is not None:
        urdf = Path(description.urdf)
        urdf = urdf if urdf.is_absolute() else (path.parent / urdf)
        if not urdf.is_file():
            raise DescriptionError(f"{path}: urdf: no file '{description.urdf}' ({urdf})")
        kinematics = from_urdf(urdf, description.locked)
        if names:
            kinematics = _order(path, urdf, kinematics, names)
    if description.mdh is not None:
        table = from_mdh(description.mdh, names)
        if kinematics is not None:
            _check_agreement(path, kinematics, table)
        else:
            kinematics = table
    assert kinematics is not None
    return Robot(description, kinematics)


def _order(path: Path, urdf: Path, kinematics: Kinematics, names: tuple[str, ...]) -> Kinematics:
    """Put the joints into the order of the robot file; every moving joint must be named."""
    from dataclasses import replace

    for name in names:
        if name not in kinematics.joint_names:
            hint = did_you_mean(name, kinematics.joint_names)
            raise DescriptionError(f"{path}: joints: '{name}' is not a moving joint of {urdf.name}, {hint}")  # noqa: E501  # fmt: skip
    for name in kinematics.joint_names:
        if name not in names:
            raise DescriptionError(
                f"{path}: joint '{name}' of {urdf.name} is neither under 'joints' nor 'locked'"
            )
    place = np.array([names.index(name) for name in kinematics.joint_names])
    limits = np.empty_like(kinematics.limits)
    limits[place] = kinematics.limits
    return replace(kinematics, joint_names=names, dof=place[kinematics.dof], limits=limits)


def _check_agreement(path: Path, urdf: Kinematics, table: Kinematics) -> None:
    """Refuse a robot file whose URDF and MDH table are not the same mechanism."""
    for field in ('parent', 'prismatic', 'rotation', 'translation', 'axis'):
        a, b = getattr(urdf, field), getattr(table, field)
        if a.shape != b.shape:
            raise DescriptionError(f'{path}: urdf has {len(a)} bodies, mdh has {len(b)} rows')
        for j in range(len(a)):
            if not np.allclose(a[j], b[j], rtol=0, atol=1e-9):
                name = urdf.body_names[j]
                raise DescriptionError(
                    f"{path}: urdf and mdh differ in the {field} of joint '{name}'"
                )
