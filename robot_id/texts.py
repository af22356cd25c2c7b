"""
Texts from files: bounded, of printable characters, so that they stay within one line.

And texts in files of other languages: one function a language, used wherever one is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

# Of a name (robot, joint, parameter, method), and of a line (warning, reason, note).
LONGEST_NAME, LONGEST_LINE = 300, 20_000


# How a pose and a load are written on the command line, lengths in m, angles in rad, mass in kg.
POSE_FORM, LOAD_FORM = 'x,y,z,roll,pitch,yaw', 'mass,x,y,z[,xx,xy,xz,yy,yz,zz]'


# From recordings to a load, see `tasks.payload.strategies`.
STRATEGIES = {
    'subtract': 'the same motion twice, torques subtracted',
    'known_arm': 'identified arm model, loaded recording',
    'joint': 'both recordings together, arm parameters shared',
}


def is_line(text: str, longest: int = LONGEST_LINE) -> bool:
    """Whether a text is one line without control characters, of limited length."""
    return len(text) <= longest and text.isprintable()


# What pydantic calls the kinds of values that a file can have.
_KINDS = {'dict': 'a table of keys', 'model': 'a table of keys', 'list': 'a list'}


def problem_of(error: Mapping[str, Any]) -> tuple[str, str]:
    """
    Return the key of a problem that pydantic found in a file, and what is wrong in words.

    :param error: one of `ValidationError.errors()`.
    """
    # Among several allowed forms pydantic names the one it tried, as list[int].
    place = [str(part) for part in error['loc'] if not re.search(r'[\[(]', str(part))]
    kind = _KINDS.get(str(error['type']).removesuffix('_type').removesuffix('_attributes'))
    if kind is not None:
        return '.'.join(place), f'must be {kind}'
    message = str(error['msg']).removeprefix('Value error, ')
    return '.'.join(place), message.replace('Input should be', 'must be', 1)


def one_line(text: object) -> str:
    """Return a text in one line; a `?` stands for each other character that is not printable."""
    line = re.sub(r'\s*[\n\r\t\v\f]+\s*', ' ', str(text)).strip()
    return ''.join(sign if sign.isprintable() else '?' for sign in line)


def comment(text: object) -> str:
    """Return a text for a comment of one line, in YAML, CMake and the like."""
    return one_line(text)


def c_comment(text: object) -> str:
    """Return a text for a comment of C, which it cannot end, nor continue on the next line."""
    return one_line(text).replace('*/', '* /').replace('/*', '/ *').replace('\\', '/')


def markdown(text: object) -> str:
    """
    Return a text for a Markdown page: its marks are characters, in a table too.

    An underscore inside a word is no mark.
    """
    return re.sub(r'([\\`*\[\]<>|&])', r'\\\1', one_line(text))


def xml_attribute(text: object) -> str:
    """Return a text as a quoted attribute of XML (URDF, SDF, MJCF)."""
    return quoteattr(one_line(text))


def xml_text(text: object) -> str:
    """Return a text between two tags of XML."""
    return escape(one_line(text))


def csv_cell(text: object) -> str:
    """
    Return a text for a cell of a csv, to be quoted by the writer of the file.

    Spreadsheets take a text that begins with =, +, - or @ for a formula: it gets an apostrophe.
    """
    line = one_line(text)
    return f"'{line}" if line[:1] in ('=', '+', '-', '@') else line
