"""The learner in a process of its own: the same updates, and its death costs one window."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from errors import refused

from robot_id.control import Ilic
from robot_id.control.learning.beside_loop import LearnerProcess, Learning
from robot_id.control.learning.window import Window
from robot_id.control.runtime.torque_control import Command
from robot_id.dynamics import inverse_dynamics
from robot_id.exceptions import ControlError
from robot_id.trajectory.default import motion_of

ROBOT = 'emps'

RATE = 200.0


@pytest.fixture(scope='module')
def options(robot):
    return {'parameters': 1.3 * robot.truth(), 'rate_hz': RATE, 'window_s': 2.0}


@pytest.fixture
def process(robot, options):
    learner = LearnerProcess(robot, options)
    yield learner
    learner.close()


@pytest.fixture(scope='module')
def window(robot):
    reference = motion_of(robot, 'random', 2.0, 1).sampled(RATE)
    q, dq, ddq = reference.position[:400], reference.velocity[:400], reference.acceleration[:400]
    slope = robot.description.coulomb_slope
    return Window(400, q, dq, ddq, inverse_dynamics(robot, robot.truth(), q, dq, ddq, slope))


def test_it_finds_what_the_same_learner_finds_here(robot, options, process, window):
    ilic = Ilic(robot, **options)
    here = ilic.identify(window)
    there = process.identify(window, options['parameters'], 15.0)
    assert here.accepted
    assert there.accepted
    np.testing.assert_array_equal(there.parameters, here.parameters)


def test_kill_9_costs_one_window(options, process, window):
    process.identify(window, options['parameters'], 15.0)
    os.kill(process.pid, signal.SIGKILL)
    with refused(ControlError, code='process_ended'):
        process.identify(window, options['parameters'], 15.0)
    assert process.identify(window, options['parameters'], 15.0).accepted


START = """
import sys
from robot_id.control import Ilic
from robot_id.control.learning.beside_loop import rest_window
from robot_id.robot import load_robot
robot = load_robot('emps')
ilic = Ilic(robot, robot.truth(), 200.0, 2.0)
ilic.identify(rest_window(ilic))
print(*[name for name in sys.modules if name.startswith('scipy.')])
"""


def test_a_new_learner_loads_no_library_that_takes_longer_than_the_rest():
    command = [sys.executable, '-c', START]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert 'scipy.linalg' in loaded
    assert not {'scipy.signal', 'scipy.stats', 'scipy.interpolate'} & set(loaded)


def test_parameters_that_were_set_meanwhile_win(robot, options, process, window):
    learning = Learning(Ilic(robot, **options), process)

    def feed(rows):
        found = []
        for k in rows:
            point = np.array([window.position[k], window.velocity[k], window.acceleration[k]])
            found.append(learning.feed(Command(window.torque[k], point, True)))
        return [update for update in found if update is not None]

    def wait():
        deadline = time.monotonic() + 60.0
        while not learning.windows + learning.refused + learning.lost:
            assert time.monotonic() < deadline
            time.sleep(0.01)
            feed([0])

    assert feed(range(400)) == []
    chosen = 1.1 * robot.truth()
    learning.set_parameters(chosen)
    wait()
    assert 'set while' in learning.last_refusal
    np.testing.assert_array_equal(learning.ilic.parameters, chosen)
