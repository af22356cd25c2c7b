"""Every mistake in a robot file is one line that names the file, the place and the fix."""

import copy

import pytest
import yaml
from errors import refused

from robot_id.exceptions import DescriptionError
from robot_id.robot import load_robot
from robot_id.share import share_directory

GOOD = {
    'name': 'two',
    'mdh': [{}, {'d': 0.5}],
    'joints': [{'name': 'a'}, {'name': 'b'}],
    'loops': {'default': {'bandwidth': [1, 1], 'damping': [1, 1], 'rate_hz': 100}},
    'truth': {'M1': 1, 'M2': 1, 'ZZ1': 0.1, 'ZZ2': 0.1},
}
SCARA = str(share_directory() / 'urdf' / 'scara.urdf')


def message_of(tmp_path, text):
    path = tmp_path / 'robot.yaml'
    path.write_text(text)
    with pytest.raises(DescriptionError) as caught:
        load_robot(path)
    message = str(caught.value)
    assert '\n' not in message
    assert str(path) in message
    return message


def changed(changes):
    data = copy.deepcopy(GOOD)
    for place, value in changes.items():
        *parts, last = place.split('.')
        target = data
        for part in parts:
            target = target[int(part)] if isinstance(target, list) else target[part]
        target[int(last) if isinstance(target, list) else last] = value
    return {key: value for key, value in data.items() if value is not None}


def test_the_good_file_is_good(tmp_path):
    path = tmp_path / 'robot.yaml'
    path.write_text(yaml.safe_dump(GOOD))
    assert load_robot(path).n == 2


