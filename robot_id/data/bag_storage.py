"""
Storage of a bag that other libraries read: sqlite3, and compressed files or messages.

`rosbag2_py` reads it where ROS 2 is sourced, the library `rosbags` (extra `bags`) where it is not:
two readers of one kind, so the rest of robot_id does not know which one it has.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from robot_id.data.bag_metadata import read_metadata
from robot_id.extras import MissingExtra

# Parts of rosbag2 that tell the name of every file they open.
TALKATIVE = 'rosbag2_storage', 'rosbag2_compression', 'rosbag2_cpp'


class Storage(Protocol):
    """
    An open recording.

    :ivar topics: type by name.
    :ivar counts: messages by topic.
    """

    topics: dict[str, str]
    counts: dict[str, int]

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, Any]]:
        """Yield topic, receive time in ns and the serialised message, of these topics only."""

    def close(self) -> None:
        """Close the files."""


class Rosbag2Storage:
    """A recording read by ROS 2 itself."""

    def __init__(self, path: Path) -> None:
        import rosbag2_py
        from rclpy.logging import LoggingSeverity, set_logger_level

        for part in TALKATIVE:
            set_logger_level(part, LoggingSeverity.ERROR)
        if path.suffix == '.db3':
            _check_database(path)
        self._library = rosbag2_py
        compressed = path.is_dir() and read_metadata(path).compressed
        kind = 'SequentialCompressionReader' if compressed else 'SequentialReader'
        self._reader = getattr(rosbag2_py, kind)()
        self._reader.open(
            rosbag2_py.StorageOptions(uri=str(path), storage_id=''),
            rosbag2_py.ConverterOptions('', ''),
        )
        self.topics = {each.name: each.type for each in self._reader.get_all_topics_and_types()}
        self.counts = {
            each.topic_metadata.name: each.message_count
            for each in self._reader.get_metadata().topics_with_message_count
        }

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, Any]]:
        """Yield topic, receive time and bytes."""
        wanted = sorted(topics & set(self.topics))
        if not wanted:
            return
        self._reader.set_filter(self._library.StorageFilter(topics=wanted))
        while self._reader.has_next():
            topic, data, received = self._reader.read_next()
            yield topic, received, data

    def close(self) -> None:
        """Close the files."""
        self._reader = None


def _check_database(path: Path) -> None:
    """Let sqlite say what is wrong with a file: rosbag2 only says that nothing can open it."""
    with closing(sqlite3.connect(f'{path.resolve().as_uri()}?mode=ro', uri=True)) as database:
        database.execute('SELECT name FROM topics').fetchall()


class RosbagsStorage:
    """A recording read by the library rosbags, without ROS."""

    def __init__(self, path: Path) -> None:
        from rosbags.rosbag2 import Reader

        self._reader = Reader(path)
        self._reader.open()
        self.topics: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        for each in self._reader.connections:
            self.topics[each.topic] = each.msgtype
            self.counts[each.topic] = self.counts.get(each.topic, 0) + each.msgcount

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, Any]]:
        """Yield topic, receive time and bytes."""
        wanted = [each for each in self._reader.connections if each.topic in topics]
        if wanted:
            for connection, received, data in self._reader.messages(wanted):
                yield connection.topic, received, data

    def close(self) -> None:
        """Close the files."""
        self._reader.close()


# In the order of preference, by the module that each needs.
STORAGES: dict[str, Callable[[Path], Storage]] = {
    'rosbag2_py': Rosbag2Storage,
    'rosbags': RosbagsStorage,
}


def open_storage(path: Path) -> Storage:
    """
    Open a recording with the library that is installed.

    :raises MissingExtra: when nothing is.
    """
    for module, storage in STORAGES.items():
        try:
            import_module(module)
        except ImportError:
            # Missing, or built for another Python.
            continue
        return storage(path)
    raise MissingExtra('rosbags')
