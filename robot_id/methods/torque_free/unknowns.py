"""
What a servo fit estimates: each number of each joint is fixed, free, or free with a prior.

Texts of the options are lists such as `kp=0.003, kt.elbow=0.4`: a name of a number, with a joint
after a point where only that joint is meant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.simulation.servo.drives import Drive
from robot_id.dynamics.simulation.servo.loop import (
    ARMATURE,
    BIAS,
    DELAY,
    FILM,
    FIRST_DRIVE,
    FIRST_TERM,
    VISCOUS,
)
from robot_id.exceptions import OptionError, did_you_mean
from robot_id.robot.friction.budget import TERMS
from robot_id.robot.friction.budget import VISCOUS as VISCOUS_NAME

Array = NDArray[np.float64]
# Between a value and the deviation of its prior.
PLUS_MINUS = '+-'
# Starts: the armature as a share of the inertia that a joint carries, friction of its torques.
ARMATURE_SHARE = 0.2
FRICTION_SHARE = {VISCOUS_NAME: 0.02, 'coulomb': 0.05}
# A number that is estimated by its logarithm stays within this factor of its start.
WIDEST_FACTOR = 1e4


@dataclass(frozen=True)
class Place:
    """
    A number of every joint.

    :param name: as users give it.
    :param place: in the table of numbers that the loop takes.
    :param unit: for a revolute joint.
    :param start: value, or where its estimation starts; None where a user has to give it.
    :param free: whether it is estimated unless told otherwise.
    :param positive: it is estimated by its logarithm.
    :param lower: smallest value; upper: largest.
    :param shared: one value for all joints.
    """

    name: str
    place: int
    unit: str
    start: float | None
    free: bool
    positive: bool = False
    lower: float = 0.0
    upper: float = math.inf
    shared: bool = False


@dataclass(frozen=True)
class Unknown:
    """
    One estimated number.

    :param name: `armature.elbow`, or `delay` where all joints share it.
    :param place: in the table of numbers; joints that it belongs to.
    :param joints: their indices.
    :param unit: of the number.
    :param start: value at the start.
    :param log: whether the fit moves its logarithm.
    :param scale: typical size of what the fit moves.
    :param lower: of the value; upper likewise.
    :param prior: mean and standard deviation, None for none.
    :param given: whether the user gave the start.
    """

    name: str
    place: int
    joints: tuple[int, ...]
    unit: str
    start: float
    log: bool
    scale: float
    lower: float
    upper: float
    prior: tuple[float, float] | None = None
    given: bool = False

    @property
    def kind(self) -> str:
        """The name of the number, without that of a joint."""
        return self.name.partition('.')[0]

    def inner(self, value: float) -> float:
        """Return what the fit moves for a value."""
        return math.log(value) if self.log else value / self.scale

    def value(self, inner: float) -> float:
        """Return the value."""
        return math.exp(inner) if self.log else inner * self.scale

    def slope(self, inner: float) -> float:
        """Return d value / d inner."""
        return math.exp(inner) if self.log else self.scale

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of what the fit moves."""
        if not self.log:
            return self.lower / self.scale, self.upper / self.scale
        low = max(self.lower, self.start / WIDEST_FACTOR)
        return math.log(low), math.log(min(self.upper, self.start * WIDEST_FACTOR))


def places(drive: Drive, friction: Iterable[str], longest_delay: float) -> tuple[Place, ...]:
    """Return the numbers of a joint with this drive and these friction terms."""
    chosen = set(friction)
    film = any(TERMS[name].needs_film for name in chosen if name in TERMS)
    found = [
        Place('armature', ARMATURE, 'kg.m2', 1e-3, True, positive=True),
        Place(VISCOUS_NAME, VISCOUS, 'N.m.s/rad', 0.0, VISCOUS_NAME in chosen),
        Place('bias', BIAS, 'rad', 0.0, True, lower=-0.5, upper=0.5),
        Place('delay', DELAY, 's', 0.0, True, upper=longest_delay, shared=True),
        Place('vs', FILM, 'rad/s', 0.3, film, positive=True, lower=1e-2, upper=10.0),
    ]
    for number, (name, term) in enumerate(TERMS.items()):
        found.append(Place(name, FIRST_TERM + number, term.unit, 0.0, name in chosen))
    for number, own in enumerate(drive.numbers):
        found.append(
            Place(
                own.name, FIRST_DRIVE + number, own.unit, own.start, own.free, own.positive,
                own.lower, own.upper,
            )
        )  # fmt: skip
    return tuple(found)


@dataclass(frozen=True)
class Given:
    """What a user says of a number: name, joint ('' for all), value and prior deviation."""

    name: str
    joint: str
    value: float | None
    std: float | None