def test_the_joints_of_a_table_alone_need_no_names(tmp_path):
    path = tmp_path / 'robot.yaml'
    path.write_text(yaml.safe_dump({'name': 'x', 'mdh': GOOD['mdh']}))
    assert load_robot(path).joint_names == ('joint1', 'joint2')


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'graviti': [0, 0, 0]}, "unknown key 'graviti', did you mean 'gravity'?"),
        ({'name': None, 'nmae': 'x'}, "unknown key 'nmae', did you mean 'name'?"),
        ({'joints.1.limts': {}}, "unknown key 'joints.1.limts', did you mean 'limits'?"),
        ({'joints.0.limits': {'speed': 1}}, "key 'joints.0.limits.speed', known: position"),
        ({'loops.default.dampin': [1, 1]}, "'loops.default.dampin', did you mean 'damping'?"),
        ({'name': None}, "key 'name' is missing"),
        ({'mdh': None}, "give the kinematics: 'urdf' or 'mdh'"),
        ({'joints': None, 'urdf': SCARA}, "an 'mdh' table needs 'joints'"),
        ({'joints.1.name': 'a'}, "joints: 'a' appears more than once"),
        ({'joints': [{'name': 'a'}]}, 'mdh has 2 rows for 1 joints'),
        ({'joints.0.gear_ratio': 0}, 'joints.0.gear_ratio: must not be zero, got 0'),
        ({'joints.0.friction': ['sticky']}, "got 'sticky'"),
        ({'joints.0.friction': ['offset', 'offset']}, "'offset' appears more than once"),
        ({'joints.0.friction': ['coulomb', 'asymmetric_coulomb']}, "choose 'coulomb' or 'asym"),
        ({'joints.0.friction': ['offset', 'asymmetric_coulomb']}, "already holds the 'offset'"),
        ({'joints.0.limits': {'position': [1, -1]}}, 'lower 1.0 is not below -1.0'),
        ({'joints.0.limits': {'velocity': -1}}, 'joints.0.limits.velocity: must be gre'),
        ({'mdh.1.alpha': 'tau/2'}, "not a number or an expression of pi: 'tau/2'"),
        ({'mdh.1.alpha': '1/0'}, "not a number or an expression of pi: '1/0'"),
        ({'mdh.1.d': float('nan')}, 'must be finite'),
        ({'mdh.1.type': 'screw'}, "mdh.1.type: must be 'revolute' or 'prismatic'"),
        ({'coupling': [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}, 'coupling is 3 x 3, it must be 2 x 2'),
        ({'coupling': [[1, 0], [0]]}, 'coupling is 2 x 2 with unequal rows, it must be 2 x 2'),
        ({'coupling': [[1, 1], [1, 1]]}, 'the matrix is singular'),
        ({'loops.default.bandwidth': [1]}, 'loops.default.bandwidth has 1 values for 2 joints'),
        ({'noise': {'torque_std': [1]}}, 'noise.torque_std has 1 values for 2 joints'),
        ({'truth.M2': -3}, 'truth: M2 is negative (-3 kg)'),
        ({'truth.ZX1': 1}, "truth: no standard parameter 'ZX1', did you mean"),
        ({'a_priori': {'M1': -1}}, 'a_priori: M1 is negative (-1 kg)'),
        ({'renamed': {'MX1': {'name': 'x'}}}, "renamed: 'MX1' is not a base parameter, did you"),
        ({'urdf': 'gone.urdf'}, "urdf: no file 'gone.urdf'"),
        ({'urdf': SCARA}, "joints: 'a' is not a moving joint of scara.urdf, known: shoulder"),
        (
            {'urdf': SCARA, 'joints': [{'name': 'shoulder'}, {'name': 'elbw'}]},
            "joints: 'elbw' is not a moving joint of scara.urdf, did you mean 'elbow'?",
        ),
        (
            {'urdf': SCARA, 'mdh': None, 'joints': [{'name': 'elbow'}], 'loops': {}, 'truth': {}},
            "joint 'shoulder' of scara.urdf is neither under 'joints' nor 'locked'",
        ),
        (
            {'urdf': SCARA, 'joints.0.name': 'shoulder', 'joints.1.name': 'elbow', 'mdh.1.d': 0.4},
            "urdf and mdh differ in the translation of joint 'elbow'",
        ),
        (
            {'urdf': SCARA, 'joints.0.name': 'elbow', 'joints.1.name': 'shoulder'},
            "urdf and mdh differ in the dof of joint 'shoulder'",
        ),
        (
            {'urdf': SCARA, 'mdh': None, 'joints': None, 'coupling': [[1]], 'loops': {}},
            'coupling is 1 x 1, it must be 2 x 2',
        ),
        (
            {'urdf': SCARA, 'mdh': None, 'joints': None, 'locked': {'wrist': 0}},
            "no moving joint 'wrist' to lock, known: shoulder, elbow",
        ),
    ],
)  # fmt: skip
def test_mistakes(tmp_path, changes, words):
    assert words in message_of(tmp_path, yaml.safe_dump(changed(changes)))


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('name: [', 'not YAML'),
        ('name: a\nname: b\n', "key 'name' appears twice, again in line 2"),
        ('- a\n- b\n', 'a robot file is a mapping of keys, got list'),
        ('', 'a robot file is a mapping of keys, got NoneType'),
    ],
)
def test_files_that_are_no_robot_files(tmp_path, text, words):
    assert words in message_of(tmp_path, text)


def test_binary_and_missing_files(tmp_path):
    path = tmp_path / 'robot.yaml'
    path.write_bytes(b'\xff\xfe\x00')
    with refused(DescriptionError, code='not_yaml'):
        load_robot(path)
    with refused(DescriptionError, code='no_file'):
        load_robot(tmp_path / 'none.yaml')
    with refused(DescriptionError, code='no_robot'):
        load_robot('tx4')


def test_gravity_that_asymmetric_friction_hides(tmp_path):
    slide = {
        'name': 'lift', 'mdh': [{'type': 'prismatic'}],
        'joints': [{'name': 'z', 'friction': ['asymmetric_coulomb']}],
    }  # fmt: skip
    path = tmp_path / 'lift.yaml'
    path.write_text(yaml.safe_dump(slide))
    with refused(DescriptionError, code='not_separable'):
        len(load_robot(path).base)


def test_what_a_robot_does_not_have(tmp_path):
    path = tmp_path / 'slide.yaml'
    path.write_text(yaml.safe_dump({'name': 'slide', 'mdh': [{'type': 'prismatic'}]}))
    with refused(DescriptionError, code='no_truth'):
        load_robot(path).truth()
    with refused(DescriptionError, code='no_loop'):
        load_robot('scara').loop('papr')
