"""servo_oe finds what it never saw: a MuJoCo arm, unidentifiable cases, a chosen structure."""

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import data as recordings
from robot_id.cli.main import cli
from robot_id.data.dataset import Dataset, Run
from robot_id.exceptions import DataError, OptionError
from robot_id.export.registry import export
from robot_id.methods import registry
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from robot_id.tasks.checks import check
from robot_id.tasks.identify import Request, identify

PENDULUM = """<robot name="pendulum"><link name="base"/><link name="arm"><inertial>
<origin xyz="0 0 -0.1"/><mass value="0.5"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0"
ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="base"/>
<child link="arm"/><axis xyz="AXIS"/></joint></robot>"""
TRUTH = {'armature.j': 2e-3, 'viscous.j': 0.01, 'bias.j': 0.02, 'delay': 0.008, 'coulomb.j': 0.03}


def pendulum(tmp_path, axis='0 1 0'):
    path = tmp_path / 'pendulum.urdf'
    path.write_text(PENDULUM.replace('AXIS', axis))
    return load_robot(path)


def recorded(robot, options, truth, runs=2, seed=0, noise=3e-4, rate=100.0, off_after=np.inf):
    """Return runs that the loop itself simulates with other numbers, and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(4 * rate)) / rate
    found = []
    for k in range(runs):
        goal = (0.8 * np.sin((2 + k) * t) * np.sin(1.1 * t + k))[:, None]
        on = (t < off_after).astype(float)[:, None]
        blank = Run(t, np.full_like(goal, truth.get('bias.j', 0.0)), reference_position=goal,
                    enabled=on)  # fmt: skip
        problem = registry.create('servo_oe', options).problem(
            robot, Dataset(('j',), (blank,)), free_start=False
        )
        x = np.array([u.inner(truth[u.name]) for u in problem.unknowns])
        y = problem.simulate(x, 0, sensitive=False)[0]
        measured = y + rng.normal(0, noise, y.shape)
        found.append(Run(t, measured, reference_position=goal, enabled=on))
    return Dataset(('j',), tuple(found), source='simulated')


OPTIONS = {'fixed': 'kp=3, kd=0.05', 'starts': 1}


def test_the_truth_is_within_the_intervals_and_every_door_works(tmp_path):
    robot = pendulum(tmp_path)
    data = recorded(robot, OPTIONS, TRUTH)
    found = identify(Request(robot, data, 'servo_oe', OPTIONS))
    result = found.result
    z = [
        (result[name] - value) / result.std[result.names.index(name)]
        for name, value in TRUTH.items()
    ]
    assert np.abs(z).max() < 4.0
    assert np.all(result.std > 0.0)
    assert result.units[:2] == ('kg.m2', 'N.m.s/rad')
    assert result.verdict == 'usable'
    assert result.holdout_error_percent < 2.0
    assert [row['horizon_s'] for row in result.extras['horizons']] == [0.1, 0.5, 2.0, None]
    assert found.prediction.quantity == 'position'
    path = tmp_path / 'r.json'
    result.save(path)
    text = json.loads(path.read_text())
    assert text['method'] == 'servo_oe'
    result = Result.load(path)  # no limit is null in the file
    mujoco = pytest.importorskip('mujoco')
    made = export('mjcf', result, path, str(tmp_path / 'pendulum.urdf'))
    model = mujoco.MjModel.from_xml_string(made.text)
    assert model.dof_armature[0] == pytest.approx(result['armature.j'])
    assert model.dof_frictionloss[0] == pytest.approx(result['coulomb.j'])
    assert model.actuator_gainprm[0, 0] == pytest.approx(3.0)
    # MuJoCo under the recorded commands, given late, moves as the recording does.
    run, bias, moved = data.runs[0], result['bias.j'], []
    model.opt.timestep = 0.0005
    state = mujoco.MjData(model)
    state.qpos[0] = run.position[0, 0] - bias
    for k in range(len(run)):
        moved.append(state.qpos[0] + bias)
        for step in range(20):
            at = max(int((0.01 * k + 0.0005 * step - result['delay']) / 0.01 + 1e-6), 0)
            state.ctrl[0] = run.reference_position[at, 0] - bias
            mujoco.mj_step(model, state)
    assert np.mean(np.abs(np.array(moved) - run.position[:, 0])) < 5e-3
    assert 'armature' in export('joints', result, path, str(tmp_path / 'pendulum.urdf')).text
    with pytest.raises(DataError, match='base parameters'):
        export('c', result, path, str(tmp_path / 'pendulum.urdf'))


def test_the_report_shows_simulated_against_measured_position_of_every_run(tmp_path):
    robot = pendulum(tmp_path)
    known = recorded(robot, OPTIONS, TRUTH, runs=3)
    arguments = ['identify', '--robot', tmp_path / 'pendulum.urdf', '--method', 'servo_oe']
    for name, run in zip('cab', known.runs):
        recordings.save(replace(known, runs=(run,)), tmp_path / f'{name}.csv')
        arguments += ['--data', tmp_path / f'{name}.csv']
    arguments += ['--set', 'fixed=kp=3, kd=0.05']
    arguments += ['--set', 'starts=1', '--report', tmp_path / 'r.html']
    arguments += ['--json', tmp_path / 'r.json']
    done = CliRunner().invoke(cli, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    page = (tmp_path / 'r.html').read_text()
    assert 'Measured and simulated position' in page
    text = re.search(r'id="numbers">(.*?)</script>', page, re.S).group(1)
    (joint,) = json.loads(text)['sets']['torques']['joints']
    result = Result.load(tmp_path / 'r.json')
    simulated = registry.create('servo_oe', OPTIONS).errors(robot, result, known)
    shown_runs = {shown['label']: shown for shown in joint['runs']}
    rows = {row['name']: row for row in result.extras['runs']}
    table = page[page.index('<section id="positions">') :].partition('</section>')[0]
    for name, run, position in zip(('c.csv', 'a.csv', 'b.csv'), known.runs, simulated):
        assert name in table
        measured, residual = (
            np.frombuffer(base64.b64decode(shown_runs[name][key]), '<i2') * joint[f'{key}_step']
            for key in ('measured', 'residual')
        )
        error = run.position[:, 0] - position[:, 0]
        assert np.allclose(
            measured, run.position[:, 0] - run.position.mean(), atol=joint['measured_step']
        )
        assert np.allclose(residual, error, atol=joint['residual_step'])
        assert rows[name]['rms_error'] == pytest.approx(np.sqrt(np.mean(error**2)))


def test_a_descent_through_stick_ends_and_leaves_out_what_is_not_there(tmp_path):
    """Slow reversals: the cost has steps where the joint stops; no load friction is there."""
    robot = pendulum(tmp_path)
    rich = OPTIONS | {'friction': 'quadratic', 'fixed': 'kp=3, kd=0.05, vs=0.3'}
    absent = {
        f'{name}.j': 0.0 for name in ('stribeck', 'load_motor', 'load_external',
        'stribeck_load_motor', 'stribeck_load_external', 'quadratic_load_motor',
        'quadratic_load_external')
    }  # fmt: skip
    truth = TRUTH | {'coulomb.j': 0.15} | absent
    data = recorded(robot, rich, truth, runs=3, seed=77)
    result = registry.create('servo_oe', rich).estimate(robot, data)
    assert result.converged
    assert sum(result[name] == 0.0 for name in absent) >= 3
    assert result['armature.j'] == pytest.approx(TRUTH['armature.j'], rel=0.1)
    assert max(row['mean_absolute_error'] for row in result.extras['runs']) < 1e-3


def test_a_bias_that_gravity_does_not_show_is_named(tmp_path):
    robot = pendulum(tmp_path, axis='0 0 1')
    data = recorded(robot, OPTIONS, TRUTH, runs=1)
    result = registry.create('servo_oe', OPTIONS).estimate(robot, data)
    (line,) = result.extras['not_identifiable']
    assert line.startswith("'bias.j'")
    assert 'gravity does not load the joint' in line
    assert np.isnan(result.std[result.names.index('bias.j')])
    assert np.isfinite(result.std[result.names.index('delay')])


# A servo of 345:1 on a link of some grams: the rotor weighs a thousand times what it carries.
GEARED = {'armature.j': 0.028, 'viscous.j': 0.4, 'bias.j': 0.0, 'delay': 0.02, 'coulomb.j': 0.08}
GEARED_OPTIONS = {'fixed': 'kp=17.8', 'starts': 1}


def geared(tmp_path, axis):
    path = tmp_path / 'geared.urdf'
    text = PENDULUM.replace('AXIS', axis).replace('mass value="0.5"', 'mass value="0.01"')
    path.write_text(text.replace('1e-4', '1e-6'))
    return load_robot(path)


def test_a_rotor_far_heavier_than_its_link_is_found_from_a_slow_recording(tmp_path):
    robot = geared(tmp_path, '0 1 0')
    data = recorded(robot, GEARED_OPTIONS, GEARED, rate=30.0)
    result = registry.create('servo_oe', GEARED_OPTIONS).estimate(robot, data)
    for name in ('armature.j', 'viscous.j', 'coulomb.j', 'delay'):
        place = result.names.index(name)
        assert abs(result.values[place] - GEARED[name]) < 4.0 * result.std[place], name
        assert result.std[place] < 0.1 * GEARED[name], name


def test_a_refit_of_the_same_runs_is_the_same_answer(tmp_path):
    """Hold-out errors are of refits: what the data determine, no start may move."""
    robot = geared(tmp_path, '0 1 0')
    data = recorded(robot, GEARED_OPTIONS, GEARED, rate=30.0)
    method = registry.create('servo_oe', GEARED_OPTIONS)
    result = method.estimate(robot, data)
    again = method.refit(robot, data, result)
    assert np.abs((again.values - result.values) / result.std).max() < 0.5


def test_the_hold_out_is_what_the_user_names(tmp_path):
    robot = pendulum(tmp_path)
    data = recorded(robot, OPTIONS, TRUTH, runs=3)
    one, other = (replace(data, runs=(run,)) for run in data.runs[:2])
    turned = Run(other.runs[0].time, -other.runs[0].position,
                 reference_position=other.runs[0].reference_position)  # fmt: skip
    wrong = replace(other, runs=(turned,))

    def error(fitted, holdout):
        request = Request(robot, fitted, 'servo_oe', OPTIONS, holdout=holdout)
        return identify(request).result.holdout_error_percent

    assert error(one, other) < 2.0
    assert error(one, wrong) > 100.0
    assert np.isnan(error(one, 0.0))
    # The end of a single recording; its start fits alike.
    assert error(one, 0.2) < 2.0
    reversed_end = one.runs[0].position.copy()
    reversed_end[-80:] *= -1.0
    broken = Run(one.runs[0].time, reversed_end,
                 reference_position=one.runs[0].reference_position)  # fmt: skip
    assert error(replace(one, runs=(broken,)), 0.2) > 50.0
    with pytest.raises(DataError, match=r'nothing\.csv'):
        error(one, str(tmp_path / 'nothing.csv'))


@pytest.mark.parametrize('offset', [0.0, 1.2])
def test_another_zero_than_that_of_the_robot_file_is_no_bias(tmp_path, offset):
    robot = pendulum(tmp_path)
    data = recorded(robot, OPTIONS, TRUTH)
    runs = [
        Run(r.time, r.position + offset, reference_position=r.reference_position + offset)
        for r in data.runs
    ]
    result = identify(Request(robot, replace(data, runs=tuple(runs)), 'servo_oe', OPTIONS)).result
    assert result.verdict == ('do_not_use' if offset else 'usable')
    assert bool(offset) == any("joint 'j': its zero" in line for line in result.reasons)


def test_a_delay_beyond_the_longest_is_named(tmp_path):
    robot = pendulum(tmp_path)
    data = recorded(robot, OPTIONS, TRUTH)
    options = OPTIONS | {'longest_delay': 0.004}
    result = identify(Request(robot, data, 'servo_oe', options)).result
    assert result.extras['at_bound'] == ['delay']
    assert any("'delay' is at its bound" in line for line in result.reasons)


def test_degrees_taken_as_radians_are_found_without_torques(tmp_path):
    limit = '<limit lower="-2" upper="2" effort="1" velocity="100"/></joint>'
    path = tmp_path / 'limited.urdf'
    text = PENDULUM.replace('AXIS', '0 1 0').replace('continuous', 'revolute')
    path.write_text(text.replace('</joint>', limit))
    robot = load_robot(path)
    data = recorded(robot, OPTIONS, TRUTH, runs=1)
    assert not check(robot, data)
    (run,) = data.runs
    wrong = Run(run.time, np.rad2deg(run.position),
                reference_position=np.rad2deg(run.reference_position))  # fmt: skip
    (finding,) = check(robot, replace(data, runs=(wrong,)))
    assert finding.code == 'position_unit'
    assert 'taken as deg' in finding.message
    request = Request(robot, replace(data, runs=(wrong,)), 'servo_oe', OPTIONS, holdout=0.0)
    assert identify(request).result.verdict == 'do_not_use'


def test_without_gravity_a_free_gain_leaves_one_factor_open(tmp_path):
    robot = geared(tmp_path, '0 0 1')
    data = recorded(robot, GEARED_OPTIONS, GEARED, rate=30.0)
    result = registry.create('servo_oe', {'free': 'kp=10', 'starts': 1}).estimate(robot, data)
    scaled = ('kp.j', 'armature.j', 'viscous.j', 'coulomb.j')
    line = next(one for one in result.extras['not_identifiable'] if 'kp.j' in one)
    assert all(f"'{name}'" in line for name in scaled)
    assert 'gravity does not load the joint' in line
    assert all(np.isnan(result.std[result.names.index(name)]) for name in scaled)
    ratio = result['armature.j'] / result['kp.j']
    assert ratio == pytest.approx(GEARED['armature.j'] / 17.8, rel=0.02)
    assert np.isfinite(result.std[result.names.index('delay')])
    assert result.extras['scale'].startswith('ratios for j')


def test_a_bias_is_named_where_the_direction_of_gravity_is_free(tmp_path):
    """A symmetric motion about the lowest point: m x tilts the pendulum as a bias does."""
    robot = pendulum(tmp_path)
    data = recorded(robot, OPTIONS, TRUTH)
    options = OPTIONS | {'inertia': 'gravity'}
    result = registry.create('servo_oe', options).estimate(robot, data)
    (line,) = result.extras['not_identifiable']
    assert "'bias.j'" in line
    assert "'MX1'" in line
    assert 'fix the bias or the inertias' in line
    assert all(np.isnan(result.std[result.names.index(name)]) for name in ('bias.j', 'MX1'))
    assert np.isfinite(result.std[result.names.index('coulomb.j')])
    # The angle at which the pendulum hangs is known: that of both together.
    angle = result['bias.j'] + np.arctan2(result['MX1'], -result['MZ1'])
    assert angle == pytest.approx(TRUTH['bias.j'], abs=2e-3)


def test_one_gain_and_no_gravity_leave_two_factors_of_a_motor_and_its_bias_open(tmp_path):
    robot = pendulum(tmp_path, axis='0 0 1')
    options = {'drive': 'voltage', 'fixed': 'kp=2', 'starts': 1}
    data = recorded(robot, options, TRUTH | {'kt.j': 0.5, 'R.j': 1.0})
    result = registry.create('servo_oe', options).estimate(robot, data)
    lines = result.extras['not_identifiable']
    assert len(lines) == 3
    for name in ('kt.j', 'R.j', 'armature.j', 'viscous.j', 'coulomb.j', 'bias.j'):
        assert any(f"'{name}'" in line for line in lines), name
        assert np.isnan(result.std[result.names.index(name)]), name
    assert result.extras['scale'].startswith('ratios for j')


def test_a_motor_that_is_never_off_hides_its_constant_behind_viscous_friction(tmp_path):
    """One gain: u shows kt / R and kt^2 / R + Fv, two numbers for three unknowns."""
    robot = pendulum(tmp_path)
    options = {'drive': 'voltage', 'fixed': 'kp=2', 'starts': 1}
    truth = TRUTH | {'kt.j': 0.5, 'R.j': 1.0}
    data = recorded(robot, options, truth)
    result = registry.create('servo_oe', options).estimate(robot, data)
    (line,) = result.extras['not_identifiable']
    assert result.extras['scale'].startswith('absolute')
    assert "'kt.j'" in line
    assert "'R.j'" in line
    assert 'the motor is never off' in line
    assert np.isnan(result.std[result.names.index('kt.j')])
    ratio = result['kt.j'] / result['R.j']
    assert ratio == pytest.approx(0.5, rel=0.02)


def test_a_motor_that_is_off_at_times_shows_its_constant_but_no_mass_without_gravity(tmp_path):
    """Kt is that of its back-EMF; torques, and R with them, are known up to one factor."""
    robot = pendulum(tmp_path, axis='0 0 1')
    options = {'drive': 'voltage', 'fixed': 'kp=2', 'starts': 1}
    data = recorded(robot, options, TRUTH | {'kt.j': 0.5, 'R.j': 1.0}, off_after=2.5)
    result = registry.create('servo_oe', options).estimate(robot, data)
    assert result['kt.j'] == pytest.approx(0.5, rel=0.05)
    assert np.isfinite(result.std[result.names.index('kt.j')])
    assert any("'R.j'" in line for line in result.extras['not_identifiable'])
    assert result.extras['scale'].startswith('ratios for j')


def test_two_dampings_of_a_drive_are_told_apart_by_nothing(tmp_path):
    robot = pendulum(tmp_path)
    data = recorded(robot, OPTIONS, TRUTH)
    options = {'fixed': 'kp=3', 'free': 'kd=0.05', 'starts': 1}
    result = registry.create('servo_oe', options).estimate(robot, data)
    (line,) = result.extras['not_identifiable']
    assert 'both damp the motion alike' in line
    both = result['kd.j'] + result['viscous.j']
    assert both == pytest.approx(0.05 + TRUTH['viscous.j'], rel=0.02)


def test_one_gain_below_the_duty_limit_shows_a_product(tmp_path):
    robot = pendulum(tmp_path)
    options = {'drive': 'voltage', 'free': 'kp=2', 'starts': 1}
    data = recorded(robot, options, TRUTH | {'kt.j': 0.5, 'R.j': 1.0, 'kp.j': 2.0})
    result = registry.create('servo_oe', options).estimate(robot, data)
    lines = result.extras['not_identifiable']
    assert any("'kp.j'" in line and 'only their product acts' in line for line in lines)


def test_free_gain_and_free_masses_are_ratios(tmp_path):
    robot = pendulum(tmp_path)
    options = {'free': 'kp=3', 'fixed': 'kd=0.05', 'inertia': 'free', 'starts': 1}
    data = recorded(robot, OPTIONS, TRUTH)
    result = registry.create('servo_oe', options).estimate(robot, data)
    assert result.extras['scale'].startswith('ratios')


def test_mistakes_are_refused_in_one_line(tmp_path):
    robot = pendulum(tmp_path)
    data = recorded(robot, OPTIONS, TRUTH, runs=1)
    for options in (
        {},
        {'fixed': 'kq=3'},
        {'fixed': 'kp=3, kp.elbow=2'},
        {'fixed': 'kp=x'},
        {'fixed': 'kp=3', 'prior': 'armature=0.1'},
        {'fixed': 'kp=3', 'friction': 'colomb'},
    ):
        with pytest.raises(OptionError):
            registry.create('servo_oe', options).estimate(robot, data)
    lonely = Dataset(('j',), (Run(data.runs[0].time, data.runs[0].position),))
    with pytest.raises(DataError, match='reference_position'):
        registry.create('servo_oe', OPTIONS).estimate(robot, lonely)
    with pytest.raises(DataError, match='servo_oe'):
        identify(Request(robot, data, 'idim_wls'))


def test_a_prior_pulls_where_the_data_say_little(tmp_path):
    robot = pendulum(tmp_path, axis='0 0 1')
    data = recorded(robot, OPTIONS, TRUTH, runs=1)
    options = OPTIONS | {'prior': 'bias=0.015+-0.001'}
    result = registry.create('servo_oe', options).estimate(robot, data)
    place = result.names.index('bias.j')
    assert result.values[place] == pytest.approx(0.015, abs=1e-4)
    assert result.std[place] == pytest.approx(0.001, rel=0.05)


def test_the_delay_of_mujoco_is_half_of_its_step_short(tmp_path):
    """Euler's v+ = v + h a(q, command) moves the velocity of t + h/2 by the command of t."""
    mujoco = pytest.importorskip('mujoco')
    robot = pendulum(tmp_path)
    h, rate, count = 0.004, 50.0, 400
    text = (tmp_path / 'pendulum.urdf').read_text()
    t = np.arange(count) / rate
    goal = 0.8 * np.sin(3 * t) * np.sin(1.1 * t)
    found = {}
    for name in ('EULER', 'RK4'):
        spec = mujoco.MjSpec.from_string(text)
        spec.option.timestep = h
        spec.option.integrator = getattr(mujoco.mjtIntegrator, f'mjINT_{name}')
        servo = spec.add_actuator(name='j', target='j')
        servo.trntype = mujoco.mjtTrn.mjTRN_JOINT
        servo.set_to_position(kp=3.0, kv=0.05)
        model = spec.compile()
        model.dof_armature[:], model.dof_damping[:] = 2e-3, 0.01
        state, moved = mujoco.MjData(model), []
        for k in range(count):
            moved.append(state.qpos[0])
            for step in range(5):
                # Two steps late: 8 ms.
                state.ctrl[0] = goal[max(k - (step < 2), 0)]
                mujoco.mj_step(model, state)
        noise = np.random.default_rng(0).normal(0, 1e-4, count)
        run = Run(t, (np.array(moved) + noise)[:, None], reference_position=goal[:, None])
        options = OPTIONS | {'friction': 'viscous'}
        result = registry.create('servo_oe', options).estimate(robot, Dataset(('j',), (run,)))
        found[name] = result['delay']
    assert found['RK4'] == pytest.approx(2 * h, abs=0.05 * h)
    assert found['EULER'] == pytest.approx(1.5 * h, abs=0.05 * h)


def test_six_position_servos_of_mujoco():
    pytest.importorskip('mujoco')
    from tools import servo_study

    robot, known = servo_study.robot_of(), servo_study.truth()
    data = servo_study.simulate(11, 50.0, seconds=4.0)
    method = registry.create('servo_oe', servo_study.options(0.002))
    result = method.estimate(robot, data)
    target = np.array([known[name] for name in result.names])
    z = (result.values - target) / result.std
    assert np.isnan(z).sum() == 1  # the bias of the vertical axis
    assert np.nanmax(np.abs(z)) < 5.0
    assert np.nanmean(np.abs(z) < 1.96) > 0.75
    assert result['delay'] == pytest.approx(servo_study.DELAY, abs=2e-4)
