"""The code keeps to the table of rooms in doc/architecture.md."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / 'robot_id'
ROOMS = sorted(p.name for p in PACKAGE.iterdir() if (p / '__init__.py').is_file())
DOORS = {'cli', 'nodes'}
# The others depend on each other as the table says; these two must stay at the bottom.
LOWEST = {'model': set(), 'data': {'model'}}


def imported(room):
    """Return the other rooms that a room imports, wherever the import stands."""
    found = set()
    for file in (PACKAGE / room).rglob('*.py'):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                parts = node.module.split('.')
                if parts[0] == 'robot_id':
                    found |= {parts[1]} if parts[1:] else {alias.name for alias in node.names}
            elif isinstance(node, ast.Import):
                names = [alias.name.split('.') for alias in node.names]
                found |= {n[1] for n in names if n[0] == 'robot_id' and n[1:]}
    return (found & set(ROOMS)) - {room}


@pytest.mark.parametrize('room', [r for r in ROOMS if r not in DOORS])
def test_no_room_imports_a_door(room):
    assert not imported(room) & DOORS
    assert room == 'report' or 'report' not in imported(room)


@pytest.mark.parametrize('room', LOWEST)
def test_the_lowest_rooms_stand_alone(room):
    assert imported(room) <= LOWEST[room]


def test_every_room_is_drawn_and_listed():
    text = (ROOT / 'doc' / 'architecture.md').read_text()
    drawing = text.partition('```mermaid')[2].partition('```')[0]
    table = text.partition('| room |')[2].partition('\n\n')[0]
    for room in ROOMS:
        assert room in drawing, room
        assert f'`{room}`' in table, room
