"""The Robot: kinematics, parameters, limits and loops of one robot file, URDF or MDH table."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot.drives import Drives
from robot_id.robot.files.description import Joint, Loop, RobotDescription
from robot_id.robot.files.source import RobotSource
from robot_id.robot.files.urdf import joint_friction
from robot_id.robot.friction import COLUMNS, ROTOR
from robot_id.robot.kinematics import Kinematics, to_pinocchio
from robot_id.robot.limits import Limits
from robot_id.robot.parameters.base import BaseParameters, find_base
from robot_id.robot.parameters.drive_terms import Terms, build_terms, direct_rotors, rotor_shares
from robot_id.robot.parameters.inertia import FROM_PINOCCHIO
from robot_id.robot.parameters.standard import StandardParameters

Array = NDArray[np.float64]


def standard_regressor(
    robot: Robot,
    q: Array,
    dq: Array,
    ddq: Array,
    load: Array | None = None,
    heat: Array | None = None,
    unit_constants: bool = False,
) -> Array:
    """
    (N, n, s) standard regressor of (N, n) states, with sign(dq).

    :param load: (s,) parameters that determine the load of load-dependent friction; None for ones.
    :param heat: (N, n) temperatures less the reference temperature; None for zeros.
    :param unit_constants: constants of friction terms count as 1: the dependence of columns is the
        same for all constants, and a small Stribeck velocity would hide its column.
    """
    A = robot.kinematics.expansion()
    model = to_pinocchio(robot.kinematics, robot.gravity, np.zeros((len(A), 10)))
    data = model.createData()
    permutation = np.concatenate([10 * i + FROM_PINOCCHIO for i in range(len(A))])
    W = np.zeros((len(q), robot.n, len(robot.standard_names)))
    heat = np.zeros_like(q) if heat is None else heat
    terms = robot.terms
    if unit_constants:
        terms = replace(terms, constant=np.ones_like(terms.constant))
    for k in range(len(q)):
        body_q = A @ q[k] + robot.kinematics.offset
        full = pin.computeJointTorqueRegressor(model, data, body_q, A @ dq[k], A @ ddq[k])
        full = np.reshape(full, (len(A), -1))
        W[k][:, robot.inertial_index.ravel()] = A.T @ full[:, permutation]
        for rotor, columns, weights in robot.direct_columns:
            W[k][:, rotor] = W[k][:, columns] @ weights
        _add_rotors(W[k], robot.terms, robot.term_index, ddq[k])
        y = W[k].sum(axis=1) if load is None else W[k] @ load
        _add_friction(W[k], terms, robot.term_index, dq[k], np.abs(y), heat[k])
    return W


def random_regressor(robot: Robot) -> Array:
    """(r, s) standard regressor of random states, with several times more rows than columns."""
    rng = np.random.default_rng(0)
    n, s = robot.n, len(robot.standard_names)
    shape = (max(60, 6 * s // n), n)
    states = rng.uniform(-np.pi, np.pi, shape), rng.normal(0, 2, shape), rng.normal(0, 5, shape)
    heat = rng.normal(0, 10, shape)
    return standard_regressor(robot, *states, heat=heat, unit_constants=True).reshape(-1, s)


def _add_rotors(W: Array, terms: Terms, columns: NDArray[np.int64], ddq: Array) -> None:
    """Add the columns of geared rotors at one state to W (n, s)."""
    for k in np.flatnonzero(terms.kind == ROTOR):
        W[terms.row[k], columns[terms.parameter[k]]] += terms.gain[k] * terms.direction[k] @ ddq


def _add_friction(
    W: Array, terms: Terms, columns: NDArray[np.int64], dq: Array, load: Array, heat: Array
) -> None:
    """Add the columns of friction and offset at one state to W (n, s)."""
    for k in np.flatnonzero(terms.kind != ROTOR):
        term, column = COLUMNS[terms.kind[k] - 1]
        row, x = terms.row[k], terms.direction[k] @ dq
        value = column.value(x, np.sign(x), terms.constant[k])
        value *= {'none': 1.0, 'load': load[row], 'temperature': heat[row]}[term.modulation]
        W[row, columns[terms.parameter[k]]] += terms.gain[k] * value


class Robot:
    """
    One robot, ready for dynamics and identification.

    :param description: the checked robot file.
    :param kinematics: the tree of bodies, joints in the order of the robot file.
    :param urdf: the file of the URDF, None where the robot is an MDH table alone.
    :param source: what it was loaded from, None where that was no file.
    """

    def __init__(
        self,
        description: RobotDescription,
        kinematics: Kinematics,
        urdf: Path | None = None,
        source: RobotSource | None = None,
    ) -> None:
        self.description = description
        self.kinematics = kinematics
        self.urdf = urdf
        self.source = source
        self.joints: tuple[Joint, ...] = tuple(
            joint for joint in description.joints or () if joint.name in kinematics.joint_names
        ) or tuple(Joint(name=name) for name in kinematics.joint_names)
        self.coupling: Array | None = (
            None if description.coupling is None else np.array(description.coupling, float)
        )
        # (b,) parameters that determine the load of load-dependent friction in the regressor.
        self.load_parameters: Array | None = None
        # Temperature minus the reference temperature, if it is not measured, K.
        self.heat = 0.0
        self.drives = Drives.of(self.joints, self.coupling)
        self.limits = Limits.of(self.joints, kinematics.limits)
        self.terms: Terms = build_terms(self.joints, self.coupling)
        self.rotor_shares = rotor_shares(self.joints, self.coupling)
        self.standard = StandardParameters.of(
            kinematics, self.terms, direct_rotors(self.joints, kinematics)
        )

    def __repr__(self) -> str:
        return f'Robot({self.name!r}, n={self.n}, b={len(self.base)})'

    @property
    def name(self) -> str:
        """Name of the robot file."""
        return self.description.name

    @property
    def drive_gains(self) -> dict[str, float]:
        """Joint torque over control signal, for the joints that have a gain in the robot file."""
        return {
            joint.name: float(gain)
            for joint, gain in zip(self.joints, self.drives.gain)
            if 'drive_gain' in joint.model_fields_set
        }

    @property
    def n(self) -> int:
        """Number of independent joints."""
        return self.kinematics.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of all columns."""
        return self.kinematics.joint_names

    @cached_property
    def prismatic(self) -> NDArray[np.bool_]:
        """(n,) flags of the joints that slide."""
        sliding = self.kinematics.dof[self.kinematics.prismatic]
        return np.isin(np.arange(self.n), sliding)

    @property
    def gravity(self) -> Array:
        """(3,) gravity in the base frame, m/s^2."""
        return np.array(self.description.gravity)

    @property
    def standard_names(self) -> tuple[str, ...]:
        """(s,) names of the standard parameters."""
        return self.standard.names

    @property
    def inertial_index(self) -> NDArray[np.int64]:
        """(nb, 10) where the inertial parameters of each body stand in the standard vector."""
        return self.standard.inertial_index

    @property
    def term_index(self) -> NDArray[np.int64]:
        """(e,) where the rotor, friction and offset parameters stand in the standard vector."""
        return self.standard.term_index

    @property
    def direct_columns(self) -> tuple[tuple[int, NDArray[np.int64], Array], ...]:
        """Return (column of Ia, columns of its link, (10,) weights) of directly driven joints."""
        return self.standard.direct_columns

    @cached_property
    def base(self) -> BaseParameters:
        """The base parameters of this robot."""
        renamed = {
            old: (alias.name, alias.factor) for old, alias in self.description.renamed.items()
        }
        rotors = frozenset(self.standard_names[rotor] for rotor, _, _ in self.direct_columns)
        return find_base(random_regressor(self), self.standard_names, renamed, rotors)

    @cached_property
    def pinocchio(self) -> pin.Model:
        """The pinocchio model with the truth, else the URDF's inertias, else massless bodies."""
        return self.pinocchio_with(self.standard_prior())

    def pinocchio_with(self, chi_st: Array) -> pin.Model:
        """Return the pinocchio model with the inertias of a standard set (positive masses)."""
        return to_pinocchio(self.kinematics, self.gravity, self.standard.inertial_rows(chi_st))

    def check(self) -> None:
        """Refuse a description whose named parameters do not exist."""
        for key in ('truth', 'a_priori'):
            self.standard_vector(getattr(self.description, key), key)
        for joint in self.description.bounds.links:
            if joint not in self.kinematics.body_names:
                hint = did_you_mean(joint, self.kinematics.body_names)
                raise DescriptionError(
                    f"{self.name}: bounds.links: no joint '{joint}', {hint}", joint=joint
                )
        if self.description.renamed:
            len(self.base)

    def standard_vector(self, values: dict[str, float], key: str) -> Array:
        """Return the (s,) vector of named standard parameters, the others zero."""
        return self.standard.vector(values, f'{self.name}: {key}')

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

    def truth(self) -> Array:
        """(b,) parameters of the simulated robot: those of the robot file, else of its URDF."""
        if self.description.truth:
            standard = self.standard_vector(self.description.truth, 'truth')
        else:
            standard = self._described
        return self.base.from_standard(standard)

    @cached_property
    def _described(self) -> Array:
        """(s,) inertias of the URDF, and its damping and friction where the robot has terms."""
        chi_st = self.standard_prior()
        if self.urdf is None or not np.any(chi_st[self.inertial_index[:, 9]] > 0.0):
            raise DescriptionError(
                f"{self.name}: no 'truth' to simulate: give it in the robot file, or masses and "
                'inertias in its URDF',
                code='no_truth',
            )
        for name, mass in zip(self.joint_names, self.kinematics.carried_mass()):
            if not mass > 0.0:
                raise DescriptionError(
                    f"{self.name}: joint '{name}' carries no mass in the URDF, so it cannot be "
                    "simulated: give 'truth' in a robot file, or put the joint under 'locked'",
                    joint=name,
                )
        locked, snap = self.kinematics.locked, self.description.snap
        for name, value in joint_friction(self.urdf, self.joint_names, locked, snap).items():
            chi_st[self.standard.friction_places(name)] = value
        return chi_st

    def a_priori(self) -> Array:
        """(b,) values known before any identification."""
        if not self.description.a_priori:
            raise DescriptionError(f"{self.name}: the robot file has no 'a_priori' values")
        return self.base.from_standard(self.standard_vector(self.description.a_priori, 'a_priori'))

    def a_priori_or_none(self) -> Array | None:
        """(b,) values known before any identification, None where the file has none."""
        return self.a_priori() if self.description.a_priori else None

    def load_reference(self) -> Array:
        """(b,) parameters for the load: given ones, the truth, a priori values, the URDF."""
        if self.load_parameters is not None:
            return self.load_parameters
        prior = self.standard_prior()
        if not self.description.truth and self.description.a_priori:
            given = self.standard_vector(self.description.a_priori, 'a_priori')
            prior = np.where(given != 0.0, given, prior)
        if not np.any(prior):
            raise DescriptionError(
                f'{self.name}: load-dependent friction needs parameters that determine the load: '
                "give 'a_priori' in the robot file or inertias in the URDF"
            )
        return self.base.from_standard(prior)

    def with_load(self, chi: Array) -> Robot:
        """Return the same robot whose regressor takes the load of these parameters, (b,)."""
        robot = copy.copy(self)
        robot.load_parameters = np.array(chi, float)
        return robot

    def at_temperature(self, celsius: float) -> Robot:
        """Return the same robot at a temperature, for simulation and control."""
        robot = copy.copy(self)
        robot.heat = float(celsius) - self.description.reference_temperature
        return robot

    def regular_start(self) -> Array:
        """
        (b,) zeros but one inertia per joint, so that M(q) is regular (eq. 48 and 51 of paper 000).

        With geared rotors M(q) is the same in every configuration: I, or K^T K of unit rotors when
        they are coupled (a coupled rotor also counts in the Ia of the joints it turns with).
        """
        chi_st = np.zeros(len(self.standard_names))
        for j in range(self.n):
            body = self.kinematics.own_body(j)
            name, value = f'Ia{j + 1}', 1.0
            if name in self.standard_names:
                value = float(np.sum(self.rotor_shares[:, j]))
            elif self.kinematics.prismatic[body]:
                name = f'M{j + 1}'
            else:
                largest = int(np.argmax(np.abs(self.kinematics.axis[body])))
                name = ('XX', 'YY', 'ZZ')[largest] + str(j + 1)
            chi_st[self.standard_names.index(name)] = value
        return self.base.from_standard(chi_st)

    def loop(self, name: str = 'default') -> Loop:
        """Return a control loop of the robot file by its name."""
        if name not in self.description.loops:
            if not self.description.loops:
                raise DescriptionError(f"{self.name}: the robot file has no 'loops'")
            hint = did_you_mean(name, self.description.loops)
            raise DescriptionError(f"{self.name}: no loop '{name}', {hint}", code='no_loop')
        return self.description.loops[name]
