"""The priority of a control loop is not that of its learner; one line says if it is refused."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')
pytest.importorskip('robot_id_msgs.msg._error_code', reason='robot_id_msgs is not built')

from running.client import Client
from running.robot_graph import START_S, Health, bring_up, graph

PRIORITY = 3
ASK = f'from robot_id.ros.real_time import ask_for_real_time; print(ask_for_real_time({PRIORITY}))'
COMMON = {'robot': 'emps', 'rate_hz': 200.0}
# Busy test machines stall for a while.
PATIENT = {'state_timeout_s': 1.0, 'reference_timeout_s': 0.2, 'largest_error': 10.0}
CONTROL = 'ctc_controller: control'


def policies(pid):
    """Return the scheduling policies of all threads of a process."""
    return {os.sched_getscheduler(int(task.name)) for task in Path(f'/proc/{pid}/task').iterdir()}


def asked(*prefix):
    """Return what a process of its own is told when it asks."""
    done = subprocess.run(
        [*prefix, sys.executable, '-c', ASK], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_loop_has_the_priority_and_its_learner_has_not():
    if 'no SCHED_FIFO' in asked():
        pytest.skip('this user may not ask for SCHED_FIFO (rtprio in limits.conf)')
    loop = {**COMMON, **PATIENT, 'real_time_priority': PRIORITY}
    nodes = ('control_loop', 'fifo', loop), ('ddm_simulator', 'fifo', COMMON)
    with Client(namespace='fifo') as client, graph(*nodes) as (process, _):
        health = Health(client)
        # The generator has asked by then, so that the learner is started with the priority.
        for node in 'ctc_controller', 'ddm_simulator':
            bring_up(client, node)
        client.spin_until(
            lambda: health.values(CONTROL).get('mode') == 'holding', START_S, 'it is held'
        )
        assert f'SCHED_FIFO {PRIORITY}' in health.values(CONTROL)['scheduling']
        assert os.SCHED_FIFO in policies(process.process.pid)
        learner = int(health.values('ctc_controller: learning')['learner_pid'])
        assert policies(learner) == {os.SCHED_OTHER}
        assert len(list(Path(f'/proc/{learner}/task').iterdir())) == 1


def test_one_line_says_what_is_not_permitted():
    if os.geteuid() == 0:
        dropped = shutil.which('setpriv'), shutil.which('prlimit')
        if None in dropped:
            pytest.skip('root may do everything, and setpriv and prlimit are not installed')
        setpriv, prlimit = dropped
        without = [prlimit, '--rtprio=0', '--memlock=65536']
        without += [setpriv, '--bounding-set', '-sys_nice,-ipc_lock,-sys_resource']
        told = asked(*without)
    else:
        told = asked()
        if 'no SCHED_FIFO' not in told:
            pytest.skip('this user is permitted to ask for SCHED_FIFO')
    assert told.count('\n') == 0
    assert 'no SCHED_FIFO (Operation not permitted; needs rtprio in limits.conf)' in told
    assert 'memory' in told
