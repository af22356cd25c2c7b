"""Units that measurements come in, as factors to SI."""

from __future__ import annotations

from math import pi

from robot_id.exceptions import DataError, did_you_mean

_LENGTH = {'m': 1.0, 'cm': 1e-2, 'mm': 1e-3, 'um': 1e-6}
_ANGLE = {'rad': 1.0, 'mrad': 1e-3, 'deg': pi / 180, 'rev': 2 * pi}

TIME = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9, 'min': 60.0}
POSITION = {**_ANGLE, **_LENGTH}
VELOCITY = {f'{name}/s': factor for name, factor in POSITION.items()} | {'rpm': 2 * pi / 60}
ACCELERATION = {f'{name}/s^2': factor for name, factor in POSITION.items()}
TORQUE = {'N.m': 1.0, 'N.cm': 1e-2, 'N.mm': 1e-3, 'mN.m': 1e-3, 'kN.m': 1e3, 'N': 1.0, 'kN': 1e3}
# A drive's signal becomes a torque or force only by the drive gain: the mapping's `scale`.
SIGNAL = {'A': 1.0, 'mA': 1e-3, 'V': 1.0, 'mV': 1e-3, '%': 1e-2, '1': 1.0}
TEMPERATURE = {'degC': 1.0}
VOLTAGE = {'V': 1.0, 'mV': 1e-3}
PLAIN = {'1': 1.0}

OF_CHANNEL = {
    'position': POSITION,
    'velocity': VELOCITY,
    'torque': TORQUE | SIGNAL,
    'reference_position': POSITION,
    'reference_velocity': VELOCITY,
    'reference_acceleration': ACCELERATION,
    'control': TORQUE | SIGNAL,
    'temperature': TEMPERATURE,
    'gain': PLAIN,
    'supply': VOLTAGE,
    'enabled': PLAIN,
}


def factor(unit: str | None, known: dict[str, float], where: str) -> float:
    """Return the factor of a unit to SI, 1 for None; refuse an unknown one with a suggestion."""
    if unit is None:
        return 1.0
    if unit not in known:
        raise DataError(f"{where}: no unit '{unit}', {did_you_mean(unit, known)}")
    return known[unit]
