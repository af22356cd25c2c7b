"""A rosbag2 recording written message by message with the rosbags library."""

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from running.typestore import typestore

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
