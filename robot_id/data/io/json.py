"""JSON files: lists of numbers by name, a list of samples, or a sample in each line."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from robot_id import budget
from robot_id.data.io.matlab import flatten


def read_json(path: Path) -> dict[str, Any]:
    """
    Return the lists of a file by name, parts of objects as `a.b`.

    :param path: `{"t": [...], "q": [[...], ...]}`, a list of entries in such an object, whose
        columns are called `entries.t`, or samples `[{"t": 0.0, "q": [...]}, ...]`,
        which become a list for each name that all of them have. In a .jsonl each line is a sample.
    """
    length = path.stat().st_size
    budget.check_memory(length, length, f'{path}:')
    text = path.read_text(encoding='utf-8-sig')
    try:
        content = _of_lines(text) if path.suffix.lower() == '.jsonl' else json.loads(text)
    except RecursionError as error:
        raise ValueError('nested too deeply') from error
    if _is_samples(content):
        return _columns(content)
    if not isinstance(content, dict):
        raise ValueError('an object of lists, or a list of objects, is needed')
    return _with_lists(content)


def _of_lines(text: str) -> list[Any]:
    """Return what each line holds; a last one that a logger did not end is left out."""
    ended = text[: text.rfind('\n') + 1]
    lines = [line for line in ended.split('\n') if line.strip()]
    samples = [json.loads(line) for line in lines]
    with contextlib.suppress(ValueError):
        samples.append(json.loads(text[len(ended) :]))
    return samples


def _is_samples(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and all(isinstance(sample, dict) for sample in content)
    )


def _columns(content: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a list for each name that all samples have."""
    samples = [flatten(sample) for sample in content]
    names = [name for name in samples[0] if all(name in sample for sample in samples)]
    return {name: [sample[name] for sample in samples] for name in names}


def _with_lists(content: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of an object as `a.b`; a list of samples has its columns as `list.b`."""
    lists = {name: value for name, value in content.items() if _is_samples(value)}
    found = dict(flatten({name: v for name, v in content.items() if name not in lists}))
    for name, value in lists.items():
        found |= {f'{name}.{column}': values for column, values in _columns(value).items()}
    return found
