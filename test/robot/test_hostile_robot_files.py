"""Robot files and URDFs that would end in the stack or the memory of a parser."""

import itertools

import pytest

from robot_id.exceptions import DescriptionError
from robot_id.robot import load_robot


def refused(path, text):
    path.write_text(text)
    with pytest.raises(DescriptionError) as caught:
        load_robot(path)
    line = str(caught.value)
    assert '\n' not in line
    assert len(line) < 1300
    return line


def urdf(links, joints):
    tags = ''.join(f'<link name="{name}"/>' for name in links)
    for number, (parent, child) in enumerate(joints):
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        tags += f'<joint name="j{number}" type="fixed">{ends}</joint>'
    return f'<robot name="r">{tags}</robot>'


def test_nested_tags(tmp_path):
    text = '<robot name="r">' + '<a>' * 200_000 + '</a>' * 200_000 + '</robot>'
    assert 'nested' in refused(tmp_path / 'r.urdf', text)


@pytest.mark.parametrize('count', [3000, 20_000])
def test_long_chain_of_fixed_links(tmp_path, count):
    names = [f'l{k}' for k in range(count)]
    refused(tmp_path / 'r.urdf', urdf(names, list(itertools.pairwise(names))))


def test_links_in_a_loop_of_their_own(tmp_path):
    text = urdf('abc', [('b', 'c'), ('c', 'b')])
    assert 'loop' in refused(tmp_path / 'r.urdf', text)


@pytest.mark.parametrize(
    'tag',
    [
        '<inertial><mass value="1e200"/></inertial>',
        '<inertial><mass value="1"/><origin xyz="1e200 0 0"/></inertial>',
        '<inertial><mass value="1"/><inertia ixx="nan"/></inertial>',
    ],
)
def test_huge_numbers(tmp_path, tag):
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    text = f'<robot name="r"><link name="a"/><link name="b">{tag}</link>{joint}</robot>'
    assert "link 'b'" in refused(tmp_path / 'r.urdf', text)


@pytest.mark.parametrize(
    'line',
    [
        '7: 8',
        'null: 1',
        'gravity: 2024-02-31',
        'gravity: ' + '[' * 5000,
        'coulomb_slope: ' + '9' * 5000,
        'coulomb_slope: 1' + '0' * 400,
        'coulomb_slope: "' + '-' * 100_000 + '1"',
        'coulomb_slope: "' + '(' * 150 + '1' + ')' * 40 + '"',
        'coulomb_slope: 5.0e-324',
        'name: ' + 'x' * 100_000 + ': y',
    ],
)
def test_hostile_yaml(tmp_path, line):
    text = 'name: r\nurdf: r.urdf\n'
    if line.startswith('name'):
        text = ''
    refused(tmp_path / 'r.yaml', text + line + '\n')
