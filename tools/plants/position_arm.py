"""
A position-controlled arm on MuJoCo: its vendor's loop, its friction, what it calls effort.

No clock and no topic: `jtc_plant.py` has them. The loop is unknown to who identifies the arm.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plants.mujoco_recordings import (
    Motion,
    add_gears,
    compile_model,
    harden_friction,
    reference,
)

Array = NDArray[np.float64]
# The plant's steps are short: damping and friction act at the end of each, so that inertias have
# the damping times half a step too many.
CONTROL_S, SUBSTEPS = 0.002, 10
BANDWIDTH_HZ = 20.0
EFFORTS = ('torque', 'current', 'gravity_free', 'unsigned', 'percent', 'zero')


@dataclass(frozen=True)
class Settings:
    """
    The arm and its mistakes; those after `seed` may change while it runs.

    :param urdf: of the chain.
    :param position: (n,) where it stands.
    :param joints: names as the driver has them.
    :param coulomb: factor of the Coulomb friction, with stick.
    :param effort: one of EFFORTS.
    :param scaling: speed scaling of the controller, 0 to 1.
    :param rejects: whether the controller rejects every trajectory.
    :param aborts_at: seconds into a trajectory at which the controller aborts it, 0 for never.
    :param silent_at: seconds into a trajectory from which on no joint states come, 0 for never.
    :param stuck_at: seconds into a trajectory from which on the first joint is blocked.
    :param noise: torque noise, share of the rms of gravity and friction.
    """

    urdf: str
    position: tuple[float, ...]
    joints: tuple[str, ...]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    coulomb: float = 1.0
    seed: int = 0
    state_hz: float = 250.0
    effort: str = 'torque'
    scaling: float = 1.0
    rejects: bool = False
    aborts_at: float = 0.0
    silent_at: float = 0.0
    stuck_at: float = 0.0
    noise: float = 0.005

    @classmethod
    def read(cls, path: Path) -> Settings:
        """Read the file that `write` wrote."""
        content = json.loads(path.read_text())
        lists = ('position', 'joints', 'gravity')
        return cls(**{k: tuple(v) if k in lists else v for k, v in content.items()})

    def write(self, path: Path) -> Path:
        """Write a JSON file."""
        path.write_text(json.dumps(asdict(self)))
        return path

    def changed(self, text: str) -> Settings:
        """Return the arm with the changes of a JSON text."""
        return replace(self, **json.loads(text))


def mechanics(settings: Settings) -> Any:
    """Return the MuJoCo model with rotors and friction."""
    import mujoco

    model = compile_model(Path(settings.urdf), np.array(settings.gravity))
    rng = np.random.default_rng(settings.seed)
    motion = reference(model, Motion(8.0, 100.0), rng)
    add_gears(model, mujoco.MjData(model), motion, rng, settings.coulomb)
    harden_friction(model)
    return model


@dataclass
class Seen:
    """Largest values since the last look."""

    acceleration: list[float] = field(default_factory=list)
    speed: list[float] = field(default_factory=list)


class PositionArm:
    """
    The arm, one sample of its vendor's loop at a time.

    tau = M(q) (ddq_r + 2 w (dq_r - dq) + w^2 (q_r - q)) + gravity and Coriolis, friction
    not compensated: it follows well, with small errors that robot_id cannot predict.

    :ivar q: (n,) position in encoder steps, `effort` (n,) what it publishes.
    """

    def __init__(self, settings: Settings) -> None:
        import mujoco

        self._mujoco, self.settings = mujoco, settings
        self.model = mechanics(settings)
        self.model.opt.timestep = CONTROL_S / SUBSTEPS
        self.data = mujoco.MjData(self.model)
        self._inertia = np.zeros((self.model.nv, self.model.nv))
        self._rng = np.random.default_rng([settings.seed, 1])
        self.n = self.model.nv
        self._gain = np.random.default_rng([settings.seed, 2]).uniform(5.0, 20.0, self.n)
        self._step = 5e-5
        self.place(np.array(settings.position))
        scale = 3.0 * self.model.dof_frictionloss
        self._noise = settings.noise * np.maximum(scale, 0.05 * scale.max())
        self.rated = 20.0 * scale
        self._stuck: float | None = None

    def place(self, position: Array) -> None:
        """Stand still at a position (n,)."""
        self.data.qpos[:], self.data.qvel[:] = position, 0.0
        self._mujoco.mj_forward(self.model, self.data)
        self.tau = self.data.qfrc_bias.copy()

    @property
    def gain(self) -> Array:
        """(n,) joint torque over current, N.m/A."""
        return self._gain

    @property
    def q(self) -> Array:
        """(n,) measured position."""
        return np.round(self.data.qpos / self._step) * self._step

    @property
    def dq(self) -> Array:
        """(n,) velocity."""
        return self.data.qvel.copy()

    def advance(self, wanted: Array, stuck: bool = False) -> None:
        """Follow (3, n) a reference for one sample."""
        q_r, dq_r, ddq_r = wanted
        data, w = self.data, 2 * np.pi * BANDWIDTH_HZ
        self._mujoco.mj_forward(self.model, data)
        a = ddq_r + 2 * w * (dq_r - data.qvel) + w**2 * (q_r - data.qpos)
        self._mujoco.mj_fullM(self.model, data, self._inertia)
        self.tau = self._inertia @ a + data.qfrc_bias
        data.qfrc_applied[:] = self.tau
        if stuck and self._stuck is None:
            self._stuck = float(data.qpos[0])
        for _ in range(SUBSTEPS):
            self._mujoco.mj_step(self.model, data)
            if stuck:
                data.qpos[0], data.qvel[0] = self._stuck, 0.0

    def effort(self) -> Array:
        """(n,) what the driver publishes as effort."""
        kind = self.settings.effort
        tau = self.tau + self._noise * self._rng.normal(size=self.n)
        return as_effort(kind, tau, self._gravity(), self._gain, self.rated)

    def _gravity(self) -> Array:
        if self.settings.effort != 'gravity_free':
            return np.zeros(self.n)
        speed = self.data.qvel.copy()
        self.data.qvel[:] = 0.0
        self._mujoco.mj_forward(self.model, self.data)
        gravity = self.data.qfrc_bias.copy()
        self.data.qvel[:] = speed
        return np.asarray(gravity)


def as_effort(kind: str, tau: Array, gravity: Array, gain: Array, rated: Array) -> Array:
    """Return torques (..., n) as a driver of a kind publishes them."""
    if kind == 'current':
        return tau / gain
    if kind == 'gravity_free':
        return tau - gravity
    if kind == 'unsigned':
        return np.abs(tau / gain)
    if kind == 'percent':
        return 100.0 * tau / rated
    return np.zeros_like(tau) if kind == 'zero' else tau
