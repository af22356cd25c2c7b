"""How soon nodes find each other."""

from __future__ import annotations

import os
from pathlib import Path

from robot_id.share import share_directory

# Fast DDS 2 reads this file when the first participant of a process is made.
VARIABLE = 'FASTRTPS_DEFAULT_PROFILES_FILE'
# Fast DDS reads this file of the current folder by itself.
LOCAL = Path('DEFAULT_FASTRTPS_PROFILES.xml')


def announce_often() -> None:
    """
    Let Fast DDS announce this process often, see `config/fastdds.xml`; before `rclpy.init`.

    A user's own profiles stay as they are; other middleware does not read the variable.
    """
    if not LOCAL.exists():
        os.environ.setdefault(VARIABLE, str(share_directory() / 'config/fastdds.xml'))
