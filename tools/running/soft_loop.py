"""A robot file with a loop that a machine can carry whose processes stall now and then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from robot_id.robot import load_robot
from robot_id.share import share_directory

# Of a critically damped loop [rad/s]: it bears some 30 ms from a joint state to its torque.
BANDWIDTH = 20.0


def soft_robot_file(name: str, folder: Path, rate_hz: float) -> Path:
    """Write the file of a shipped robot with a soft loop 'learning'; return its path."""
    share, file = share_directory(), folder / f'{name}.yaml'
    text = (share / f'config/robots/{name}.yaml').read_text()
    content = yaml.safe_load(text.replace('../../urdf', str(share / 'urdf')))
    with_soft_loop(content, file, rate_hz)
    return file


def with_soft_loop(content: dict[str, Any], file: Path, rate_hz: float) -> None:
    """Write the content of a robot file, with a soft loop 'learning'."""
    file.write_text(yaml.safe_dump({k: v for k, v in content.items() if k != 'loops'}))
    n = load_robot(file).n
    loop = {'law': 'computed_torque', 'rate_hz': rate_hz}
    soft = {**loop, 'bandwidth': [BANDWIDTH] * n, 'damping': [1.0] * n}
    content['loops'] = {**content.get('loops', {}), 'learning': soft}
    file.write_text(yaml.safe_dump(content))
