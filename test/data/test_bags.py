"""rosbag2 recordings: by name, in bulk and one by one, with and without damage."""

import shutil

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer

from robot_id import data
from robot_id.data.collector import typestore
from robot_id.exceptions import DataError

NAMES = ('a', 'b')


class Bag:
    """Writes messages one by one with the rosbags library, apart from our own writer."""

    def __init__(self, path, storage=StoragePlugin.MCAP):
        self.path, self.types = path, typestore().types
        self.writer = Writer(path, version=9, storage_plugin=storage)
        self.topics = {}

    def __enter__(self):
        self.writer.open()
        return self

    def __exit__(self, *error):
        self.writer.close()

    def put(self, topic, message, ns):
        kind = message.__msgtype__
        if topic not in self.topics:
            self.topics[topic] = self.writer.add_connection(topic, kind, typestore=typestore())
        self.writer.write(self.topics[topic], ns, typestore().serialize_cdr(message, kind))

    def header(self, ns, frame=''):
        stamp = self.types['builtin_interfaces/msg/Time'](ns // 10**9, ns % 10**9)
        return self.types['std_msgs/msg/Header'](stamp, frame)

    def state(self, ns, names, q, tau, dq=(), topic='/joint_states', frame='', log=None):
        arrays = [np.array(x, dtype=float) for x in (q, dq, tau)]
        message = self.types['sensor_msgs/msg/JointState'](
            self.header(ns, frame), list(names), *arrays
        )
        self.put(topic, message, ns if log is None else log)

    def reference(self, ns, names, q, log=None):
        point = self.types['trajectory_msgs/msg/JointTrajectoryPoint'](
            np.array(q, float),
            2 * np.array(q, float),
            np.empty(0),
            np.empty(0),
            self.types['builtin_interfaces/msg/Duration'](0, 0),
        )
        message = self.types['trajectory_msgs/msg/JointTrajectory'](
            self.header(ns), list(names), [point]
        )
        self.put('/reference', message, ns if log is None else log)

    def command(self, ns, values):
        layout = self.types['std_msgs/msg/MultiArrayLayout']([], 0)
        message = self.types['std_msgs/msg/Float64MultiArray'](layout, np.array(values, float))
        self.put('/effort_commands', message, ns)


def stamps(N=200):
    return 10**15 + 10**7 * np.arange(N)


def value(ns):
    t = (int(ns) - 10**15) * 1e-9
    return [np.sin(t), np.cos(t)], [t, -t]


@pytest.mark.parametrize('storage', [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_joints_are_matched_by_name(tmp_path, storage):
    with Bag(tmp_path / 'bag', storage) as bag:
        for ns in stamps():
            q, tau = value(ns)
            bag.state(int(ns), NAMES, q, tau)
    expected = np.array([value(ns)[0] for ns in stamps()])
    file = next(p for p in (tmp_path / 'bag').iterdir() if p.suffix in ('.mcap', '.db3'))
    for path in (tmp_path / 'bag', file):
        dataset = data.load(path)
        assert dataset.joint_names == NAMES
        assert np.array_equal(dataset.runs[0].position, expected)
        assert dataset.rate == pytest.approx(100.0)
        assert dataset.runs[0].velocity is None
        swapped = data.load(path, 'joint_states', joint_names=('b', 'a'))
        assert np.array_equal(swapped.runs[0].position, expected[:, ::-1])
        only = data.load(path, joint_names=('b',))
        assert np.array_equal(only.runs[0].position, expected[:, 1:])


def test_changing_order_frames_and_other_publishers(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for k, ns in enumerate(stamps()):
            q, tau = value(ns)
            if k % 3 == 0:
                bag.state(int(ns), NAMES[::-1], q[::-1], tau[::-1], frame='x')
            else:
                bag.state(int(ns), NAMES, q, tau, frame=f'{k % 23:02d}')
            bag.state(int(ns) + 5, ('gripper',), [0.0], [0.0])
    dataset = data.load(tmp_path / 'bag', joint_names=NAMES)
    assert np.array_equal(dataset.runs[0].position, [value(ns)[0] for ns in stamps()])
    assert any('200 message(s) of other joints ignored' in note for note in dataset.notes)


def test_reference_and_commands(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for k, ns in enumerate(stamps()):
            q, tau = value(ns)
            bag.reference(int(ns), NAMES[::-1], [k, k + 1], log=int(ns) - 10)
            bag.state(int(ns), NAMES, q, tau)
            bag.command(int(ns) + 2000, [10 * k, -k])
    dataset = data.load(tmp_path / 'bag', joint_names=NAMES)
    run = dataset.runs[0]
    k = np.arange(200)
    assert np.array_equal(run.reference_position, np.stack([k + 1, k], axis=1))
    assert np.array_equal(run.reference_velocity, 2 * run.reference_position)
    assert run.reference_acceleration is None
    assert np.array_equal(run.control, np.stack([10 * k, -k], axis=1))
    nameless = data.load(tmp_path / 'bag')
    assert nameless.runs[0].control is None
    assert any('do not say which joints' in note for note in nameless.notes)


def test_a_slower_reference_is_interpolated_and_reported(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for k, ns in enumerate(stamps()):
            bag.state(int(ns), NAMES, *value(ns))
            if k % 4 == 0:
                bag.reference(int(ns), NAMES, [k, -k])
    dataset = data.load(tmp_path / 'bag')
    k = np.minimum(np.arange(200.0), 196)
    assert np.allclose(dataset.runs[0].reference_position, np.stack([k, -k], axis=1))
    assert any('interpolated at 147 of 200' in note for note in dataset.notes)
    assert any('held for 3 sample(s)' in note for note in dataset.notes)


def test_zero_stamps_use_the_receive_time(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps():
            bag.state(0, NAMES, *value(ns), log=int(ns))
    dataset = data.load(tmp_path / 'bag')
    assert dataset.rate == pytest.approx(100.0)
    assert any('receive times are used' in note for note in dataset.notes)


def test_namespaces_and_other_topic_names(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps():
            bag.state(int(ns), NAMES, *value(ns), topic='/left/joint_states')
    assert len(data.load(tmp_path / 'bag')) == 200
    with Bag(tmp_path / 'two') as bag:
        for ns in stamps():
            bag.state(int(ns), NAMES, *value(ns), topic='/left/joint_states')
            bag.state(int(ns), NAMES, *value(ns), topic='/right/joint_states')
    with pytest.raises(DataError, match=r"several topics 'joint_states' \(/left/joint_states, /r"):
        data.load(tmp_path / 'two')
    chosen = data.Mapping.model_validate({'topics': {'joint_states': '/right/joint_states'}})
    assert len(data.load(tmp_path / 'two', chosen)) == 200


def test_no_joint_states(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        bag.command(1, [1.0])
    with pytest.raises(DataError, match=r"no topic 'joint_states' .*it has /effort_commands"):
        data.load(tmp_path / 'bag')


@pytest.mark.parametrize(
    ('tau', 'q', 'names', 'message'),
    [
        ([], [1.0, 2.0], NAMES, "'effort' is empty"),
        ([1.0, 2.0], [], NAMES, "'position' is empty"),
        ([1.0], [1.0, 2.0], NAMES, "'effort' has 1 values for 2 joints"),
        ([1.0, 2.0], [1.0, 2.0], ('a', 'a'), 'a joint is named twice'),
    ],
)
def test_incomplete_joint_states(tmp_path, tau, q, names, message):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps(20):
            bag.state(int(ns), names, q, tau)
    with pytest.raises(DataError, match=message):
        data.load(tmp_path / 'bag')


def test_a_missing_joint_is_named(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps(20):
            bag.state(int(ns), NAMES, *value(ns))
    with pytest.raises(DataError, match=r"/joint_states: no joint 'c', it has a, b"):
        data.load(tmp_path / 'bag', joint_names=('a', 'c'))


def test_velocities_that_are_all_nan_are_left_out(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps(50):
            bag.state(int(ns), NAMES, *value(ns), dq=[np.nan, np.nan])
    dataset = data.load(tmp_path / 'bag')
    assert dataset.runs[0].velocity is None
    assert any('velocities are all NaN' in note for note in dataset.notes)


def record(path, storage=StoragePlugin.MCAP, N=20_000):
    with Bag(path, storage) as bag:
        for ns in 10**15 + 10**6 * np.arange(N):
            bag.state(int(ns), NAMES, *value(ns))
    return next(p for p in path.iterdir() if p.suffix in ('.mcap', '.db3'))


@pytest.fixture(scope='module')
def long_bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp('long') / 'bag'
    record(folder)
    return folder


@pytest.fixture
def long_mcap(long_bag):
    return (long_bag / 'bag.mcap').read_bytes()


def recovered(path, samples_at_most):
    """Check that a cut recording gives its first messages and says so."""
    dataset = data.load(path)
    N = len(dataset)
    assert 0.1 * samples_at_most < N <= samples_at_most
    assert np.allclose(dataset.runs[0].torque[:, 0], np.arange(N) * 1e-3, atol=1e-9)
    assert any(f'{N} messages were recovered' in note for note in dataset.notes)
    return dataset.notes


@pytest.mark.parametrize('part', [0.5, 0.95])
def test_an_mcap_without_its_end_is_recovered(tmp_path, long_mcap, part):
    path = tmp_path / 'cut.mcap'
    path.write_bytes(long_mcap[: int(part * len(long_mcap))])
    notes = recovered(path, 20_000)
    assert any('the end is missing' in note for note in notes)


def test_an_mcap_without_its_footer_gives_everything(tmp_path, long_mcap):
    path = tmp_path / 'cut.mcap'
    path.write_bytes(long_mcap[:-20])
    assert len(data.load(path)) == 20_000


def test_a_damaged_chunk_ends_the_recovery(tmp_path, long_mcap):
    path = tmp_path / 'cut.mcap'
    middle = len(long_mcap) // 2
    path.write_bytes(long_mcap[:middle] + bytes(64) + long_mcap[middle + 64 :])
    recovered(path, 20_000)


def test_a_directory_without_metadata(tmp_path, long_mcap):
    folder = tmp_path / 'bag'
    folder.mkdir()
    (folder / 'bag_0.mcap').write_bytes(long_mcap[: len(long_mcap) // 2])
    notes = recovered(folder, 20_000)
    assert any('no metadata.yaml' in note for note in notes)


def test_a_directory_whose_storage_is_cut(tmp_path, long_bag):
    folder = tmp_path / 'bag'
    shutil.copytree(long_bag, folder)
    file = folder / 'bag.mcap'
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    notes = recovered(folder, 20_000)
    assert any('read one by one' in note for note in notes)


def test_an_mcap_cut_at_its_head_is_refused(tmp_path, long_mcap):
    path = tmp_path / 'cut.mcap'
    path.write_bytes(long_mcap[:200])
    with pytest.raises(DataError, match=r'cut.mcap: cut off or damaged'):
        data.load(path)


@pytest.mark.parametrize('keep', [0.2, 0.5, 0.9])
def test_a_cut_db3_is_refused_in_one_line(tmp_path, keep):
    file = record(tmp_path / 'bag', StoragePlugin.SQLITE3, N=3000)
    file.write_bytes(file.read_bytes()[: int(keep * file.stat().st_size)])
    with pytest.raises(DataError, match=r'bag.db3: .*\(.*malformed.*\)') as caught:
        data.load(file)
    assert '\n' not in str(caught.value)


def test_an_empty_recording(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        connection = bag.writer.add_connection(
            '/joint_states', 'sensor_msgs/msg/JointState', typestore=typestore()
        )
        assert connection.topic == '/joint_states'
    with pytest.raises(DataError, match='no message'):
        data.load(tmp_path / 'bag')
    (tmp_path / 'nothing').mkdir()
    with pytest.raises(DataError, match='a directory needs a mapping'):
        data.load(tmp_path / 'nothing')


def test_rubbish_bytes_in_a_topic_are_named(tmp_path):
    with Bag(tmp_path / 'bag') as bag:
        for ns in stamps(20):
            bag.state(int(ns), NAMES, *value(ns))
        bag.writer.write(bag.topics['/joint_states'], 10**16, b'\x00\x01\x00\x00\x01\x02')
    with pytest.raises(DataError, match=r'/joint_states: message 21 cannot be read'):
        data.load(tmp_path / 'bag')
