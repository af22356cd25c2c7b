"""The servo loop: stick, exact sensitivities, closed forms and MuJoCo as a foreign judge."""

import numpy as np
import pytest

from robot_id.data.dataset import Dataset, Run
from robot_id.methods import registry
from robot_id.robot import load_robot

ARM = """<robot name="two"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.1"/><mass value="0.6"/>
<inertia ixx="2e-3" iyy="2e-3" izz="5e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0.01 0 -0.08"/><mass value="0.3"/>
<inertia ixx="8e-4" iyy="8e-4" izz="2e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="a" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
</joint><joint name="b" type="continuous"><parent link="upper"/><child link="lower"/>
<origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/></joint></robot>"""
GAINS = {
    'pd': 'kp=3, kd=0.05, limit=1.2',
    'voltage': 'kp=2, kd=0.01, ki=1',
    'current': 'kp=8, kd=0.1, ki=2, current_limit=3',
}


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp('servo') / 'two.urdf'
    path.write_text(ARM)
    return load_robot(path)


def recording(rate=100.0, seconds=1.5, still=False):
    t = np.arange(round(seconds * rate)) / rate
    wave = np.stack([np.sin(4 * t), 0.7 * np.sin(6 * t + 1) - 0.7 * np.sin(1)], axis=1)
    reference = 0.0 * wave if still else 0.6 * wave
    enabled = np.ones_like(wave)
    enabled[len(t) // 2 : len(t) // 2 + 20, 1] = 0.0
    run = Run(
        t, np.zeros_like(wave), reference_position=reference, supply=np.full_like(wave, 7.0),
        temperature=np.full_like(wave, 40.0), enabled=enabled,
    )  # fmt: skip
    return Dataset(('a', 'b'), (run,))


@pytest.mark.parametrize('drive', GAINS)
@pytest.mark.parametrize('command', ['held', 'linear'])
def test_sensitivities_are_those_of_the_simulated_samples(arm, drive, command):
    options = {
        'drive': drive, 'command': command, 'friction': 'quadratic', 'inertia': 'gravity',
        'free': GAINS[drive],
    }  # fmt: skip
    problem = registry.create('servo_oe', options).problem(arm, recording())
    rng = np.random.default_rng(3)
    x = problem.start()
    for k, u in enumerate(problem.unknowns):
        if not u.log:
            x[k] = rng.uniform(0.2, 0.8)
    x[problem.shared :] = 0.1
    position, sensitivity = problem.simulate(x, 0, sensitive=True)
    assert np.array_equal(position, problem.simulate(x, 0, sensitive=False)[0])
    assert np.ptp(position) > 0.1
    for k in range(problem.size):
        step = np.zeros(problem.size)
        step[k] = 1e-6
        ahead, behind = (problem.simulate(x + s, 0, sensitive=False)[0] for s in (step, -step))
        slope = (ahead - behind) / 2e-6
        assert np.abs(slope - sensitivity[:, :, k]).max() < 1e-5 * max(1.0, np.abs(slope).max()), k


def test_a_joint_at_rest_stays_at_rest_below_its_breakaway_torque(arm):
    options = {'fixed': 'kp=3, kd=0.05, coulomb.a=0.2, coulomb.b=0.2, bias=0, delay=0, viscous=0'}
    data = recording(still=True)
    pushed = np.zeros_like(data.runs[0].position) + [0.03, 0.05]
    run = Run(data.runs[0].time, np.zeros_like(pushed), reference_position=pushed)
    problem = registry.create('servo_oe', options).problem(arm, Dataset(('a', 'b'), (run,)))
    x = problem.start()
    assert np.ptp(problem.simulate(x, 0, sensitive=False)[0], axis=0).max() == 0.0
    run = Run(run.time, run.position, reference_position=4.0 * pushed)
    problem = registry.create('servo_oe', options).problem(arm, Dataset(('a', 'b'), (run,)))
    assert np.ptp(problem.simulate(x, 0, sensitive=False)[0], axis=0).max() > 0.01


@pytest.mark.parametrize('step', [0.0005, 0.002, 0.01])
def test_coulomb_friction_stops_a_free_joint_where_the_closed_form_says(tmp_path, step):
    """An armature alone without gravity: v0^2 J / (2 c) until it stops, at any step."""
    text = ARM.replace('xyz="0 1 0"', 'xyz="0 0 1"').replace('0.01 0 -0.08', '0 0 -0.08')
    path = tmp_path / 'flat.urdf'
    path.write_text(text)
    robot = load_robot(path)
    t = np.arange(200) / 100.0
    q = np.zeros((200, 2))
    q[:, 0] = 1.0 * t  # the first velocity is its slope
    run = Run(t, q, reference_position=0 * q, enabled=0 * q)
    options = {
        'longest_step': step, 'friction': 'coulomb', 'horizon': 0,
        'fixed': 'kp=1, armature.a=0.01, coulomb.a=0.02, coulomb.b=10, viscous=0, bias=0, delay=0',
    }  # fmt: skip
    problem = registry.create('servo_oe', options).problem(robot, Dataset(('a', 'b'), (run,)))
    position = problem.simulate(problem.start(), 0, sensitive=False)[0][:, 0]
    J = 0.01 + 5e-4 + 2e-4
    assert position[-1] == pytest.approx(J / (2 * 0.02), rel=2 * step + 1e-3)
    assert np.ptp(position[-50:]) == 0.0


def test_a_piece_of_a_run_knows_the_commands_before_it(arm):
    """A step three samples before the piece moves a joint that hangs at rest ten samples later."""
    known = 'kp=3, kd=0.3, armature=0.01, viscous=0.01, coulomb=0.1, delay=0.1, bias=0'
    options = {'fixed': known, 'horizon': 0.5}
    method = registry.create('servo_oe', options)
    t = np.arange(100) / 100.0
    goal = np.zeros((100, 2))
    goal[47:] = 0.5
    asked = Run(t, 0 * goal, reference_position=goal)
    whole = method.problem(arm, Dataset(('a', 'b'), (asked,)), free_start=False)
    moved, _ = whole.simulate(whole.start(), 0, sensitive=False)
    assert np.ptp(moved[:57]) == 0.0
    assert np.ptp(moved) > 0.1
    data = Dataset(('a', 'b'), (Run(t, moved, reference_position=goal),))
    problem = method.problem(arm, data)
    assert [len(piece.measured) for piece in problem.runs] == [50, 50]
    found, _ = problem.simulate(problem.start(), 1, sensitive=False)
    assert np.abs(found - moved[50:]).max() < 1e-9
    # An integral has a state of its own, which a piece does not show: whole runs.
    method = registry.create('servo_oe', options | {'fixed': 'kp=3, ki=1'})
    assert len(method.problem(arm, data).runs) == 1
