"""
Changing attributes of an XML text in place: the rest stays the same, byte for byte.

The parser says where each element starts and ends; the text between is never rewritten.
"""

from __future__ import annotations

import re
import xml.parsers.expat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass
class Element:
    """
    One element and where it stands, in bytes.

    :param start: of '<', and tag_end behind the '>' of its first tag.
    :param inner_end: of '</', and end behind the element; both tag_end when it closes itself.
    """

    tag: str
    attributes: dict[str, str]
    start: int
    tag_end: int = 0
    inner_end: int = 0
    end: int = 0
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        """Yield the children of a tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """Return the first child of a tag."""
        return next(self.all(tag), None)


def parse(content: bytes) -> Element:
    """Return the root element of a text."""
    parser = xml.parsers.expat.ParserCreate()
    stack: list[Element] = []
    roots: list[Element] = []

    def started(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, dict(attributes), parser.CurrentByteIndex)
        element.tag_end = _tag_end(content, element.start)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def ended(tag: str) -> None:
        element = stack.pop()
        closes_itself = content[element.tag_end - 2 : element.tag_end] == b'/>'
        element.inner_end = element.tag_end if closes_itself else parser.CurrentByteIndex
        element.end = (
            element.tag_end if closes_itself else content.index(b'>', element.inner_end) + 1
        )

    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    parser.Parse(content, True)
    return roots[0]


def _tag_end(content: bytes, start: int) -> int:
    """Return the place behind the '>' of a tag; one inside quotes does not count."""
    quote = b''
    for place in range(start, len(content)):
        byte = content[place : place + 1]
        if quote:
            quote = b'' if byte == quote else quote
        elif byte in (b'"', b"'"):
            quote = byte
        elif byte == b'>':
            return place + 1
    return len(content)


class Edits:
    """
    Replacements in a text, made all at once.

    :param content: the text.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._edits: list[tuple[int, int, bytes]] = []
        self.newline = '\r\n' if b'\r\n' in content else '\n'

    def set_attributes(self, element: Element, values: Mapping[str, str]) -> None:
        """Change attributes of an element's first tag; missing ones are added at its end."""
        tag = self.content[element.start : element.tag_end]
        for name, value in values.items():
            pattern = rb'(?<=[\s"\'])' + name.encode() + rb'(\s*=\s*)("[^"]*"|\'[^\']*\')'
            found = re.search(pattern, tag)
            if found is not None:
                quote = found.group(2)[:1]
                first = element.start + found.start(2)
                new = quote + value.encode() + quote
                self._edits.append((first, element.start + found.end(2), new))
            else:
                closing = 2 if tag.endswith(b'/>') else 1
                place = element.tag_end - closing
                while self.content[place - 1 : place].isspace():
                    place -= 1
                self._edits.append((place, place, f' {name}="{value}"'.encode()))

    def remove(self, element: Element) -> None:
        """Remove an element, with the white space before it."""
        start = element.start
        while start and self.content[start - 1 : start] in (b' ', b'\t'):
            start -= 1
        if self.content[start - 1 : start] == b'\n':
            start -= 2 if self.content[start - 2 : start] == b'\r\n' else 1
        self._edits.append((start, element.end, b''))

    def append(self, parent: Element, lines: list[str]) -> None:
        """Write lines as the last ones inside an element, indented as its neighbours are."""
        indent = self._indent(parent.start)
        inner = self._indent(parent.children[0].start) if parent.children else indent + '  '
        text = ''.join(f'{self.newline}{inner}{line}' for line in lines)
        if parent.tag_end == parent.end:  # <link name="a"/>
            place = parent.tag_end - 2
            closing = f'>{text}{self.newline}{indent}</{parent.tag}>'
            self._edits.append((place, parent.tag_end, closing.encode()))
            return
        place = parent.inner_end
        while self.content[place - 1 : place].isspace():
            place -= 1
        gap = self.content[place : parent.inner_end].decode()
        if '\n' not in gap:  # all on one line
            text = ''.join(line.strip() for line in lines)
        self._edits.append((place, place, text.encode()))

    def _indent(self, place: int) -> str:
        start = self.content.rfind(b'\n', 0, place) + 1
        before = self.content[start:place].decode(errors='replace')
        return before if before.isspace() or not before else ''

    def text(self) -> bytes:
        """Return the changed text."""
        changed, place = [], 0
        for start, end, new in sorted(self._edits, key=lambda edit: edit[:2]):
            changed += [self.content[place:start], new]
            place = end
        return b''.join([*changed, self.content[place:]])
