"""The raw messages of a rosbag2 recording: a directory, an .mcap or a .db3 file, whole or cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rosbags.rosbag2 import Reader

from robot_id.data.growing_bag import OPEN, STATE
from robot_id.data.mcap_scan import MAGIC, McapScan
from robot_id.exceptions import DataError

SUFFIXES = ('.mcap', '.db3')


def is_bag(path: Path) -> bool:
    """Return whether a path looks like a rosbag2 recording."""
    if path.is_dir():
        return (path / 'metadata.yaml').is_file() or bool(_storage_files(path))
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
        self.counts: dict[str, int] = {}
        self._parts = self._open()

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, receive time in ns and the serialised message, of these topics only."""
        for path in self._parts:
            if path.suffix == '.mcap':
                yield from self._scan(path, topics)
            else:
                yield from self._read(path, topics)

    def _open(self) -> list[Path]:
        """Find the topics and return the files (or the directory) to read one after the other."""
        if not self.path.is_dir():
            self._inspect(self.path)
            return [self.path]
        if (self.path / 'metadata.yaml').is_file():
            try:
                return self._list_topics(self.path)
            except DataError as error:
                self.notes.append(f'{error}; its storage files are read one by one')
        else:
            self.notes.append(f'{self.path}: no metadata.yaml, its storage files are read')
        files = _storage_files(self.path)
        if not files:
            raise DataError(f'{self.path}: a bag directory without .mcap or .db3 files')
        for file in files:
            self._inspect(file)
        return files

    def _inspect(self, file: Path) -> None:
        """Find the topics of a storage file, by going through it when its index is missing."""
        if not file.is_file():
            raise DataError(f'{file}: no such file')
        if file.stat().st_size == 0:
            raise DataError(f'{file}: the file is empty')
        try:
            self._list_topics(file)
        except DataError:
            if file.suffix != '.mcap':
                raise
            with file.open('rb') as stream:
                if stream.read(8) != MAGIC:
                    raise DataError(f'{file}: not an mcap file') from None
            scan = McapScan(file)
            for _ in scan.messages(set()):
                pass
            self.topics.update({topic.name: topic.type for topic in scan.topics.values()})
            if not scan.topics:
                raise DataError(f'{file}: cut off or damaged before the first message') from None

    def _list_topics(self, path: Path) -> list[Path]:
        """Note the topics; return the parts that can be scanned, or the path itself."""
        try:
            with Reader(path) as reader:
                for connection in reader.connections:
                    self.topics[connection.topic] = connection.msgtype
                    count = self.counts.get(connection.topic, 0)
                    self.counts[connection.topic] = count + connection.msgcount
                about = getattr(reader.storage, 'metadata', None)
                if about is not None and (about.custom or {}).get(STATE) == OPEN:
                    self.notes.append(
                        f'{path}: the recording was not ended, its last second may be missing'
                    )
                files = [storage.path for storage in getattr(reader.storage, 'storages', [])]
                plain = all(file.suffix == '.mcap' for file in files)
                return files if files and plain and not reader.compression_mode else [path]
        except Exception as error:
            # Whatever the storage libraries raise on a damaged file is the file's fault.
            reason = ' '.join(str(error).split()) or type(error).__name__
            raise DataError(f'{path}: cannot be read as a bag ({reason})') from error

    def _scan(self, path: Path, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        scan = McapScan(path)
        count = 0
        for item in scan.messages(topics):
            count += 1
            yield item
        if not scan.complete:
            self._stopped(path, count, 'the end is missing or a part is damaged')

    def _read(self, path: Path, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
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
            self._stopped(path, count, ' '.join(str(error).split()))

    def _stopped(self, path: Path, count: int, reason: str) -> None:
        if count == 0:
            raise DataError(f'{path}: no message can be read ({reason})')
        self.notes.append(f'{path}: {reason}; {count} messages were recovered')


def _storage_files(path: Path) -> list[Path]:
    """Return the storage files of a directory in the order of their numbers."""

    def numbers(file: Path) -> tuple[list[int], str]:
        return [int(digits) for digits in re.findall(r'\d+', file.stem)], file.name

    return sorted((file for file in path.iterdir() if file.suffix in SUFFIXES), key=numbers)
