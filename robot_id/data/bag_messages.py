"""The raw messages of a rosbag2 recording: a directory, an .mcap or a .db3 file, whole or cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rosbags.rosbag2 import Reader

from robot_id.data.mcap_scan import MAGIC, McapScan
from robot_id.exceptions import DataError

SUFFIXES = ('.mcap', '.db3')


def is_bag(path: Path) -> bool:
    """Return whether a path looks like a rosbag2 recording."""
    if path.is_dir():
        return (path / 'metadata.yaml').is_file() or any(_storage_files(path))
    return path.suffix in SUFFIXES


class BagMessages:
    """
    Messages of a recording, with what had to be mended.

    :param path: directory or storage file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self.topics: dict[str, str] = {}
        self._plans = self._open()

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, receive time in ns and the serialised message, of these topics only."""
        for path, recover in self._plans:
            if recover:
                yield from self._recovered(path, topics)
            else:
                yield from self._regular(path, topics)

    def _open(self) -> list[tuple[Path, bool]]:
        """Return the parts of the recording and whether each needs recovering."""
        if not self.path.is_dir():
            return [(self.path, self._inspect(self.path))]
        if (self.path / 'metadata.yaml').is_file():
            try:
                self._list_topics(self.path)
            except DataError as error:
                self.notes.append(f'{error}; its storage files are read one by one')
            else:
                return [(self.path, False)]
        else:
            self.notes.append(f'{self.path}: no metadata.yaml, its storage files are read')
        files = list(_storage_files(self.path))
        if not files:
            raise DataError(f'{self.path}: a bag directory without .mcap or .db3 files')
        return [(file, self._inspect(file)) for file in files]

    def _inspect(self, file: Path) -> bool:
        """Find the topics of a storage file; return whether it has to be recovered."""
        if not file.is_file():
            raise DataError(f'{file}: no such file')
        if file.stat().st_size == 0:
            raise DataError(f'{file}: the file is empty')
        try:
            self._list_topics(file)
            return False
        except DataError:
            if file.suffix != '.mcap':
                raise
        with file.open('rb') as stream:
            if stream.read(8) != MAGIC:
                raise DataError(f'{file}: not an mcap file')
        scan = McapScan(file)
        count = sum(1 for _ in scan.messages())
        self.topics.update({topic.name: topic.type for topic in scan.topics.values()})
        if count == 0:
            raise DataError(f'{file}: cut off or damaged before the first message')
        self.notes.append(f'{file}: the end is missing or damaged, {count} messages recovered')
        return True

    def _list_topics(self, path: Path) -> None:
        try:
            with Reader(path) as reader:
                self.topics.update({c.topic: c.msgtype for c in reader.connections})
        except Exception as error:
            # Whatever the storage libraries raise on a damaged file is the file's fault.
            reason = ' '.join(str(error).split()) or type(error).__name__
            raise DataError(f'{path}: cannot be read as a bag ({reason})') from error

    def _regular(self, path: Path, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        count = 0
        try:
            with Reader(path) as reader:
                wanted = [c for c in reader.connections if c.topic in topics]
                if not wanted:
                    return
                for connection, received, data in reader.messages(wanted):
                    count += 1
                    yield connection.topic, received, data
        except Exception as error:
            # Each storage and compression library has errors of its own for damaged data.
            self._stopped(path, count, error)

    def _stopped(self, path: Path, count: int, error: Exception) -> None:
        reason = ' '.join(str(error).split())
        if count == 0:
            raise DataError(f'{path}: damaged, no message can be read ({reason})') from error
        self.notes.append(f'{path}: damaged ({reason}), {count} messages were read before that')

    def _recovered(self, path: Path, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        for topic, received, data in McapScan(path).messages():
            if topic.name in topics:
                yield topic.name, received, data


def _storage_files(path: Path) -> Iterator[Path]:
    return (file for file in sorted(path.iterdir()) if file.suffix in SUFFIXES)
