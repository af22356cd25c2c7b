"""
Arms of example-robot-data: a chain of a URDF becomes a robot of its own, mounted anywhere.

`mujoco_recordings` moves them on MuJoCo, an engine that is not ours.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

Array = NDArray[np.float64]

# name: (URDF, first joint, last joint)
ARMS: dict[str, tuple[str, str, str]] = {
    'panda': ('panda_description/urdf/panda.urdf', 'panda_joint1', 'panda_joint7'),
    'so100': ('so_arm_description/urdf/so100.urdf', 'shoulder_pan', 'wrist_roll'),
    'so101': ('so_arm_description/urdf/so101.urdf', 'shoulder_pan', 'wrist_roll'),
    'z1': ('z1_description/urdf/z1.urdf', 'joint1', 'joint6'),
    'b1-z1': ('b1_description/urdf/b1-z1.urdf', 'joint1', 'joint6'),
    'kinova': (
        'kinova_description/robots/kinova.urdf',
        'j2s6s200_joint_1',
        'j2s6s200_joint_6',
    ),
    'xarm7': ('xarm_description/urdf/xarm7.urdf', 'joint1', 'joint7'),
    'ur3': ('ur_description/urdf/ur3_robot.urdf', 'shoulder_pan_joint', 'wrist_3_joint'),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', 'shoulder_pan_joint', 'wrist_3_joint'),
    'ur10': ('ur_description/urdf/ur10_robot.urdf', 'shoulder_pan_joint', 'wrist_3_joint'),
    'ur5_gripper': ('ur_description/urdf/ur5_gripper.urdf', 'shoulder_pan_joint', 'wrist_3_joint'),
    'baxter': ('baxter_description/urdf/baxter.urdf', 'left_s0', 'left_w2'),
    'baxter_right': ('baxter_description/urdf/baxter.urdf', 'right_s0', 'right_w2'),
    'centauro': ('centauro_description/urdf/centauro.urdf', 'j_arm1_1', 'j_arm1_6'),
    'pr2': ('pr2_description/urdf/pr2.urdf', 'r_shoulder_pan_joint', 'r_wrist_roll_joint'),
    'tiago': ('tiago_description/robots/tiago_no_hand.urdf', 'arm_1_joint', 'arm_7_joint'),
    'tiago_lift': (
        'tiago_description/robots/tiago_no_hand.urdf',
        'torso_lift_joint',
        'arm_4_joint',
    ),
    'tiago_pro': (
        'tiago_pro_description/robots/tiago_pro.urdf',
        'arm_left_1_joint',
        'arm_left_7_joint',
    ),
    'talos_left': (
        'talos_data/robots/talos_left_arm.urdf',
        'arm_left_2_joint',
        'arm_left_7_joint',
    ),
    'talos': ('talos_data/robots/talos_reduced.urdf', 'arm_right_1_joint', 'arm_right_7_joint'),
    'romeo': ('romeo_description/urdf/romeo_small.urdf', 'LShoulderPitch', 'LWristPitch'),
    'icub': ('icub_description/robots/icub.urdf', 'l_shoulder_pitch', 'l_wrist_yaw'),
    'g1': (
        'g1_description/urdf/g1_29dof_rev_1_0.urdf',
        'left_shoulder_pitch_joint',
        'left_wrist_yaw_joint',
    ),
    'humanoid': (
        'simple_humanoid_description/urdf/simple_humanoid.urdf',
        'LARM_SHOULDER_P',
        'LARM_WRIST_R',
    ),
    'alex': ('alex_description/urdf/alex_nub_hands.urdf', 'LeftShoulderPitch', 'LeftGripperYaw'),
    'hextilt': (
        'hextilt_description/urdf/hextilt_flying_arm_5.urdf',
        'flying_arm_5__j_base_link_link_1',
        'flying_arm_5__j_link_4_link_5',
    ),
    'a1': ('a1_description/urdf/a1.urdf', 'FR_hip_joint', 'FR_calf_joint'),
    'solo12': ('solo_description/robots/solo12.urdf', 'FL_HAA', 'FL_KFE'),
    'anymal': ('anymal_b_simple_description/robots/anymal.urdf', 'LF_HAA', 'LF_KFE'),
    'two_dofs': ('asr_twodof_description/urdf/TwoDofs.urdf', 'J1', 'J2'),
    'human': ('human_description/robots/human.urdf', 'left_shoulder_Z', 'left_wrist_X'),
}
MOVING = ('revolute', 'continuous', 'prismatic')


def robots_folder() -> Path | None:
    """Return where example-robot-data keeps its robots, None where it is not installed."""
    for entry in sys.path:
        folder = Path(entry) / 'cmeel.prefix/share/example-robot-data/robots'
        if folder.is_dir():
            return folder
    return None


@dataclass(frozen=True)
class Arm:
    """
    One arm as written to a folder.

    :param urdf: the chain alone.
    :param robot_file: robot file with the gravity of the mount.
    :param gravity: (3,) in the base frame.
    """

    name: str
    urdf: Path
    robot_file: Path
    gravity: Array


def chain_urdf(name: str, out: Path) -> Path:
    """Write the URDF of a chain: other joints fixed, no shapes, no links before the base."""
    folder = robots_folder()
    assert folder is not None
    file, first, _ = ARMS[name]
    root = ElementTree.parse(folder / file).getroot()
    by_name = {joint.get('name'): joint for joint in root.findall('joint')}
    chain = chain_joints(name, root)
    base = by_name[first].find('parent').get('link')
    keep = {base} if by_name[first] is not None else set()
    keep |= below(by_name[first].find('child').get('link'), root)
    new = ElementTree.Element('robot', {'name': name})
    for link in root.findall('link'):
        if link.get('name') not in keep:
            continue
        copy = ElementTree.SubElement(new, 'link', {'name': link.get('name')})
        inertial = link.find('inertial')
        if inertial is not None and link.get('name') != base:
            copy.append(inertial)
    for joint in root.findall('joint'):
        if joint.find('child').get('link') not in keep or joint.find('child').get('link') == base:
            continue
        if joint.find('parent').get('link') not in keep:
            continue
        if joint.get('name') not in chain:
            joint.set('type', 'fixed')
        for tag in ('mimic', 'dynamics', 'safety_controller', 'calibration'):
            for each in joint.findall(tag):
                joint.remove(each)
        new.append(joint)
    out.write_bytes(ElementTree.tostring(new))
    return out


def chain_joints(name: str, root: ElementTree.Element) -> list[str]:
    """Return the joints of a chain, fixed ones too, from its first to its last."""
    _, first, last = ARMS[name]
    joints = root.findall('joint')
    by_child = {joint.find('child').get('link'): joint for joint in joints}
    joint = next(each for each in joints if each.get('name') == last)
    chain = [last]
    while chain[-1] != first:
        joint = by_child[joint.find('parent').get('link')]
        chain.append(joint.get('name'))
    return chain[::-1]


def make_stock_arm(name: str, folder: Path) -> Arm:
    """
    Write the robot file of an arm on its stock URDF with its shapes, all other joints locked.

    `urdf` of the result is the same robot without shapes and with those joints fixed, for MuJoCo.
    """
    place = robots_folder()
    assert place is not None
    stock = place / ARMS[name][0]
    root = ElementTree.parse(stock).getroot()
    chain = chain_joints(name, root)
    moving = [j.get('name') for j in root.findall('joint') if j.get('type') in MOVING]
    joints = [joint for joint in chain if joint in moving]
    by_name = {joint.get('name'): joint for joint in root.findall('joint')}
    moved = below(by_name[chain[0]].find('child').get('link'), root)
    for link in root.findall('link'):
        still = link.get('name') not in moved
        for tag in ('visual', 'collision', *(('inertial',) if still else ())):
            for each in link.findall(tag):
                link.remove(each)
    for joint in root.findall('joint'):
        if joint.get('name') not in chain:
            joint.set('type', 'fixed')
        for tag in ('mimic', 'dynamics', 'safety_controller', 'calibration'):
            for each in joint.findall(tag):
                joint.remove(each)
    for tag in ('transmission', 'gazebo', 'material', 'mujoco'):
        for each in root.findall(tag):
            root.remove(each)
    bare = folder / f'{name}.urdf'
    bare.write_bytes(ElementTree.tostring(root))
    content = {
        'name': name,
        'urdf': str(stock),
        'joints': [{'name': joint} for joint in joints],
        'locked': 'others',
    }
    robot_file = folder / f'{name}.yaml'
    robot_file.write_text(yaml.safe_dump(content))
    return Arm(name, bare, robot_file, np.array([0.0, 0.0, -9.81]))


def below(link: str, root: ElementTree.Element) -> set[str]:
    """Return a link and all that hangs on it."""
    found, grown = {link}, True
    while grown:
        grown = False
        for joint in root.findall('joint'):
            child = joint.find('child').get('link')
            if joint.find('parent').get('link') in found and child not in found:
                found.add(child)
                grown = True
    return found


def make_arm(name: str, folder: Path, rng: np.random.Generator | None = None) -> Arm:
    """Write the files of an arm; with a generator it is mounted on a floor, wall, ceiling ..."""
    urdf = chain_urdf(name, folder / f'{name}.urdf')
    gravity = np.array([0.0, 0.0, -9.81]) if rng is None else random_mount(rng)
    return Arm(name, urdf, write_robot(folder / f'{name}.yaml', urdf, gravity), gravity)


def write_robot(path: Path, urdf: Path, gravity: Array) -> Path:
    """Write a robot file of a URDF and a mount."""
    content = {'name': path.stem, 'urdf': str(urdf), 'gravity': [float(g) for g in gravity]}
    path.write_text(yaml.safe_dump(content))
    return path


def random_mount(rng: np.random.Generator) -> Array:
    """(3,) gravity in the base frame: floor, ceiling, one of four walls, or any direction."""
    axes = np.array([[0, 0, -1], [0, 0, 1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], float)
    kind = rng.integers(3)
    if kind == 0:
        return 9.81 * axes[0]
    if kind == 1:
        return 9.81 * axes[rng.integers(1, 6)]
    g = rng.normal(size=3)
    return 9.81 * g / np.linalg.norm(g)
