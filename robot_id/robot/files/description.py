"""
The schema of a robot file.

Everything is SI on the joint side: m, rad, kg, s, N, N.m; angles of an MDH table may be written as
expressions of pi ('-pi/2').
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from robot_id.robot.files.bounds import Bounds, NotNegative, NotZero, Number, Positive, Rate
from robot_id.robot.files.names import Name
from robot_id.robot.friction import DEFAULT, TERMS, check_terms

LawName = Literal['pd_cascade', 'pd', 'computed_torque']


class _Strict(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True)


class MdhRow(_Strict):
    """
    One row of a modified Denavit-Hartenberg table (Khalil and Kleinfinger).

    T = Rot(x, alpha) Trans(x, d) Rot(z, theta) Trans(z, r); the joint variable adds to theta
    (revolute) or to r (prismatic).
    """

    type: Literal['revolute', 'prismatic'] = 'revolute'
    alpha: Number = 0.0
    d: Number = 0.0
    theta: Number = 0.0
    r: Number = 0.0


class DhRow(_Strict):
    """
    One row of a standard (distal) Denavit-Hartenberg table.

    T = Rot(z, theta) Trans(z, d) Trans(x, a) Rot(x, alpha); the joint variable adds to theta
    (revolute) or to d (prismatic).
    """

    type: Literal['revolute', 'prismatic'] = 'revolute'
    theta: Number = 0.0
    d: Number = 0.0
    a: Number = 0.0
    alpha: Number = 0.0


def modified(rows: tuple[DhRow, ...]) -> tuple[MdhRow, ...]:
    """
    Return the modified table of a standard one.

    Both multiply the same factors; a modified row takes Trans(x, a) Rot(x, alpha) of the row
    before. Those of the last row place the flange and move nothing.
    """
    before = (DhRow(), *rows[:-1])
    return tuple(
        MdhRow(type=row.type, alpha=last.alpha, d=last.a, theta=row.theta, r=row.d)
        for last, row in zip(before, rows)
    )


class JointLimits(_Strict):
    """Limits of one joint; None means not given. Position is [lower, upper]."""

    position: tuple[Number, Number] | None = None
    velocity: Positive | None = None
    acceleration: Positive | None = None
    torque: Positive | None = None

    @model_validator(mode='after')
    def _ordered(self) -> JointLimits:
        if self.position is not None and not self.position[0] < self.position[1]:
            raise ValueError(f'position: lower {self.position[0]} is not below {self.position[1]}')
        return self


class Joint(_Strict):
    """
    One moving joint: its drive, the terms of its model, its limits.

    :param gear_ratio: motor speed = gear_ratio * joint speed (taken from the coupling if given).
    :param drive_gain: joint torque = drive_gain * control signal.
    :param rotor_inertia: 'geared': Ia acts on the joint's own acceleration; 'direct': the rotor is
        fixed to its link, so Ia counts as a part of the link; 'none': no parameter of its own.
    :param friction: the friction terms of this joint (robot_id.robot.friction).
    :param friction_constants: constants of terms that have one (Stribeck velocity ...), by term.
    """

    name: Name
    gear_ratio: NotZero = 1.0
    drive_gain: Positive = 1.0
    rotor_inertia: Literal['geared', 'direct', 'none'] = 'geared'
    friction: tuple[str, ...] = DEFAULT
    friction_constants: dict[str, Positive] = {}
    limits: JointLimits = JointLimits()

    @field_validator('friction')
    @classmethod
    def _known_terms(cls, terms: tuple[str, ...]) -> tuple[str, ...]:
        return check_terms(terms)

    @model_validator(mode='after')
    def _constants_of_terms(self) -> Joint:
        for name in self.friction_constants:
            if name not in self.friction:
                raise ValueError(f"friction_constants: the joint has no term '{name}'")
            if TERMS[name].constant is None:
                raise ValueError(f"friction_constants: '{name}' has no constant")
        return self

    def constant_of(self, term: str) -> float:
        """Return the constant of a friction term, 0 where the term has none."""
        constant = TERMS[term].constant
        if constant is None:
            return 0.0
        return float(self.friction_constants.get(term, constant.default))


class Alias(_Strict):
    """
    A base parameter under another name and scale: alias = factor * parameter.

    :param unit: of the alias, where the factor has one; None: that of the parameter.
    """

    name: Name
    factor: Positive = 1.0
    unit: Name | None = None


class Loop(_Strict):
    """
    The control loop that runs on the robot.

    :param law: pd_cascade: v = kp kv (qr - q) - kv dq (paper 000); pd: the same gains on the
        torque with the reference velocity; computed_torque: paper 003.
    :param bandwidth: natural frequency of each joint, rad/s.
    :param damping: damping of each joint.
    :param rate_hz: rate of the controller.
    :param inertia: J_j of eq. 38 of paper 000 that the gains were tuned with; None = the largest
        M_jj of the a priori (or true) parameters along the motion.
    :param kp: position gains in 1/s where they are known as numbers (else from the bandwidth).
    :param kv: velocity gains in N.m.s/rad (or N.s/m) where they are known as numbers.
    :param velocity: how the controller gets the velocity: backward difference of the position, or
        of its two-sample average (EMPS).
    """

    law: LawName = 'pd_cascade'
    bandwidth: tuple[Positive, ...]
    damping: tuple[Positive, ...]
    rate_hz: Rate
    inertia: tuple[Positive, ...] | None = None
    kp: tuple[Positive, ...] | None = None
    kv: tuple[Positive, ...] | None = None
    velocity: Literal['backward', 'averaged'] = 'backward'


class Noise(_Strict):
    """Measurement noise of the simulated robot, one value per joint (0 = none)."""

    encoder_step: tuple[NotNegative, ...] | None = None
    position_std: tuple[NotNegative, ...] | None = None
    torque_std: tuple[NotNegative, ...] | None = None


class RobotDescription(_Strict):
    """
    A whole robot file.

    :param coupling: (n, n) motor speeds = coupling * joint speeds; joint torques by its transpose.
    :param snap: correct rounded angles (1.5708), axes and lengths to the exact values.
    :param dh: a standard (distal) Denavit-Hartenberg table, in place of `mdh`.
    :param locked: joints of the URDF, or of the table, that do not move, with their position;
        'others': all of the URDF that are not under `joints`, at zero or the nearest limit.
    :param renamed: base parameters that carry another name (LMX2 = L * MX2).
    :param loops: control loops by name; 'default' is the one of the robot.
    :param a_priori: known values of standard parameters before any identification.
    :param truth: standard parameters of the simulated robot.
    :param bounds: total mass, and bounds of links, that a physical fit keeps.
    :param coulomb_slope: alpha of 2/pi atan(alpha dq) in simulation and control.
    :param identification_slope: alpha of the plant that IDIM-IV, DIDIM and CLOE simulate, where
        the real friction is steeper than the one above; None: the same.
    :param reference_temperature: T0 of temperature-dependent friction, degrees Celsius.
    :param motion: the trajectory that `simulate` uses when none is given (see trajectory room).
    """

    name: Name
    description: str = ''
    urdf: str | None = None
    mdh: tuple[MdhRow, ...] | None = None
    dh: tuple[DhRow, ...] | None = None
    snap: bool = True
    gravity: tuple[Number, Number, Number] = (0.0, 0.0, -9.81)
    joints: tuple[Joint, ...] | None = None
    coupling: tuple[tuple[Number, ...], ...] | None = None
    locked: dict[str, Number] | Literal['others'] = {}
    renamed: dict[str, Alias] = {}
    loops: dict[str, Loop] = {}
    a_priori: dict[str, Number] = {}
    truth: dict[str, Number] = {}
    noise: Noise = Noise()
    bounds: Bounds = Bounds()
    coulomb_slope: Positive = 1000.0
    identification_slope: Positive | None = None
    reference_temperature: Number = 25.0
    motion: str | dict[str, Any] | None = None

    @model_validator(mode='before')
    @classmethod
    def _named(cls, content: Any) -> Any:
        """Name the joints of a table joint1, joint2 and so on, if no names are given."""
        if not isinstance(content, dict) or 'joints' in content or 'urdf' in content:
            return content
        rows = content.get('dh') or content.get('mdh')
        if not isinstance(rows, list | tuple):
            return content
        return content | {'joints': [{'name': f'joint{j + 1}'} for j in range(len(rows))]}

    @model_validator(mode='after')
    def _complete(self) -> RobotDescription:
        if self.mdh is not None and self.dh is not None:
            raise ValueError("give 'mdh' (modified) or 'dh' (standard), not both")
        if self.urdf is None and self.table is None:
            raise ValueError("give the kinematics: 'urdf' or 'mdh' (or 'dh')")
        if self.locked == 'others' and (self.urdf is None or self.joints is None):
            raise ValueError("locked: 'others' needs a 'urdf' and the 'joints' that stay free")
        if self.joints is not None:
            names = [joint.name for joint in self.joints]
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"joints: '{name}' appears more than once")
            self.check_sizes(len(names) - len(self.locked_rows))
        elif self.table is not None:
            key = 'mdh' if self.dh is None else 'dh'
            raise ValueError(f"an '{key}' table needs 'joints' with one entry per row")
        return self

    @property
    def table(self) -> tuple[MdhRow, ...] | None:
        """The modified-DH table, also of a standard one."""
        return self.mdh if self.dh is None else modified(self.dh)

    @property
    def locked_rows(self) -> dict[str, float]:
        """Joints that `joints` names as rows of a table and that do not move."""
        if self.urdf is not None or isinstance(self.locked, str):
            return {}
        named = {joint.name for joint in self.joints or ()}
        return {name: q for name, q in self.locked.items() if name in named}

    def check_sizes(self, n: int) -> None:
        """Refuse lists that do not have one entry per moving joint, or per row of the table."""
        rows = n + len(self.locked_rows)
        if self.table is not None and len(self.table) != rows:
            key = 'mdh' if self.dh is None else 'dh'
            raise ValueError(f'{key} has {len(self.table)} rows for {rows} joints')
        if self.coupling is not None and (
            len(self.coupling) != n or any(len(row) != n for row in self.coupling)
        ):
            lengths = sorted({len(row) for row in self.coupling})
            sizes = f'{len(self.coupling)} x {max(lengths, default=0)}'
            sizes += ' with unequal rows' if len(lengths) > 1 else ''
            raise ValueError(f'coupling is {sizes}, it must be {n} x {n} for {n} joints')
        for name, loop in self.loops.items():
            for key in ('bandwidth', 'damping', 'inertia', 'kp', 'kv'):
                values = getattr(loop, key)
                if values is not None and len(values) != n:
                    raise ValueError(f'loops.{name}.{key} has {len(values)} values for {n} joints')
        for key in ('encoder_step', 'position_std', 'torque_std'):
            values = getattr(self.noise, key)
            if values is not None and len(values) != n:
                raise ValueError(f'noise.{key} has {len(values)} values for {n} joints')
