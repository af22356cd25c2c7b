"""A rosbag2 recording in progress: a directory that can be opened at any time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from robot_id.data.io.bags.mcap_writer import Channel, McapWriter

VERSION = 9
# Key under `custom_data` of the metadata for a closed recording.
STATE, OPEN, CLOSED = 'robot_id_recording', 'open', 'closed'


class GrowingBag:
    """
    Serialised messages of some topics on their way to disk.

    After each `write` the mcap file can be read and metadata.yaml agrees with it, in the layout
    that rosbag2 of ROS 2 Jazzy writes.

    :param path: directory to create; its parent must exist.
    :param channels: the topics, see `bag_types.channel`.
    """

    def __init__(self, path: Path, channels: Sequence[Channel]) -> None:
        self.path = path
        self.channels = tuple(channels)
        path.mkdir()
        self._file_name = f'{path.name}_0.mcap'
        try:
            self._writer = McapWriter(path / self._file_name, channels)
            self._describe(OPEN)
        except OSError:
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
            raise

    @property
    def counts(self) -> list[int]:
        """Messages on disk, per topic."""
        return self._writer.counts

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self._writer.size

    def write(self, messages: Sequence[tuple[int, int, bytes]]) -> None:
        """
        Write messages to disk.

        :param messages: number of the topic, receive time [ns] and serialised message of each.
        :raises OSError: if the disk refuses them; what was written before stays.
        """
        if messages:
            self._writer.write(messages)
            self._describe(OPEN)

    def close(self, remarks: Mapping[str, object] | None = None) -> None:
        """
        End the recording.

        :param remarks: kept in the metadata as text.
        """
        try:
            self._describe(CLOSED, remarks)
        finally:
            self._writer.close()

    def _describe(self, state: str, remarks: Mapping[str, object] | None = None) -> None:
        """Write metadata.yaml: the new one takes the place of the old one in one step."""
        first, last = self._writer.span
        start = {'nanoseconds_since_epoch': first}
        duration = {'nanoseconds': last - first}
        total = sum(self._writer.counts)
        information: dict[str, Any] = {
            'version': VERSION,
            'storage_identifier': 'mcap',
            'duration': duration,
            'starting_time': start,
            'message_count': total,
            'topics_with_message_count': [
                {
                    'topic_metadata': {
                        'name': each.topic,
                        'type': each.type,
                        'serialization_format': 'cdr',
                        'offered_qos_profiles': [],
                        'type_description_hash': each.type_hash,
                    },
                    'message_count': count,
                }
                for each, count in zip(self.channels, self._writer.counts)
            ],
            'compression_format': '',
            'compression_mode': '',
            'relative_file_paths': [self._file_name],
            'files': [
                {
                    'path': self._file_name,
                    'starting_time': dict(start),
                    'duration': dict(duration),
                    'message_count': total,
                }
            ],
            'custom_data': {STATE: state, **{k: str(v) for k, v in (remarks or {}).items()}},
            'ros_distro': os.environ.get('ROS_DISTRO', 'jazzy'),
        }
        text = yaml.safe_dump({'rosbag2_bagfile_information': information}, sort_keys=False)
        draft = self.path / 'metadata.yaml.tmp'
        draft.write_text(text)
        draft.replace(self.path / 'metadata.yaml')
