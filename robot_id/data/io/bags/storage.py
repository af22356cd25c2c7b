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
from typing import Any, NamedTuple, Protocol

from robot_id.data.io.bags.growing import OPEN, STATE
from robot_id.exceptions import DataError
from robot_id.extras import MissingExtra
from robot_id.yaml_text import YamlError, read_yaml

# Parts of rosbag2 that tell the name of every file they open.
TALKATIVE = 'rosbag2_storage', 'rosbag2_compression', 'rosbag2_cpp'


class BagMetadata(NamedTuple):
    """
    The part that is used.

    :param files: names of the storage files, in their order.
    :param counts: messages by topic.
    :param compressed: whether files or messages are compressed as a whole.
    :param ended: False if our logger did not close the recording.
    """

    files: list[str]
    counts: dict[str, int]
    compressed: bool
    ended: bool


def read_metadata(folder: Path) -> BagMetadata:
    """Read the metadata of a directory; what is missing or no such table is one line."""
    path = folder / 'metadata.yaml'
    if not path.is_file():
        raise DataError(f'{folder}: no metadata.yaml')
    try:
        about = _table(_table(read_yaml(path))['rosbag2_bagfile_information'])
        files = [Path(str(name)).name for name in _list(about['relative_file_paths'])]
        counts = {}
        for entry in _list(about.get('topics_with_message_count') or []):
            topic = str(_table(_table(entry)['topic_metadata'])['name'])
            counts[topic] = int(_table(entry)['message_count'])
        compressed = bool(about.get('compression_mode'))
        state = _table(about.get('custom_data') or {}).get(STATE)
    except (OSError, YamlError, KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f'no key {error}' if isinstance(error, KeyError) else str(error)
        raise DataError(f'{path}: cannot be read ({reason})') from error
    if not files:
        raise DataError(f'{path}: it lists no files')
    return BagMetadata(files, counts, compressed, state != OPEN)


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError('not a table of keys and values')
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError('not a list')
    return value


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
