"""Every block of the documents is run or checked."""

import importlib
import json
import re
from pathlib import Path

import pytest
import yaml

from robot_id.cli.main import VERBS, cli
from robot_id.exceptions import RobotIdError
from tools.manual import python_names, yaml_files
from tools.manual.blocks import ROOT, blocks_of
from tools.manual.commands import CommandError, check
from tools.manual.shell_words import written_files

PAGES = [*sorted(ROOT.glob('*.md')), *sorted((ROOT / 'doc').rglob('*.md'))]
BLOCKS = [(page, block) for page in PAGES for block in blocks_of(page)]
INLINE = re.compile(r'(?<!`)`(robot-id [^`]+)`(?!`)')
# What is neither run nor read: drawings, outputs, and text for other programs.
OTHERS = ('mermaid', 'text', 'xml', 'cpp', 'cmake')


def of(*kinds):
    return [
        pytest.param(block, id=f'{page.relative_to(ROOT)}-{number}')
        for number, (page, block) in enumerate(BLOCKS)
        if block.kind in kinds
    ]


def names(block):
    return block.detail.split() if block.what == 'foreign' else ()


def ros_room():
    pytest.importorskip('rclpy')
    pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')
    return importlib.import_module('tools.manual.ros_commands')


def ros(foreign=()):
    """Return what checks the words after `ros2`; without ROS their tests are skipped."""
    return lambda words: ros_room().checker(foreign)(words)


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_says_what_it_is(page):
    found = [*blocks_of(page)]
    assert len(re.findall(r'^ *```', page.read_text(), re.M)) == 2 * len(found)
    for block in found:
        known = ('sh', 'python', 'yaml', 'json', *OTHERS)
        assert block.kind in known or block.kind.startswith('{'), block.text
        assert block.what != 'not run' or block.detail, 'no reason'
        assert block.kind != 'python' or block.what in ('run', 'not run'), block.text


@pytest.mark.parametrize('block', of('sh'))
def test_commands_exist(block):
    check(block.text, ros(names(block)))


def test_parameters_of_nodes_are_theirs():
    check_parameter_file = ros_room().check_parameter_file
    written = [text for _, block in BLOCKS for text in written_files(block.text)]
    files = [text for text in written if 'ros__parameters' in text]
    for text in files:
        check_parameter_file(yaml.safe_load(text))
    assert files
    for key in ('windows_s', 'ros__parameter'):
        with pytest.raises((CommandError, KeyError)):
            check_parameter_file({'/**': {'ros__parameters': {key: 1.0}}})


@pytest.mark.parametrize('block', of('yaml'))
def test_files_load(block, tmp_path):
    yaml_files.load(block.text, tmp_path)


@pytest.mark.parametrize('block', of('json'))
def test_json_can_be_read(block):
    json.loads(block.text)


@pytest.mark.parametrize('block', of('python'))
def test_names_of_python_exist(block):
    """Of blocks that are run too: there it costs nothing."""
    assert python_names.check(block.text) >= 0


@pytest.mark.parametrize('page', PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_within_sentences_exist(page):
    """Their verb and their options; what follows an option may be left out there."""
    for found in INLINE.findall(re.sub(r'```.*?```', '', page.read_text(), flags=re.S)):
        verb, *words = found.split()[1:]
        if verb.isupper() or verb == '--version':
            continue
        assert verb in VERBS, found
        command = cli.get_command(None, verb)
        known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
        for word in words:
            option = word.strip('[]()').partition('=')[0]
            assert not option.startswith('--') or option in {*known, '--help'}, found


@pytest.mark.parametrize(
    ('command', 'wrong'),
    [
        ('robot-id identfy --robot scara --data x', "no command 'identfy'"),
        ('robot-id identify --robt scara --data x', "'--robt'"),
        ('robot-id export r.json --format mjfc --out x', "'mjfc'"),
        ('robot-idd robots', "no program 'robot-idd'"),
        ('cd x && make dmo', "no target 'dmo'"),
        ('pixi run dem', "no task 'dem'"),
        ("pip install '.[plot]'", "no extra 'plot'"),
        ('ros2 launch robot_id contrl.launch.py', 'no launch file contrl'),
        ('ros2 launch robot_id control.launch.py simm:=true', "'simm'"),
        ('ros2 launch robot_id control.launch.py sim:=yes', "no value of sim 'yes'"),
        ('ros2 launch my_robot control.launch.py', "no package 'my_robot'"),
        ('ros2 launch robot_id control.launch.py params_file:=config/drivers/u.yaml', 'u.yaml'),
        ('ros2 run robot_id ddm_simulater', "no executable 'ddm_simulater'"),
        ('ros2 run robot_id control_loop --ros-args -p robt:=emps', "'robt'"),
        ('ros2 service call /data_logger/begin std_srvs/srv/Trigger', "'data_logger/begin'"),
        ('ros2 service call /data_logger/start std_srvs/srv/Triger', 'not std_srvs/srv/Triger'),
        (
            'ros2 service call /data_logger/start robot_id_msgs/srv/StartRecording "{nam: x}"',
            "no field 'nam'",
        ),
        (
            'ros2 service call /data_logger/start robot_id_msgs/srv/StartRecording "{name: 3}"',
            'must be of type',
        ),
        (
            'ros2 action send_goal /motion_player/play robot_id_msgs/action/Identify "{}"',
            'is of type robot_id_msgs/action/Play',
        ),
        ('ros2 topic echo --onc /joint_states', "no option '--onc'"),
        ('ros2 topic echo /joint_state', "no topic 'joint_state'"),
        ('ros2 lifecycle set /ctc_controller activated', "no transition 'activated'"),
        ('ros2 param set /motion_player arm true', "'arm'"),
        ('X=1 ros2 topics echo /joint_states', 'no ros2 topics'),
    ],
)
def test_a_wrong_command_would_be_noticed(command, wrong):
    with pytest.raises(CommandError) as found:
        check(command, ros())
    assert wrong in str(found.value)


@pytest.mark.parametrize(
    ('block', 'wrong'),
    [
        ('from robot_id.control import ComputedTork', 'ComputedTork'),
        ('import robot_id as rid\nrid.identfy(1)', 'identfy'),
        (
            "import robot_id as rid\nrobot = rid.load_robot('x')\nrobot.joints_names",
            'joints_names',
        ),
        ('import robot_id as rid\nrid.load(1, robots=2)', 'robots'),
        ('import robot_id as rid\nf = rid.load_fit(1)\nf.model.torq(1)', 'torq'),
    ],
)
def test_a_wrong_name_would_be_noticed(block, wrong):
    with pytest.raises(python_names.NameOfBlockError, match=wrong):
        python_names.check(block)


@pytest.mark.parametrize(
    'block',
    [
        'name: my_arm\nurdf: arm.urdf\ngravty: [0, 0, 1]',
        'name: my_arm\nurdf: arm.urdf\nlocked: {a: x}',
        'time: {colum: t}\nposition: {columns: q}',
        'robots: [scara]\nmethods: [idim_wsl]',
        '- robots',
    ],
)
def test_a_wrong_file_would_be_noticed(block, tmp_path: Path):
    with pytest.raises((ValueError, RobotIdError)):
        yaml_files.load(block, tmp_path)
