"""Bounds on masses and centres in a robot file, which a physical fit keeps."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

from robot_id.model.numbers import NotNegative, Number, Positive

AXES = ('x', 'y', 'z')
AxisName = Literal['x', 'y', 'z']


class _Strict(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True)


class TotalMass(_Strict):
    """
    Mass of all moving links together, as weighed or as the maker prints it.

    :param value: kg.
    :param std: its standard deviation, kg; None: 1 % of the value.
    """

    value: Positive
    std: Positive | None = None


class Plate(_Strict):
    """A flat link: thin along one axis of its frame, its mass around the plane through 0."""

    normal: AxisName
    thickness: Positive


class LinkBounds(_Strict):
    """
    Bounds of one link, in the frame of its joint.

    :param mass: [lower, upper], kg.
    :param centre: [lower, upper] of the centre of mass along x, y and z, m; null where free.
    :param symmetric: normals of the planes through the origin that mirror the link.
    :param planar: the link is a flat plate.
    """

    mass: tuple[NotNegative, Positive] | None = None
    centre: (
        tuple[
            tuple[Number, Number] | None,
            tuple[Number, Number] | None,
            tuple[Number, Number] | None,
        ]
        | None
    ) = None
    symmetric: tuple[AxisName, ...] = ()
    planar: Plate | None = None

    @model_validator(mode='after')
    def _ordered(self) -> LinkBounds:
        named = [('mass', self.mass)]
        named += [(f'centre {axis}', pair) for axis, pair in zip(AXES, self.centre or ())]
        for name, pair in named:
            if pair is not None and not pair[0] < pair[1]:
                raise ValueError(f'{name}: lower {pair[0]:g} is not below upper {pair[1]:g}')
        for axis in self.mirrors:
            pair = (self.centre or (None,) * 3)[AXES.index(axis)]
            if pair is not None and not pair[0] < 0.0 < pair[1]:
                raise ValueError(f'centre {axis}: a link that mirrors along {axis} has it at 0')
        return self

    @property
    def mirrors(self) -> tuple[AxisName, ...]:
        """Axes along which the link mirrors itself."""
        return tuple({*self.symmetric, *((self.planar.normal,) if self.planar else ())})


class Bounds(_Strict):
    """
    Bounds of a robot.

    :param total_mass: of all moving links.
    :param links: by the name of the joint that carries the link.
    """

    total_mass: TotalMass | None = None
    links: dict[str, LinkBounds] = {}
