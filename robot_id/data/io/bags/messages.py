"""The raw messages of a rosbag2 recording: a directory, an .mcap or a .db3 file, whole or cut."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from robot_id.data.io.bags.mcap_records import Damage
from robot_id.data.io.bags.mcap_scan import CUT, MAGIC, McapScan, summary
from robot_id.data.io.bags.storage import open_storage, read_metadata
from robot_id.exceptions import DataError
from robot_id.extras import MissingExtra

SUFFIXES = ('.mcap', '.db3')
_LATEST_NS = 1 << 63


def is_bag(path: Path) -> bool:
    """Return whether a path looks like a rosbag2 recording."""
    if os.path.isdir(path):
        return os.path.isfile(path / 'metadata.yaml') or bool(_storage_files(path))
    return path.suffix in SUFFIXES


class BagMessages:
    """
    Messages of a recording, with notes on repairs.

    :param path: directory or storage file.
    :ivar topics: type by name.
    :ivar counts: messages that the recording says it has, by topic.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: list[str] = []
        self.topics: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self._parts = self._open()

    def messages(self, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        """Yield topic, receive time in ns and the serialised message, of these topics only."""
        found = dict.fromkeys(topics, 0)
        for path in self._parts:
            read = self._scan if path.suffix == '.mcap' else self._read
            for item in read(path, topics):
                found[item[0]] += 1
                yield item
        for topic, count in found.items():
            missing = self.counts.get(topic, 0) - count
            if missing > 0:
                there = self.counts[topic]
                self.notes.append(
                    f'{self.path}: {missing} of {there} messages of {topic} are missing'
                )

    def _open(self) -> list[Path]:
        """Find the topics and return the files (or the directory) to read one after the other."""
        if not os.path.isdir(self.path):
            self._inspect(self.path)
            return [self.path]
        files, expected = _storage_files(self.path), {}
        try:
            about = read_metadata(self.path)
        except DataError as error:
            self.notes.append(f'{error}; its storage files are read one by one')
        else:
            if not about.ended:
                self.notes.append(
                    f'{self.path}: the recording was not closed, its last second may be missing'
                )
            files, expected = [self.path / name for name in about.files], about.counts
            if about.compressed or any(file.suffix != '.mcap' for file in files):
                self._list_topics(self.path)
                return [self.path]
        if not files:
            raise DataError(f'{self.path}: a bag directory without .mcap or .db3 files')
        for file in files:
            if not self._inspect(file):
                self.notes.append(f'{file}: its end is damaged; the files are read one by one')
        # The metadata still know the number of messages when a file was cut.
        self.counts |= expected
        return files

    def _inspect(self, file: Path) -> bool:
        """Find the topics of a storage file; False when it has no summary and was gone through."""
        if not os.path.isfile(file):
            raise DataError(f'{file}: no such file')
        if file.stat().st_size == 0:
            raise DataError(f'{file}: the file is empty')
        if file.suffix != '.mcap':
            self._list_topics(file)
            return True
        with file.open('rb') as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                raise DataError(f'{file}: not an mcap file')
        try:
            topics, counts = summary(file)
        except Damage:
            topics, counts = {}, {}
        ended = bool(topics)
        if not ended:
            scan = McapScan(file)
            for _ in scan.messages(set()):
                pass
            topics = scan.topics
            if not topics:
                raise DataError(
                    f'{file}: cut off or damaged before the first message ({scan.damage})',
                    code='damaged',
                )
        for number, topic in topics.items():
            self.topics[topic.name] = topic.type
            count = self.counts.get(topic.name, 0) + counts.get(number, 0)
            self.counts[topic.name] = count
        return ended

    def _list_topics(self, path: Path) -> None:
        """Note the topics that the storage library finds."""
        try:
            with closing(open_storage(path)) as storage:
                if not all(isinstance(name, str) for name in storage.topics):
                    raise TypeError('the name of a topic is not text')
                self.topics |= storage.topics
                for topic, count in storage.counts.items():
                    self.counts[topic] = self.counts.get(topic, 0) + count
        except MissingExtra:
            raise
        except Exception as error:
            # Storage libraries raise any exception on a damaged file.
            reason = ' '.join(str(error).split()) or type(error).__name__
            raise DataError(
                f'{path}: cannot be read as a bag ({reason})', code='unreadable'
            ) from error

    def _scan(self, path: Path, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        scan = McapScan(path)
        count = 0
        try:
            for item in scan.messages(topics):
                count += 1
                yield item
        except MissingExtra:
            # Chunks are compressed and the library is not installed: ROS 2 may read them.
            if count:
                raise
            yield from self._read(path, topics)
            return
        if not scan.complete:
            share = 100.0 * (1.0 - scan.reached / max(scan.length, 1))
            where = '' if scan.damage == CUT else f', byte {scan.reached} of {scan.length}'
            unread = '' if scan.damage == CUT else f'; {share:.0f} % of the file is not read'
            self._stopped(path, count, f'cut or damaged ({scan.damage}{where})', unread)

    def _read(self, path: Path, topics: set[str]) -> Iterator[tuple[str, int, bytes]]:
        count = empty = 0
        try:
            with closing(open_storage(path)) as storage:
                for topic, received, data in storage.messages(topics):
                    # rosbags gives None where there is no data, rosbag2_py empty bytes.
                    is_message = isinstance(data, (bytes, memoryview)) and len(data) > 0
                    if not is_message or not 0 <= received < _LATEST_NS:
                        empty += 1
                        continue
                    count += 1
                    yield topic, received, bytes(data)
        except MissingExtra:
            raise
        except Exception as error:
            # Each storage and compression library has errors of its own for damaged data.
            self._stopped(path, count, ' '.join(str(error).split()) or type(error).__name__)
        if empty:
            self.notes.append(f'{path}: {empty} message(s) without data or time are left out')

    def _stopped(self, path: Path, count: int, reason: str, more: str = '') -> None:
        if count == 0:
            raise DataError(f'{path}: no message can be read ({reason})', code='damaged')
        self.notes.append(f'{path}: {reason}; {count} messages were recovered{more}')


def _storage_files(path: Path) -> list[Path]:
    """Return the storage files of a directory in the order of their numbers."""

    def numbers(file: Path) -> tuple[list[int], str]:
        return [int(digits) for digits in re.findall(r'\d{1,18}', file.stem)], file.name

    return sorted((file for file in path.iterdir() if file.suffix in SUFFIXES), key=numbers)
