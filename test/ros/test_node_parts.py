"""What the nodes share, without processes: stamps, commands, paths, parameters."""

import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.ros
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from hypothesis import given
from hypothesis import strategies as st
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from std_msgs.msg import Float64MultiArray

from robot_id.control.learning.options import IlicOptions
from robot_id.data.cleaning.stamps import to_ns
from robot_id.data.joint_order import joint_order
from robot_id.exceptions import DataError, OptionError
from robot_id.methods.recursive.settings import OnlineSettings
from robot_id.nodes.ctc_parameters import LEARNER
from robot_id.nodes.tables import TABLES
from robot_id.ranges import OutOfRange
from robot_id.ros.base import NodeBase
from robot_id.ros.data_directory import below
from robot_id.ros.diagnostics import OK, RateMeter
from robot_id.ros.durations import to_stamp
from robot_id.ros.effort_commands import CommandReader, CommandWriter
from robot_id.ros.lifecycle import RobotLifecycleNode
from robot_id.ros.messages import ForbiddenPath, WrongState
from robot_id.ros.parameter_table import ParameterTable, guard_parameter_services, is_slip
from robot_id.ros.refusal import Refusal
from robot_id_msgs.msg import ErrorCode
from robot_id_msgs.srv import EnableLearning

ROOT = Path(__file__).resolve().parents[2]
MS = 1_000_000


@given(st.integers(0, 2**31 * 10**9 - 1))
def test_a_stamp_survives_the_message(ns):
    assert to_ns(to_stamp(ns)) == ns


@given(st.permutations(['a', 'b', 'c']), st.booleans())
def test_effort_commands_arrive_whatever_the_order(names, stamped):
    joints = ('a', 'b', 'c')
    order = joint_order(joints, names, 'joints')
    data = CommandWriter(joints, order, stamped).write(np.array([1.0, 2.0, 3.0]), 7 * MS)
    message = deserialize_message(data, Float64MultiArray)
    assert message.data[names.index('b')] == 2.0
    torque, stamp = CommandReader(joints, [0, 1, 2]).read(message)
    assert torque.tolist() == [1.0, 2.0, 3.0]
    assert (stamp is not None) == stamped
    # A reader that sees no names takes the order of its parameter, as a stock controller does.
    bare = Float64MultiArray(data=message.data[:3])
    assert CommandReader(joints, order).read(bare)[0].tolist() == [1.0, 2.0, 3.0]


def test_effort_commands_that_cannot_be_used_say_why():
    reader = CommandReader(('a', 'b'), [0, 1])
    with pytest.raises(DataError, match='3 values for 2 joints'):
        reader.read(Float64MultiArray(data=[1.0, 2.0, 3.0]))
    with pytest.raises(DataError, match="joint 'b' is not finite"):
        reader.read(Float64MultiArray(data=[1.0, float('nan')]))


@pytest.mark.parametrize('name', ['', '/etc/passwd', '../x.json', 'a/../../x', 'way/out/x'])
def test_no_path_leaves_the_data_directory(name, tmp_path):
    root = tmp_path / 'data'
    (root / 'way').mkdir(parents=True)
    (root / 'way' / 'out').symlink_to(tmp_path)
    with pytest.raises(ForbiddenPath):
        below(root, name)
    assert below(root, 'way/x.json') == (root / 'way/x.json').resolve()


@pytest.fixture(scope='module')
def context():
    own = rclpy.Context()
    rclpy.init(context=own)
    yield own
    rclpy.shutdown(context=own)


@pytest.mark.parametrize(
    ('given', 'told'),
    [
        ({'mode': 'plan'}, "mode: 'plan' is not a choice, did you mean 'plant'?"),
        ({'rate_hz': -1.0}, 'rate_hz: -1.0 is outside'),
        ({'rate_hz': 'fast'}, "rate_hz: 'fast' has the wrong type"),
        ({'initial_position': ['a']}, 'initial_position'),
        ({'rate_hs': 5.0}, "no parameter 'rate_hs': did you mean 'rate_hz'"),
    ],
)
def test_parameters_that_cannot_be_used_say_why(context, given, told):
    overrides = [Parameter(key, value=value) for key, value in given.items()]
    node = Node('parameters', context=context, parameter_overrides=overrides)
    try:
        with pytest.raises(OptionError, match=told):
            ParameterTable(node, TABLES['ddm_simulator'])
    finally:
        node.destroy_node()


def test_a_shared_file_is_no_typing_mistake(context):
    """Every parameter of every node may stand below /**: of one file."""
    shared = [row for table in TABLES.values() for row in table]
    for name, table in TABLES.items():
        own = {row.name for row in table}
        others = {row.name: row for row in shared if row.name not in own}
        overrides = [Parameter(key, row.type, row.default) for key, row in others.items()]
        node = Node(name, context=context, parameter_overrides=overrides)
        try:
            ParameterTable(node, table)
        finally:
            node.destroy_node()


@given(st.sampled_from(['largest_error', 'rate_hz', 'state_timeout_s']), st.data())
def test_one_slip_of_the_fingers_is_seen(name, data):
    at = data.draw(st.integers(0, len(name) - 2))
    other = data.draw(st.sampled_from('qxyz'))
    slips = (
        name[:at] + name[at + 1 :],
        name[:at] + other + name[at:],
        name[:at] + other + name[at + 1 :],
        name[:at] + name[at + 1] + name[at] + name[at + 2 :],
    )
    assert all(is_slip(each, name) for each in slips if each != name)
    assert not is_slip(name, name)


