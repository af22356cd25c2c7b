"""How simulated recordings are made: rate, length, noise, friction, and how right the URDF is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from plants.mujoco_arms import Arm
from plants.mujoco_recordings import Motion, record

from robot_id.data.dataset import Dataset

Generator = np.random.Generator


@dataclass(frozen=True)
class Conditions:
    """
    How a recording is made.

    :param velocity: it has a velocity channel.
    :param noise: of encoders and torques, 1 for usual.
    :param spread: deviation (of the logarithm) of the true masses from those of the URDF.
    :param friction: 1 for usual; 8 makes Coulomb friction as large as the rigid torques.
    :param amplitude: share of the usual motion.
    :param placeholders: the robot file of the user has the same mass and inertia everywhere.
    """

    rate: float = 250.0
    seconds: float = 12.0
    velocity: bool = True
    noise: float = 1.0
    spread: float = 0.0
    friction: float = 1.0
    amplitude: float = 1.0
    placeholders: bool = False

    def motion(self, **change: object) -> Motion:
        """Return the motion to be played."""
        plain = Motion(rate=self.rate, seconds=self.seconds, amplitude=self.amplitude)
        return replace(plain, **change)


USUAL = Conditions()


def usual(rng: Generator) -> Conditions:
    """Return what most users record: any rate, with or without velocity, a URDF that is right."""
    return Conditions(
        rate=float(rng.choice([100.0, 125.0, 200.0, 250.0, 500.0, 1000.0])),
        seconds=float(rng.uniform(8.0, 14.0)),
        velocity=bool(rng.integers(2)),
        noise=float(10 ** rng.uniform(-0.5, 0.3)),
    )


def hard(rng: Generator) -> Conditions:
    """Return one thing that makes it difficult: friction, noise, a small motion, poor inertias."""
    change: dict[str, object] = [
        {'friction': float(rng.uniform(4.0, 10.0))},
        {'noise': 5.0},
        {'amplitude': 0.4},
        {'spread': float(rng.uniform(0.15, 0.5))},
        {'placeholders': True},
    ][int(rng.integers(5))]
    return replace(usual(rng), **change)


def poor(rng: Generator) -> Conditions:
    """Return the same without small motions, of which it is right to complain."""
    conditions = hard(rng)
    while conditions.amplitude < 1.0:
        conditions = hard(rng)
    return conditions


def recorded(
    arm: Arm,
    rng: Generator,
    conditions: Conditions,
    more: tuple[Motion, ...] = (),
    **motion: object,
) -> Dataset:
    """Return a recording made under these conditions, and of further motions of the same arm."""
    return record(
        arm,
        rng,
        conditions.motion(**motion),
        conditions.velocity,
        conditions.noise,
        conditions.spread,
        conditions.friction,
        more,
    ).dataset
