"""The gains of the drives with their deviations, and their file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import files
from robot_id.model.json_numbers import finite_or_none

Array = NDArray[np.float64]
SCHEMA = 1
# Half width of a 95 % interval in deviations.
HALF = 1.96
# A larger factor is not ageing of a drive but a wrong gear ratio or unit.
STRANGE = 2.0


@dataclass(frozen=True)
class DriveGains:
    """
    Factors that the recorded torques are to be multiplied by.

    :param joint_names: n names.
    :param gains: (n,) 1 where the recorded scale is right; least squares, the load a body.
    :param deviations: (n,).
    :param total: (n,) the same by total least squares.
    :param mass: of the known load, kg.
    :param written: (n,) `drive_gain` for the robot file, None where the sign is wrong.
    """

    joint_names: tuple[str, ...]
    gains: Array
    deviations: Array
    total: Array
    mass: float
    written: tuple[float | None, ...]

    @property
    def worst_percent(self) -> float:
        """Largest half width of an interval, in percent of its gain."""
        return float(np.max(100.0 * HALF * self.deviations / np.abs(self.gains)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line for each drive whose sign or gear is wrong; one for all if all are negative."""
        found = []
        if len(self.gains) > 1 and np.all(self.gains < 0.0):
            return (
                'all gains are negative: are --unloaded and --loaded swapped? If not, all torques '
                'or all positions have the wrong sign',
            )
        for name, gain in zip(self.joint_names, self.gains):
            if gain < 0.0:
                found.append(
                    f"joint '{name}': gain {gain:.3g} is negative, a sign error of its torque or "
                    'position'
                )
            if not 1.0 / STRANGE < abs(gain) < STRANGE:
                found.append(
                    f"joint '{name}': gain {gain:.3g} is beyond the tolerance of a drive: check "
                    'its gear ratio and the unit of its torque'
                )
        return tuple(found)

    def lines(self) -> list[str]:
        """Return one line for each joint, with the half width of the 95 % interval."""
        rows = zip(self.joint_names, self.gains, self.deviations, self.total)
        return [
            f'{name}: {gain:.4g} +- {HALF * std:.2g} (total least squares {total:.4g})'
            for name, gain, std, total in rows
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        rows = zip(self.joint_names, self.gains, self.deviations, self.total, self.written)
        return {
            'schema': SCHEMA,
            'mass': self.mass,
            'gains': [
                {
                    'joint': name,
                    'value': float(gain),
                    'std': float(std),
                    'total_least_squares': finite_or_none(total),
                    'drive_gain': written,
                }
                for name, gain, std, total, written in rows
            ],
            'warnings': list(self.warnings),
        }

    def save(self, path: str | Path) -> None:
        """Write the JSON form to a file."""
        files.write_text(path, json.dumps(self.to_dict(), indent=1) + '\n')
