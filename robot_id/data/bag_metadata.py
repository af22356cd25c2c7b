"""metadata.yaml of a rosbag2 directory: the list of its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from robot_id.data.growing_bag import OPEN, STATE
from robot_id.exceptions import DataError
from robot_id.yaml_text import YamlError, read_yaml


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
