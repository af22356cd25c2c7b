"""Message definitions of ROS 2 from the library rosbags: an independent writer and reader."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rosbags.typesys import Stores, get_typestore


@lru_cache(maxsize=1)
def typestore() -> Any:
    """Return the definitions of ROS 2 Jazzy."""
    return get_typestore(Stores.ROS2_JAZZY)