@pytest.mark.parametrize('name', TABLES)
def test_every_parameter_has_a_value_to_dump(context, name):
    """One without a value keeps `ros2 param dump` from showing any."""
    node = Node(name, context=context)
    try:
        ParameterTable(node, TABLES[name])
        names = [row.name for row in TABLES[name]]
        service = next(s for s in node.services if s.srv_type is GetParameters)
        answer = service.callback(GetParameters.Request(names=names), GetParameters.Response())
        assert len(answer.values) == len(names)
        assert all(value.type for value in answer.values)
    finally:
        node.destroy_node()


def test_an_empty_list_may_be_given(context):
    empty = [Parameter('joints', value=[]), Parameter('initial_position', value=[])]
    node = Node('empty', context=context, parameter_overrides=empty)
    try:
        table = ParameterTable(node, TABLES['ddm_simulator'])
        assert table['joints'] == table['initial_position'] == []
    finally:
        node.destroy_node()


def test_a_change_is_reported_before_the_next_full_second(context):
    class Watched(NodeBase, Node):
        pass

    node, seen = Watched('watched', context=context), []
    executor = SingleThreadedExecutor(context=context)
    try:
        node.prepare(())
        node.diagnostics.add('part', lambda: (OK, 'fine', {}))
        node.diagnostics._timer.cancel()
        node.create_subscription(DiagnosticArray, '/diagnostics', seen.append, 10)
        executor.add_node(node)
        deadline = time.monotonic() + 20.0
        # Once a second no more: what comes, comes because of the change.
        while not seen and time.monotonic() < deadline:
            node.failure('a fault')
            executor.spin_once(timeout_sec=0.02)
        assert seen[0].status[0].name.endswith('watched: part')
    finally:
        executor.shutdown()
        node.destroy_node()


def test_a_rate_asked_for_twice_is_the_same():
    meter = RateMeter()
    for _ in range(10):
        meter.tick()
    first = meter.take()
    assert first['rate_hz'] > 0.0
    assert meter.take() == first


def test_a_type_of_parameter_that_ros_does_not_have_is_refused(context):
    node = Node('parameters', context=context)
    try:
        ParameterTable(node, TABLES['ddm_simulator'])
        guard_parameter_services(node)
        wrong = ParameterMessage(name='rate_hz', value=ParameterValue(type=100))
        for service in node.services:
            response = service.srv_type.Response()
            if service.srv_type is SetParameters:
                service.callback(SetParameters.Request(parameters=[wrong, wrong]), response)
                assert [each.successful for each in response.results] == [False, False]
            elif service.srv_type is SetParametersAtomically:
                request = SetParametersAtomically.Request(parameters=[wrong])
                service.callback(request, response)
                assert '100' in response.result.reason
    finally:
        node.destroy_node()


@pytest.mark.parametrize('name', TABLES)
def test_every_parameter_is_described_and_documented(context, name):
    table = TABLES[name]
    page = (ROOT / f'doc/nodes/{name}.md').read_text()
    node = Node(name, context=context)
    try:
        settings = ParameterTable(node, table)
        for row in table:
            assert row.markdown() in page
            assert settings[row.name] == row.default
            assert row.description in node.describe_parameter(row.name).description
        settings.locked = True
        fixed = next(row for row in table if not row.live)
        verdict = node.set_parameters([Parameter(fixed.name, value='x')])[0]
        assert not verdict.successful
    finally:
        node.destroy_node()


@pytest.mark.parametrize(
    ('node', 'schema', 'names'),
    [
        ('ctc_controller', IlicOptions, {key: key for key in LEARNER}),
        ('online_identifier', OnlineSettings, {'max_std': 'max_std', 'every': 'decimation'}),
    ],
)
def test_parameters_of_a_node_have_the_ranges_of_the_options(node, schema, names):
    rows = {row.name: row for row in TABLES[node]}
    for key, name in names.items():
        row = rows[name]
        if not np.isfinite(row.upper):
            continue
        assert getattr(schema(**{key: type(row.default)(row.upper)}), key) == row.upper
        with pytest.raises(OutOfRange, match=key) as caught:
            schema(**{key: 2 * row.upper})
        assert (caught.value.key, caught.value.bound[1]) == (key, row.upper)


@pytest.mark.parametrize(
    ('error', 'code'),
    [
        (Refusal(ErrorCode.BUSY, 'no'), ErrorCode.BUSY),
        (WrongState('no'), ErrorCode.INVALID_STATE),
        (DataError('no'), ErrorCode.INVALID_DATA),
    ],
)
def test_a_service_of_a_lifecycle_node_answers_the_code_of_its_refusal(error, code):
    def refuse(request, response):
        raise error

    rclpy.init()
    try:
        node = RobotLifecycleNode('refusing', ())
        node.serve(EnableLearning, '~/enable_learning', refuse)
        service = next(s for s in node.services if s.srv_name.endswith('enable_learning'))
        answer = service.callback(EnableLearning.Request(), EnableLearning.Response())
        assert (answer.error_code, answer.error_string) == (code, 'no')
        node.destroy_node()
    finally:
        rclpy.shutdown()


@pytest.mark.parametrize('path', sorted((ROOT / 'config/drivers').glob('*.yaml')), ids=str)
def test_the_file_of_a_driver_has_parameters_of_the_loop(path):
    given = yaml.safe_load(path.read_text())['/**']['ros__parameters']
    known = {
        row.name: row
        for node in ('ctc_controller', 'trajectory_generator')
        for row in TABLES[node]
    }
    for name, value in given.items():
        row = known[name]
        assert type(value) is type(row.default), name
        if isinstance(value, float):
            assert row.lower <= value <= row.upper
    assert (ROOT / f'doc/nodes/drivers/{path.stem}.md').is_file()
