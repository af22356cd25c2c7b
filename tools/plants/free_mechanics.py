"""The mechanics of a free-running plant, and the largest values that it has seen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
TICK_S = 1e-3


@dataclass(frozen=True)
class Settings:
    """
    What a plant is.

    :param model: MJCF file with one actuator per joint.
    :param joints: names, in the order of `start` and of all other arrays.
    :param start: (n,) posture.
    :param limit: (n,) largest torque of the drives.
    :param step: (n,) of the encoders.
    :param rate_hz: of the joint states as agreed with the controller.
    :param patience_s: so long it stands still, with its time, for a controller that answered and
        is silent: a machine that is busy stalls a process now and then. Counted; 0: never.
    """

    model: str
    joints: tuple[str, ...]
    start: tuple[float, ...]
    limit: tuple[float, ...]
    step: tuple[float, ...]
    rate_hz: float
    patience_s: float = 0.0

    @staticmethod
    def read(path: Path) -> Settings:
        """Read a file."""
        return Settings(**json.loads(path.read_text()))


class Mechanics:
    """
    The arm: MuJoCo with torques at its joints.

    :ivar q: (n,) position, dq (n,) velocity.
    """

    def __init__(self, settings: Settings) -> None:
        self._model = mujoco.MjModel.from_xml_path(settings.model)
        self._model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self._model.jnt_limited[:] = 0
        self._data = mujoco.MjData(self._model)
        self._still = mujoco.MjData(self._model)
        self._at = [self._model.joint(name).dofadr[0] for name in settings.joints]
        self._ctrl = [self._model.actuator(name).id for name in settings.joints]
        self._steps = round(TICK_S / self._model.opt.timestep)
        self._start = np.array(settings.start)
        self.reset()

    def reset(self) -> None:
        """Put it to its start, at rest."""
        mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[self._at] = self._start
        self.q, self.dq = self._start.copy(), np.zeros(len(self._at))

    def advance(self, torque: Array) -> None:
        """Move for one tick."""
        self._data.ctrl[self._ctrl] = torque
        mujoco.mj_step(self._model, self._data, self._steps)
        self.q, self.dq = self._data.qpos[self._at], self._data.qvel[self._at]

    def stop(self) -> None:
        """Close the brakes."""
        self._data.qvel[:] = 0.0
        self.dq[:] = 0.0

    def gravity(self) -> Array:
        """(n,) the torques that hold it against gravity."""
        self._still.qpos[:] = self._data.qpos
        mujoco.mj_kinematics(self._model, self._still)
        mujoco.mj_comPos(self._model, self._still)
        out = np.empty(self._model.nv)
        mujoco.mj_rne(self._model, self._still, 0, out)
        return out[self._at]


class Extremes:
    """
    The largest values since the start, per joint, and what disturbed.

    :ivar torque: (n,) of the drives less what gravity needs, both in their absolute values,
        `whole_torque` as it was wanted, with what gravity needs.
    :ivar lowest: (n,) position, and `highest`.
    :ivar saturated: ticks with a torque at its limit.
    :ivar gap_s: longest time between two commands, since the first; `states` and `commands` count.
    :ivar stall_s: longest time in which this process was not run, `wait_s` in which it waited.
    """

    def __init__(self, start: Array) -> None:
        n = len(start)
        self.start = start
        self.torque, self.speed, self.motion = np.zeros(n), np.zeros(n), np.zeros(n)
        self.whole_torque, self.lowest, self.highest = np.zeros(n), start.copy(), start.copy()
        self.saturated = self.ticks = self.commands = self.states = 0
        self.stalls = self.waits = 0
        self.gap_s = self.stall_s = self.wait_s = 0.0

    def take(self, torque: Array, whole: Array, q: Array, dq: Array, saturated: bool) -> None:
        """Take in one tick."""
        np.maximum(self.torque, torque, out=self.torque)
        np.maximum(self.whole_torque, np.abs(whole), out=self.whole_torque)
        np.minimum(self.lowest, q, out=self.lowest)
        np.maximum(self.highest, q, out=self.highest)
        np.maximum(self.speed, np.abs(dq), out=self.speed)
        np.maximum(self.motion, np.abs(q - self.start), out=self.motion)
        self.saturated += saturated
        self.ticks += 1

    def figures(self) -> dict[str, Any]:
        """Return them for a text."""
        return {
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in vars(self).items()
        }
