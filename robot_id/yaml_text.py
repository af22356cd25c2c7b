"""
YAML from any source: plain tables of texts, numbers, lists and tables, within bounds.

A key is a text and appears once; dates stay texts; content that expands beyond the bounds (deep
nesting, aliases of aliases) is refused before it is built.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from robot_id.exceptions import shorten

# Files that people write are far below the first, tables that we write below the second.
LARGEST_FILE, LARGEST_TABLE = 1 << 20, 32 << 20
DEEPEST = 50


class YamlError(Exception):
    """A text that is not YAML or exceeds the bounds; the message is for the user."""


class _Plain(yaml.SafeLoader):
    """Without dates: they stay texts, possible or not."""


_Plain.yaml_implicit_resolvers = {
    first: [rule for rule in rules if rule[0] != 'tag:yaml.org,2002:timestamp']
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# 1e-9 is a number, as people and YAML 1.2 have it, though YAML 1.1 wants 1.0e-9.
_Plain.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'^[-+]?\d+(\.\d*)?[eE][-+]?\d+$'), list('-+0123456789')
)


def read_yaml(path: Path, largest: int = LARGEST_FILE) -> Any:
    """
    Return the content of a YAML file.

    :param largest: bytes that it may have.
    :raises OSError: when it cannot be read.
    """
    with path.open('rb') as file:
        raw = file.read(largest + 1)
    if len(raw) > largest:
        raise YamlError(f'more than {largest >> 20} MB, too large for a file of this kind')
    try:
        return parse_yaml(raw.decode('utf-8'))
    except UnicodeDecodeError as error:
        raise YamlError(f'not YAML, it holds other bytes ({error})') from error


def parse_yaml(text: str) -> Any:
    """Return the content of a YAML text."""
    _check_brackets(text)
    try:
        loader = _Plain(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _check(node, len(text))
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except RecursionError:
        raise YamlError('not YAML that can be read: nested too deeply') from None
    except (yaml.YAMLError, ValueError, OverflowError, TypeError, AttributeError) as error:
        raise YamlError(f'not YAML ({" ".join(str(error).split())})') from error


def _check_brackets(text: str) -> None:
    """Refuse thousands of nested brackets at once: the parser is slow on them."""
    depth = 0
    for found in re.finditer(r'[\[{\]}]', text):
        depth += 1 if found[0] in '[{' else -1
        if depth > 4 * DEEPEST:
            raise YamlError('not YAML that can be read: nested too deeply')


def _check(root: yaml.Node, most: int) -> None:
    """
    Refuse keys that are not texts or appear twice, and trees that are deep, large or endless.

    :param most: entries, with every alias expanded: more than the text has characters is an
        attack.
    """
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()

    def size(node: yaml.Node, depth: int) -> int:
        if isinstance(node, yaml.ScalarNode):
            return 1
        if id(node) in open_nodes:
            raise YamlError(f'line {node.start_mark.line + 1}: refers to itself')
        if depth > DEEPEST:
            raise YamlError(f'line {node.start_mark.line + 1}: nested too deeply')
        if id(node) not in sizes:
            open_nodes.add(id(node))
            children = node.value
            if isinstance(node, yaml.MappingNode):
                _check_keys(node)
                children = [value for _, value in node.value]
            sizes[id(node)] = 1 + sum(size(child, depth + 1) for child in children)
            open_nodes.discard(id(node))
        if sizes[id(node)] > most:
            raise YamlError(f'line {node.start_mark.line + 1}: aliases expand to too much data')
        return sizes[id(node)]

    size(root, 0)


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if key.tag == 'tag:yaml.org,2002:merge':
            continue
        if key.tag != 'tag:yaml.org,2002:str':
            shown = shorten(key.value) if isinstance(key, yaml.ScalarNode) else 'a list or table'
            raise YamlError(f'line {line}: the key {shown} is not a text, write it in quotes')
        if key.value in seen:
            raise YamlError(f"key '{shorten(key.value)}' appears twice, again in line {line}")
        seen.add(key.value)
