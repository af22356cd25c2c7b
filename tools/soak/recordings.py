"""The recordings of a soak: each must open, and hold all but its last second."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_id import data
from robot_id.data.io.bags.mcap_scan import McapScan
from robot_id.exceptions import RobotIdError
from robot_id.robot import Robot

# What a recording may lose, at its end or anywhere.
LOSS_NS = 1_000_000_000


@dataclass
class Recording:
    """
    One recording.

    :param begun: when the logger said that it records [ns of the wall clock].
    :param ended: when it was ended, the logger killed or the disk full.
    :param how: what ended it.
    """

    path: Path
    begun: int
    ended: int = 0
    how: str = ''

    def end(self, how: str) -> None:
        """Note the end."""
        self.ended, self.how = time.time_ns(), how

    def check(self, robot: Robot, published: np.ndarray) -> tuple[str, str]:
        """
        Return what it holds, and which rule it breaks ('' for none).

        :param published: (N,) when the robot published its joint states [ns].
        """
        heard = published[(published > self.begun + LOSS_NS) & (published < self.ended - LOSS_NS)]
        try:
            found = data.load(self.path, joint_names=robot.joint_names)
            says = f'{len(found)} samples' + ''.join(f'; {note}' for note in found.notes[:1])
        except RobotIdError as error:
            if heard.size:
                return '', f'{self.path.name} ({self.how}) does not open: {error}'
            return f'nothing to record: {str(error)[-60:]}', ''
        scan = McapScan(next(self.path.glob('*.mcap')))
        kept = np.array([time for topic, time, _ in scan.messages() if 'joint_states' in topic])
        missing = _far(heard, np.sort(kept))
        if missing:
            return says, f'{self.path.name} ({self.how}) lacks {missing} joint states'
        return says, ''

    def remove(self) -> None:
        """Make room on the disk."""
        shutil.rmtree(self.path, ignore_errors=True)


def _far(heard: np.ndarray, kept: np.ndarray) -> int:
    """Return how many times have no recorded message within a second."""
    if not heard.size or not kept.size:
        return int(heard.size)
    after = np.minimum(np.searchsorted(kept, heard), kept.size - 1)
    before = np.maximum(after - 1, 0)
    distance = np.minimum(abs(kept[after] - heard), abs(kept[before] - heard))
    return int((distance > LOSS_NS).sum())
