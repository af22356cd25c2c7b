"""
The robot file: its schema, and reading it with errors that name the key.

Everything is SI on the joint side: m, rad, kg, s, N, N.m; angles of an MDH table may be written as
expressions of pi ('-pi/2').
"""

from __future__ import annotations

import ast
import math
import operator
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from robot_id.exceptions import DescriptionError, did_you_mean

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def evaluate(expression: Any) -> float:
    """Return the value of a number or of an expression such as '-pi/2' or '2*pi/3'."""

    def value(node: ast.AST) -> float:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.Name) and node.id == 'pi':
            return math.pi
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))  # type: ignore[operator]
        if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.operand))  # type: ignore[operator]
        raise ValueError(f'not a number or an expression of pi: {expression!r}')

    if isinstance(expression, bool):
        raise ValueError(f'not a number: {expression!r}')
    if isinstance(expression, (int, float)):
        number = float(expression)
    else:
        try:
            number = value(ast.parse(str(expression), mode='eval').body)
        except (SyntaxError, ZeroDivisionError) as error:
            raise ValueError(f'not a number or an expression of pi: {expression!r}') from error
    if not math.isfinite(number):
        raise ValueError(f'must be finite, got {expression!r}')
    return number


Number = Annotated[float, BeforeValidator(evaluate)]
Positive = Annotated[float, BeforeValidator(evaluate), Field(gt=0)]
NotNegative = Annotated[float, BeforeValidator(evaluate), Field(ge=0)]
FrictionTerm = Literal['viscous', 'coulomb', 'offset', 'asymmetric_viscous', 'asymmetric_coulomb']


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
    :param friction: the friction terms of this joint.
    """

    name: str
    gear_ratio: Number = 1.0
    drive_gain: Positive = 1.0
    rotor_inertia: Literal['geared', 'direct', 'none'] = 'geared'
    friction: tuple[FrictionTerm, ...] = ('viscous', 'coulomb', 'offset')
    limits: JointLimits = JointLimits()


class Alias(_Strict):
    """A base parameter under another name and scale: alias = factor * parameter."""

    name: str
    factor: Positive = 1.0


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

    law: Literal['pd_cascade', 'pd', 'computed_torque'] = 'pd_cascade'
    bandwidth: tuple[Positive, ...]
    damping: tuple[Positive, ...]
    rate_hz: Positive
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
    :param locked: joints of the URDF that do not move, with their position.
    :param renamed: base parameters that carry another name (LMX2 = L * MX2).
    :param loops: control loops by name; 'default' is the one of the robot.
    :param a_priori: known values of standard parameters before any identification.
    :param truth: standard parameters of the simulated robot.
    :param coulomb_slope: alpha of 2/pi atan(alpha dq) in simulation and control.
    :param identification_slope: alpha of the plant that IDIM-IV, DIDIM and CLOE simulate, where
        the real friction is steeper than the one above; None: the same.
    :param motion: the trajectory that `simulate` plays when none is given (see trajectory room).
    """

    name: str
    description: str = ''
    urdf: str | None = None
    mdh: tuple[MdhRow, ...] | None = None
    gravity: tuple[Number, Number, Number] = (0.0, 0.0, -9.81)
    joints: tuple[Joint, ...] | None = None
    coupling: tuple[tuple[Number, ...], ...] | None = None
    locked: dict[str, Number] = {}
    renamed: dict[str, Alias] = {}
    loops: dict[str, Loop] = {}
    a_priori: dict[str, Number] = {}
    truth: dict[str, Number] = {}
    noise: Noise = Noise()
    coulomb_slope: Positive = 1000.0
    identification_slope: Positive | None = None
    motion: dict[str, Any] | None = None

    @model_validator(mode='after')
    def _complete(self) -> RobotDescription:
        if self.urdf is None and self.mdh is None:
            raise ValueError("give the kinematics: 'urdf' or 'mdh'")
        if self.joints is not None:
            names = [joint.name for joint in self.joints]
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"joints: '{name}' appears more than once")
            self._check_sizes(len(names))
        elif self.mdh is not None:
            raise ValueError("an 'mdh' table needs 'joints' with one entry per row")
        return self

    def _check_sizes(self, n: int) -> None:
        if self.mdh is not None and len(self.mdh) != n:
            raise ValueError(f'mdh has {len(self.mdh)} rows for {n} joints')
        if self.coupling is not None and (
            len(self.coupling) != n or any(len(row) != n for row in self.coupling)
        ):
            sizes = f'{len(self.coupling)} x {max(map(len, self.coupling), default=0)}'
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


def read_description(path: Path) -> RobotDescription:
    """Read and check a robot file; a mistake is one line with the file, the key and the fix."""
    try:
        data = yaml.safe_load(path.read_text())
    except OSError as error:
        raise DescriptionError(f'{path}: {error.strerror}') from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DescriptionError(f'{path}: not YAML ({" ".join(str(error).split())})') from error
    if not isinstance(data, dict):
        raise DescriptionError(
            f'{path}: a robot file is a mapping of keys, got {type(data).__name__}'
        )
    return parse_description(data, str(path))


def parse_description(data: dict[str, Any], source: str) -> RobotDescription:
    """Check a robot file that is already a dictionary."""
    try:
        return RobotDescription.model_validate(data)
    except ValidationError as error:
        raise DescriptionError(f'{source}: {_first_problem(error)}') from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    place = '.'.join(str(part) for part in problem['loc'])
    if problem['type'] == 'extra_forbidden':
        known = _known_keys(problem['loc'][:-1])
        return f"unknown key '{place}', {did_you_mean(str(problem['loc'][-1]), known)}"
    message = problem['msg'].removeprefix('Value error, ')
    if problem['type'] == 'missing':
        return f"key '{place}' is missing"
    return f'{place}: {message}' if place else message


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the model at this place of the file knows."""
    models: dict[str, type[BaseModel]] = {
        'mdh': MdhRow, 'joints': Joint, 'limits': JointLimits, 'loops': Loop, 'noise': Noise,
        'renamed': Alias,
    }  # fmt: skip
    model: type[BaseModel] = RobotDescription
    for part in location:
        model = models.get(str(part), model)
    return list(model.model_fields)