def parse_given(text: str, key: str, known: Iterable[str], joints: tuple[str, ...]) -> list[Given]:
    """Return what a text such as `kt=0.37+-0.02, R, kp.elbow=3` says."""
    found = []
    for item in filter(None, (part.strip() for part in text.replace(';', ',').split(','))):
        left, equals, right = (part.strip() for part in item.partition('='))
        name, _, joint = left.partition('.')
        if name not in known:
            raise OptionError(f"{key}: no number '{name}', {did_you_mean(name, known)}", key=key)
        if joint and joint not in joints:
            raise OptionError(
                f"{key}: no joint '{joint}', {did_you_mean(joint, joints)}", key=key, joint=joint
            )
        value, _, std = right.partition(PLUS_MINUS)
        try:
            numbers = [float(each) if each.strip() else None for each in (value, std)]
        except ValueError:
            numbers = [math.nan, None]
        if any(each is not None and not math.isfinite(each) for each in numbers) or (
            equals and numbers[0] is None
        ):
            raise OptionError(f"{key}: '{item}' needs a number, such as {left}=0.3", key=key)
        if numbers[1] is not None and numbers[1] <= 0.0:
            raise OptionError(f"{key}: '{item}' needs a positive standard deviation", key=key)
        found.append(Given(name, joint, numbers[0], numbers[1]))
    return found


def _spread(given: list[Given], joints: tuple[str, ...]) -> dict[tuple[str, int], Given]:
    """Return what is given for each number and joint; what names a joint goes before the rest."""
    ordered = sorted(given, key=lambda one: bool(one.joint))
    return {
        (one.name, j): one
        for one in ordered
        for j, joint in enumerate(joints)
        if one.joint in ('', joint)
    }


def build_unknowns(
    drive: Drive,
    friction: Iterable[str],
    joints: tuple[str, ...],
    scales: Array,
    inertias: Array,
    fixed: str = '',
    free: str = '',
    prior: str = '',
    longest_delay: float = 0.1,
) -> tuple[Array, list[Unknown]]:
    """
    Return the (n, K) table of numbers at the start and the unknowns.

    :param scales: (n,) typical torques of the joints, for the size of friction.
    :param inertias: (n,) inertias that the joints carry, for the start of the armature.
    """
    table_places = places(drive, friction, longest_delay)
    known = [place.name for place in table_places]
    held = _spread(parse_given(fixed, 'fixed', known, joints), joints)
    unfixed = _spread(parse_given(free, 'free', known, joints), joints)
    for one in held.values():
        if one.value is None:
            raise OptionError(f"fixed: '{one.name}' needs a value", key='fixed')
    believed = _spread(parse_given(prior, 'prior', known, joints), joints)
    for one in believed.values():
        if one.std is None:
            raise OptionError(
                f"prior: '{one.name}' needs a standard deviation, such as {one.name}=0.3+-0.1",
                key='prior',
            )
    numbers = np.zeros((len(joints), FIRST_DRIVE + len(drive.numbers)))
    unknowns: list[Unknown] = []
    for place in table_places:
        every = range(len(joints))
        for group in [tuple(every)] if place.shared else [(j,) for j in every]:
            key = (place.name, group[0])
            told = held.get(key)
            usual = _start(place, float(scales[group[0]]), float(inertias[group[0]]))
            given = [
                source.value
                for source in (unfixed.get(key), believed.get(key), told)
                if source is not None and source.value is not None
            ]
            start = _checked(drive, place, joints[group[0]], given[-1] if given else usual)
            is_free = told is None and (place.free or key in unfixed or key in believed)
            for j in group:
                numbers[j, place.place] = start
            if not is_free:
                continue
            if place.positive and not math.isfinite(start):
                raise OptionError(
                    f"free: '{place.name}' needs a start, such as {place.name}=1", key='free'
                )
            belief = believed.get(key)
            unknowns.append(
                Unknown(
                    place.name + ('' if place.shared else f'.{joints[group[0]]}'),
                    place.place,
                    group,
                    place.unit,
                    start,
                    place.positive,
                    1.0 if place.positive else _scale(place, scales[group[0]]),
                    place.lower,
                    place.upper,
                    None if belief is None or belief.std is None else (start, belief.std),
                    bool(given),
                )
            )
    return numbers, unknowns


def _checked(drive: Drive, place: Place, joint: str, start: float | None) -> float:
    """Return the start of a number, which must be given and within its bounds."""
    if start is None:
        raise OptionError(
            f"drive '{drive.name}': '{place.name}' of joint '{joint}' is not given: "
            f"fixed='{place.name}=VALUE' ({place.unit}), or free with a start",
            key='fixed',
            joint=joint,
        )
    if not place.lower <= start <= place.upper or (place.positive and start <= 0.0):
        raise OptionError(
            f"'{place.name}' of joint '{joint}' is {start:g}, it lies between {place.lower:g} "
            f'and {place.upper:g}',
            key=place.name,
            joint=joint,
            value=start,
        )
    return start


def _start(place: Place, torque: float, inertia: float) -> float | None:
    """Return where a number starts unless it is given."""
    if place.name == 'armature':
        return ARMATURE_SHARE * inertia
    if place.free and place.name in FRICTION_SHARE:
        return FRICTION_SHARE[place.name] * torque
    return place.start


def _scale(place: Place, torque: float) -> float:
    """Return the typical size of a number that may be zero."""
    return {
        'N.m': 0.1 * torque, 'N.m.s/rad': 0.1 * torque, '1': 0.1, '1/(N.m)': 0.1 / torque,
        'rad': 0.01, 's': 0.01,
    }.get(place.unit, 1.0)  # fmt: skip
