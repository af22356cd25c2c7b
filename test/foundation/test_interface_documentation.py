"""The interface files say what each field is; numbers have a unit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / 'robot_id_msgs'
FILES = sorted(path for kind in ('msg', 'srv', 'action') for path in FOLDER.glob(f'{kind}/*'))
FIELD = re.compile(
    r'^(?P<type>[\w/]+)(\[\])? +(?P<name>\w+) *(=? *-?\d+)? *(# *(?P<comment>.*))?$'
)
UNIT = re.compile(r'\[[^\]]+\]|unit of|same unit|deviation|estimates|new value')


def fields(path: Path) -> list[re.Match]:
    """Return the fields with their comments, continued comment lines joined on."""
    text = re.sub(r'\n +# *', ' ', path.read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith(('#', '---'))]
    found = [FIELD.match(line) for line in lines]
    assert all(found), [line for line, match in zip(lines, found, strict=True) if not match]
    return found


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_file_begins_with_what_it_is_and_every_field_is_explained(path):
    assert path.read_text().startswith('# ')
    own = {file.stem for file in FILES}
    for field in fields(path):
        if field['type'] not in own and field['name'] != 'SUCCESS':
            assert field['comment'], f'{path.name}: {field["name"]} has no comment'
        if field['type'].startswith('float'):
            comment = field['comment']
            assert UNIT.search(comment) or 'share' in comment, (
                f'{path.name}: {field["name"]}: unit?'
            )
