"""The node `replay`: a recording on the topics, as if the robot were running."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from robot_id.data.io.bags.replay import BagReplay
from robot_id.exceptions import OptionError, RobotIdError
from robot_id.ros.base import NodeBase, end, run
from robot_id.ros.diagnostics import ERROR, OK, Report
from robot_id.ros.durations import to_stamp
from robot_id.ros.parameter_table import Row

TYPES = {
    'joint_states': JointState,
    'reference': JointTrajectory,
    'effort_commands': Float64MultiArray,
}
# Deep enough for readers that are busy for a moment: what is played is also received.
PROFILE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=2000, reliability=ReliabilityPolicy.RELIABLE
)
POLL_S = 0.02
DELIVER_S = 2.0
# After the last listener connected.
SETTLE_S = 0.3

TABLE = (
    Row('bag', '', 'The recording: a directory, an .mcap or a .db3 file.'),
    Row('rate', 1.0, 'Playback speed: recorded seconds per second.', 0.01, 1000.0, live=True),
    Row('start_s', 0.0, 'Start time, counted from the first joint state [s].', 0.0, 1e9),
    Row('loop', False, 'Start again at the end.', live=True),
    Row('clock', False, 'Publish /clock, for nodes with use_sim_time.'),
    Row('paused', False, 'Start paused; ~/pause with false continues.'),
    Row('wait_for_subscribers', 1, 'Start once this many subscribers of joint_states are '
        'connected.', 0, 1000),
    Row('wait_timeout_s', 10.0, 'Start after this time even without them [s].', 0.0, 1e6),
    Row('exit_at_end', True, 'End the node at the end of the recording.', live=True),
)  # fmt: skip


class Replay(NodeBase, Node):
    """Publishes the joint states, the reference and the effort commands of a recording."""

    def __init__(self) -> None:
        super().__init__('replay')
        self.prepare(TABLE)
        s = self.settings
        if not s['bag']:
            raise OptionError('parameter bag is not set: the path of a recording')
        path = Path(s['bag']).expanduser()
        self._replay = BagReplay(path, s['start_s'], s['rate'])
        for note in self._replay.notes:
            self.warning(note)
        if s['paused']:
            self._replay.running.clear()
        self._topic = {
            topic: self.create_publisher(TYPES[name], name, PROFILE)
            for topic, (name, _) in self._replay.topics.items()
        }
        self._states = next(
            self._topic[topic]
            for topic, (name, _) in self._replay.topics.items()
            if name == 'joint_states'
        )
        self._clocks = self.create_publisher(ClockMessage, '/clock', 10) if s['clock'] else None
        self._last_clock = -1
        self._rounds, self._failure, self._over = 0, '', False
        self.create_service(SetBool, '~/pause', self._pause)
        self.create_timer(0.1, self._follow_rate, clock=self.steady)
        self.diagnostics.add('replay', self._report)
        self.event('ready', node=self.get_fully_qualified_name(), bag=path)
        self._thread = threading.Thread(target=self._play, name='replay', daemon=True)
        self._thread.start()

    def _follow_rate(self) -> None:
        self._replay.rate = self.settings['rate']

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        if request.data:
            self._replay.running.clear()
        else:
            self._replay.running.set()
        response.success = True
        response.message = f'at {self._replay.position_s:.3f} s'
        return response

    def _play(self) -> None:
        self._wait_for_subscribers()
        try:
            while self._replay.play(self._send):
                self._rounds += 1
                if not self.settings['loop']:
                    break
            for publisher in self._topic.values():
                publisher.wait_for_all_acked(Duration(seconds=DELIVER_S))
        except RobotIdError as error:
            self._failure = str(error)
            self.failure(f'replay ends: {error}')
        if self._replay.stopped.is_set():
            return
        self._over = True
        if self._replay.jumps or self._replay.damaged:
            self.warning(
                f'{self._replay.jumps} stamps jumped and were not waited for, '
                f'{self._replay.damaged} damaged joint states were left out'
            )
        names = self._replay.topics
        sent = {names[topic][0]: count for topic, count in self._replay.counts.items()}
        self.event('played', **sent, latest_ms=1e3 * self._replay.latest_s)
        if self.settings['exit_at_end']:
            os.kill(os.getpid(), signal.SIGINT)

    def _wait_for_subscribers(self) -> None:
        """Wait until the subscribers of joint_states and of all topics are connected."""
        wanted = self.settings['wait_for_subscribers']
        begun = time.monotonic()
        seen, since = self._connected(), begun
        while wanted and (seen[0] < wanted or time.monotonic() - since < SETTLE_S):
            if self._replay.stopped.wait(POLL_S):
                return
            if time.monotonic() - begun > self.settings['wait_timeout_s']:
                self.warning('starting without the expected subscribers')
                return
            # A listener connects to one topic after the other.
            found = self._connected()
            if found != seen:
                seen, since = found, time.monotonic()

    def _connected(self) -> tuple[int, ...]:
        publishers = [self._states, *self._topic.values()]
        return tuple(publisher.get_subscription_count() for publisher in publishers)

    def _send(self, topic: str, now: int, data: bytes) -> None:
        if self._clocks is not None and now != self._last_clock:
            self._last_clock = now
            self._clocks.publish(ClockMessage(clock=to_stamp(now)))
        self._topic[topic].publish(data)

    def _report(self) -> Report:
        names = self._replay.topics
        values: dict[str, float] = {
            names[topic][0]: count for topic, count in self._replay.counts.items()
        }
        values |= {
            'at_s': self._replay.position_s,
            'rounds': self._rounds,
            'latest_ms': 1e3 * self._replay.latest_s,
            'jumps': self._replay.jumps,
            'damaged': self._replay.damaged,
        }
        if self._failure:
            return ERROR, self._failure, values
        if self._over:
            return OK, 'at the end', values
        return OK, 'playing' if self._replay.running.is_set() else 'paused', values

    def close(self) -> None:
        """Stop playing."""
        self._replay.stopped.set()
        self._thread.join(DELIVER_S)


def main() -> None:
    """Run the node until Ctrl-C or the end of the recording."""
    end(run(Replay))
