"""
What the data logger loses and costs at 1 kHz, three topics at once.

Run: .venv/bin/python tools/isolated.py .venv/bin/python bench/bench_data_logger.py [SECONDS]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tools')]

from rclpy.duration import Duration  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from running.client import Client  # noqa: E402
from running.node_process import NodeProcess  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from robot_id.ros.qos import STREAM  # noqa: E402
from robot_id_msgs.srv import StartRecording, StopRecording  # noqa: E402

RATE, JOINTS = 1000.0, 6


def bench_logger(seconds: float = 10.0) -> dict[str, float]:
    """Publish joint states, reference and commands of six joints; return what was recorded."""
    names, zeros = [f'joint_{j}' for j in range(JOINTS)], [0.0] * JOINTS
    state = JointState(name=names, position=zeros, velocity=zeros, effort=zeros)
    point = JointTrajectoryPoint(positions=zeros, velocities=zeros, accelerations=zeros)
    others = {
        'reference': JointTrajectory(joint_names=names, points=[point]),
        'effort_commands': Float64MultiArray(data=zeros),
    }
    with tempfile.TemporaryDirectory() as folder, Client('bench') as client:
        settings = {'data_directory': folder, 'minimum_free_mb': 10.0}
        with NodeProcess('data_logger', parameters=settings) as logger:
            states = client.node.create_publisher(JointState, 'joint_states', STREAM)
            senders = [
                (client.node.create_publisher(type(message), topic, STREAM),
                 serialize_message(message))
                for topic, message in others.items()
            ]  # fmt: skip
            answer = client.call(StartRecording, 'data_logger/start', timeout=60.0)
            assert answer.error_code == 0, answer.error_string
            client.spin_until(lambda: states.get_subscription_count() == 1)
            time.sleep(0.5)
            before, begun = _cpu(logger.process.pid), time.perf_counter()
            latest = 0.0
            for k in range(round(seconds * RATE)):
                left = begun + k / RATE - time.perf_counter()
                if left > 0:
                    time.sleep(left)
                latest = max(latest, -left)
                ns = round(k * 1e9 / RATE)
                state.header.stamp.sec, state.header.stamp.nanosec = divmod(ns, 1_000_000_000)
                states.publish(state)
                for publisher, data in senders:
                    publisher.publish(data)
            states.wait_for_all_acked(Duration(seconds=5))
            took = time.perf_counter() - begun
            share = (_cpu(logger.process.pid) - before) / took
            status = client.call(StopRecording, 'data_logger/stop').status
    return {
        'sent': round(seconds * RATE),
        'samples': status.samples,
        'lost': status.lost,
        'gaps': status.gaps,
        'reference': status.messages[1],
        'effort_commands': status.messages[2],
        'bytes_per_second': status.size_bytes / took,
        'cpu_share_of_one_core': share,
        'latest_ms_of_the_publisher': 1e3 * latest,
    }


def _cpu(pid: int) -> float:
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def main() -> None:
    """Print what was found."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    for name, value in bench_logger(seconds).items():
        print(f'{name:30s} {value:g}')


if __name__ == '__main__':
    main()
