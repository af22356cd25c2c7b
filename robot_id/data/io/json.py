"""JSON files: lists of numbers by name, or a list of samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from robot_id import budget
from robot_id.data.io.matlab import flatten


def read_json(path: Path) -> dict[str, Any]:
    """
    Return the lists of a file by name, parts of objects as `a.b`.

    :param path: `{"t": [...], "q": [[...], ...]}`, or samples `[{"t": 0.0, "q": [...]}, ...]`,
        which become a list for each name that all of them have.
    """
    length = path.stat().st_size
    budget.check_memory(length, length, f'{path}:')
    try:
        content = json.loads(path.read_text(encoding='utf-8-sig'))
    except RecursionError as error:
        raise ValueError('nested too deeply') from error
    if isinstance(content, list) and content and all(isinstance(x, dict) for x in content):
        samples = [flatten(sample) for sample in content]
        names = [name for name in samples[0] if all(name in sample for sample in samples)]
        return {name: [sample[name] for sample in samples] for name in names}
    if not isinstance(content, dict):
        raise ValueError('an object of lists, or a list of objects, is needed')
    return flatten(content)
