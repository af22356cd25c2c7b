"""Whether a block of `yaml` loads as the file it is: a robot file, a mapping or a campaign."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from robot_id.data import load_mapping
from robot_id.data.mapping import Mapping
from robot_id.robot import load_robot
from robot_id.robot.files.description import RobotDescription
from robot_id.studies.campaign import entries
from robot_id.studies.campaign.grid import SETTINGS, read_campaign
from tools.manual.blocks import ROOT, blocks_of

ARM = ROOT / 'doc' / 'tutorials' / 'your_own_arm.md'
JOINT = """\
  <link name="{name}_link"/>
  <joint name="{name}" type="revolute">
    <parent link="{parent}"/> <child link="{name}_link"/>
    <origin xyz="0 0 0.3"/> <axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="60"/>
  </joint>
"""


def load(text: str, folder: Path) -> str:
    """
    Load a block as the kind of file whose keys it has.

    :param folder: an empty one; what the block refers to is put there.
    :return: the kind.
    :raises RobotIdError: what the reader of that kind says.
    """
    content = yaml.safe_load(text)
    if not isinstance(content, dict):
        raise ValueError('a block of yaml is a table of keys')
    for kind, (keys, read) in KINDS.items():
        if set(content) <= set(keys):
            path = folder / 'block.yaml'
            path.write_text(text)
            read(path, content)
            return kind
    nearest = max(KINDS, key=lambda kind: len(set(content) & set(KINDS[kind][0])))
    raise ValueError(f'a {nearest} has no {sorted(set(content) - set(KINDS[nearest][0]))}')


def _robot(path: Path, content: dict[str, Any]) -> None:
    """Load a robot file, or a part of one, on a URDF with the joints that it names."""
    named = [str(joint['name']) for joint in content.get('joints', ())]
    linked = content.get('bounds', {}).get('links', {})
    names = dict.fromkeys([*named, *linked, *content.get('locked', {}), *['tip'][: not named]])
    urdf = content.get('urdf', 'arm.urdf')
    (path.parent / urdf).write_text(_chain(names))
    if 'name' not in content:
        path.write_text(f'name: arm\nurdf: {urdf}\n{path.read_text()}')
    load_robot(path)


def _chain(names: Iterable[str]) -> str:
    parts, parent = ['<robot name="arm">\n  <link name="base"/>\n'], 'base'
    for name in names:
        parts.append(JOINT.format(name=name, parent=parent))
        parent = f'{name}_link'
    return ''.join([*parts, '</robot>\n'])


def _mapping(path: Path, _: dict[str, Any]) -> None:
    load_mapping(path)


def _campaign(path: Path, _: dict[str, Any]) -> None:
    """Load a campaign beside the arm of the tutorial."""
    for block in blocks_of(ARM):
        if block.what == 'file':
            (path.parent / block.detail).write_text(block.text)
    read_campaign(path)


Reader = Callable[[Path, dict[str, Any]], None]
KINDS: dict[str, tuple[Iterable[str], Reader]] = {
    'robot file': (RobotDescription.model_fields, _robot),
    'mapping': (Mapping.model_fields, _mapping),
    'campaign': ((*SETTINGS, *entries.AXES), _campaign),
}
