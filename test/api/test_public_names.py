"""The public names: what a script or a notebook of a user does, on a csv and on arrays."""

import inspect
import json
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pinocchio as pin
import pytest

import robot_id as rid
from robot_id.data import save
from robot_id.exceptions import DataError, DescriptionError, OptionError
from robot_id.extras import MissingExtra

matplotlib.use('Agg')
ROOT = Path(__file__).resolve().parents[2]
URDF = ROOT / 'urdf' / 'scara.urdf'
XACRO = """<robot name="one" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="1"/>
  <link name="base"/>
  <link name="arm"><inertial><mass value="$(arg mass)"/><origin xyz="0.1 0 0"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="3"/></joint>
</robot>
"""


@pytest.fixture(scope='module')
def robot():
    return rid.load_robot('scara')


@pytest.fixture(scope='module')
def recorded(robot):
    return rid.simulate(robot, seed=1)


@pytest.fixture(scope='module')
def other(robot):
    return rid.simulate(robot, seed=2, seconds=6)


@pytest.fixture(scope='module')
def csv(recorded, tmp_path_factory):
    path = tmp_path_factory.mktemp('api') / 'run.csv'
    save(recorded, path)
    return path


def arrays(dataset):
    run = dataset.runs[0]
    return run.time, run.position, run.torque


def the_snippet(robot, data, other, folder):
    """Do what the page of the Python API shows, line by line."""
    assert str(rid.check(robot, data)) == 'no findings'
    fit = rid.identify(robot, data, method='idim_wls', friction='auto', physical=True)
    shown = repr(fit)
    assert fit.verdict.level in shown
    assert 'kg.m2' in shown
    assert '<table>' in fit._repr_html_()
    frame = fit.parameters.to_frame()
    assert list(frame.index) == list(fit.parameters)
    b = len(fit.parameters)
    assert fit.covariance.shape == (b, b)
    assert isinstance(fit.verdict.reasons, tuple)
    time, q, _ = arrays(data)
    dq = ddq = np.zeros_like(q)
    still = fit.model.torque(q, dq, ddq)
    assert still.shape == q.shape
    assert fit.model.inertia(q[0]).shape == (2, 2)
    assert fit.model.gravity(q).shape == q.shape
    along = fit.model.torque_along(time, q)
    assert along.shape == q.shape
    assert fit.validate(other).error_percent < 2.0
    again = rid.identify(robot, data, method=rid.IdimOls())
    both = fit.compare(again)
    assert 'apart' in str(both)
    assert list(both.to_frame().index) == list(fit.parameters)
    assert len(fit.plot_torques().axes) == 4
    assert len(fit.plot_friction().axes) == 2
    fit.report(folder / 'r.html')
    fit.export(folder / 'arm.urdf')
    fit.save(folder / 'r.json')
    loaded = rid.load_fit(folder / 'r.json')
    np.testing.assert_allclose(loaded.model.torque_along(time, q), along, rtol=1e-9, atol=1e-9)
    assert loaded.warnings == fit.result.warnings
    model = pin.buildModelFromUrdf(str(folder / 'arm.urdf'))
    written = pin.crba(model, model.createData(), q[0])
    np.testing.assert_allclose(
        np.triu(written), np.triu(fit.model.inertia(q[0])), rtol=1e-6, atol=1e-9
    )
    return fit


def test_the_snippet_on_a_csv(robot, csv, other, tmp_path):
    data = rid.load(csv, robot=robot)
    fit = the_snippet(robot, data, other, tmp_path)
    truth = robot.truth()
    known = [list(fit.parameters.names).index(name) for name in robot.base.names]
    std = fit.parameters.std[known]
    assert np.all(np.abs(fit.parameters.values_array[known] - truth) < 5.0 * std + 1e-4)


def test_the_snippet_on_arrays_gives_the_same(robot, recorded, csv, other, tmp_path):
    time, q, tau = arrays(recorded)
    data = rid.Dataset.from_arrays(time=time, position=q, torque=tau)
    fit = the_snippet(robot, data, other, tmp_path)
    lists = rid.Dataset.from_arrays(
        time=time.tolist(), position=q.tolist(), torque=tau.tolist(), joint_names=robot.joint_names
    )
    same = rid.identify(robot, lists, friction='auto', physical=True)
    np.testing.assert_array_equal(same.parameters.values_array, fit.parameters.values_array)


def test_a_data_frame_is_the_csv(robot, recorded):
    pandas = pytest.importorskip('pandas')
    time, q, tau = arrays(recorded)
    columns = {'time': time}
    for j, name in enumerate(robot.joint_names):
        columns[f'position.{name}'], columns[f'torque.{name}'] = q[:, j], tau[:, j]
    frame = pandas.DataFrame(columns)
    for given in (frame, frame.set_index('time'), frame.assign(label='x')):
        data = rid.Dataset.from_dataframe(given)
        np.testing.assert_array_equal(data.runs[0].torque, tau)
    with pytest.raises(DataError) as caught:
        rid.Dataset.from_dataframe(frame.drop(columns='time'))
    assert caught.value.key == 'time'


def test_own_column_names_need_a_mapping_which_may_be_a_dict(robot, recorded, tmp_path):
    pandas = pytest.importorskip('pandas')
    time, q, tau = arrays(recorded)
    columns = {'t': time, 'q1': q[:, 0], 'q2': q[:, 1], 'm1': tau[:, 0], 'm2': tau[:, 1]}
    frame = pandas.DataFrame(columns)
    frame.to_csv(tmp_path / 'own.csv', index=False)
    mapping = {
        'time': {'column': 't'},
        'position': {'columns': ['q1', 'q2']},
        'torque': {'columns': ['m1', 'm2']},
    }
    read = rid.Dataset.from_dataframe(frame, mapping=mapping)
    for given in (read, rid.load(tmp_path / 'own.csv', mapping=mapping)):
        assert not given.named
        torque = given.select(robot.joint_names).runs[0].torque
        np.testing.assert_allclose(torque, tau, rtol=1e-12)
    for wrong in (mapping | {'positon': 1}, 3):
        with pytest.raises(DataError) as caught:
            rid.Dataset.from_dataframe(frame, mapping=wrong)
        assert caught.value.key == 'mapping'


@pytest.mark.parametrize('zone', [None, 'Europe/Berlin'])
def test_dates_are_seconds(recorded, zone):
    pandas = pytest.importorskip('pandas')
    time, q, tau = arrays(recorded)
    dates = pandas.date_range('2024-03-31', periods=len(time), freq='5ms', tz=zone)
    frame = pandas.DataFrame({'position.a': q[:, 0], 'torque.a': tau[:, 0]})
    for data in (
        rid.Dataset.from_arrays(time=dates, position=q, torque=tau),
        rid.Dataset.from_dataframe(frame.assign(time=dates)),
        rid.Dataset.from_dataframe(frame.set_index(dates)),
        rid.Dataset.from_dataframe(frame.set_index(dates - dates[0])),
    ):
        np.testing.assert_allclose(data.runs[0].time, time, atol=1e-9)


def test_arrays_without_torque_are_checked_and_fitted_by_servo_oe_alone(robot, recorded):
    time, q, _ = arrays(recorded)
    ones = np.ones_like(q)
    data = rid.Dataset.from_arrays(
        time=time, position=q, reference_position=q, gain=ones, supply=ones, enabled=ones
    )
    assert set(data.runs[0].channels()) > {'gain', 'supply', 'enabled'}
    rid.check(robot, data)
    with pytest.raises(DataError, match='servo_oe'):
        rid.identify(robot, data)


def test_several_recordings_are_a_list(robot, recorded, other, csv):
    both = rid.identify(robot, [recorded, other])
    assert len(both.dataset().runs) == 2
    assert len(rid.load([csv, csv], robot=robot).runs) == 2
    parts = [arrays(recorded), arrays(other)]
    joined = rid.Dataset.from_arrays(
        time=[p[0] for p in parts], position=[p[1] for p in parts], torque=[p[2] for p in parts]
    )
    same = rid.identify(robot, joined)
    np.testing.assert_array_equal(same.parameters.values_array, both.parameters.values_array)


def test_a_gap_splits_and_is_never_bridged(robot, recorded):
    time, q, tau = arrays(recorded)
    late = time.copy()
    late[4000:] += 2.0
    data = rid.Dataset.from_arrays(time=late, position=q, torque=tau)
    assert [len(run) for run in data.runs] == [4000, 4001]
    assert any('gap' in note for note in data.notes)
    fit = rid.identify(robot, data)
    whole = rid.identify(robot, rid.Dataset.from_arrays(time=time, position=q, torque=tau))
    assert fit.error_percent < 1.2 * whole.error_percent
    with pytest.raises(DataError):
        fit.model.torque_along(late, q)


def test_rows_that_are_not_finite_are_reported(recorded):
    time, q, tau = arrays(recorded)
    holes = tau.copy()
    holes[100, 1] = np.nan
    data = rid.Dataset.from_arrays(time=time, position=q, torque=holes)
    assert any('torque' in note and 'row 101' in note for note in data.notes)
    with pytest.raises(DataError):
        rid.Dataset.from_arrays(time=time, position=q, torque=np.full_like(tau, np.nan))


@pytest.mark.parametrize(
    ('change', 'key'),
    [
        (lambda t, q, tau: {'time': t, 'position': q.T, 'torque': tau}, 'time'),
        (lambda t, q, tau: {'time': t, 'position': q, 'torque': tau[:-1]}, 'torque'),
        (lambda t, q, tau: {'time': t[:-1], 'position': q, 'torque': tau}, 'time'),
        (lambda t, q, tau: {'time': t, 'position': q, 'torque': tau[:, :1]}, 'torque'),
        (lambda t, q, tau: {'time': t, 'position': [[1, 2], [3]], 'torque': tau}, 'position'),
        (lambda t, q, tau: {'time': t, 'position': q, 'torque': 'tau'}, 'torque'),
        (lambda t, q, tau: {'time': t, 'position': q[:, :, None], 'torque': tau}, 'position'),
        (
            lambda t, q, tau: {'time': t, 'position': q, 'torque': tau, 'joint_names': ['a']},
            'joint_names',
        ),
        (
            lambda t, q, tau: {'time': t, 'position': q, 'torque': tau, 'joint_names': 'aa'},
            'joint_names',
        ),
    ],
)
def test_wrong_shapes_name_the_argument(recorded, change, key):
    with pytest.raises(DataError) as caught:
        rid.Dataset.from_arrays(**change(*arrays(recorded)))
    assert caught.value.key == key


def test_time_or_rate(recorded):
    _, q, tau = arrays(recorded)
    assert rid.Dataset.from_arrays(position=q, torque=tau, rate_hz=200).rate == pytest.approx(200)
    for wrong in (None, -1.0, float('nan')):
        with pytest.raises(OptionError):
            rid.Dataset.from_arrays(position=q, torque=tau, rate_hz=wrong)


def test_joints_are_matched_by_name_and_by_order_only_where_it_is_plain(robot, recorded):
    time, q, tau = arrays(recorded)
    turned = rid.Dataset.from_arrays(
        time=time, position=q[:, ::-1], torque=tau[:, ::-1], joint_names=robot.joint_names[::-1]
    )
    np.testing.assert_array_equal(turned.select(robot.joint_names).runs[0].torque, tau)
    wrong = rid.Dataset.from_arrays(time=time, position=q, torque=tau, joint_names=['a', 'b'])
    with pytest.raises(DataError) as caught:
        rid.identify(robot, wrong)
    assert caught.value.joint == 'shoulder'
    wide = rid.Dataset.from_arrays(
        time=time, position=np.hstack([q, q]), torque=np.hstack([tau, tau])
    )
    with pytest.raises(DataError) as caught:
        rid.identify(robot, wide)
    assert caught.value.key == 'joint_names'
    with pytest.raises(DataError) as caught:
        rid.identify(robot, [arrays(recorded)])
    assert caught.value.key == 'data'


def test_robots_of_every_kind(tmp_path):
    urdf = rid.load_robot(URDF)
    model = rid.load_robot(pin.buildModelFromUrdf(str(URDF)))
    assert model.joint_names == urdf.joint_names
    assert len(model.base) == len(urdf.base)
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 2))
    tau = pin.rnea(model.pinocchio, model.pinocchio.createData(), q, dq, ddq)
    expected = pin.rnea(urdf.pinocchio, urdf.pinocchio.createData(), q, dq, ddq)
    np.testing.assert_allclose(tau, expected, rtol=1e-9)
    assert rid.load_robot(URDF, lock={'elbow': 0.3}).joint_names == ('shoulder',)
    locked = rid.load_robot(pin.buildModelFromUrdf(str(URDF)), lock={'elbow': 0.3})
    assert locked.joint_names == ('shoulder',)
    for given in (URDF, pin.buildModelFromUrdf(str(URDF))):
        with pytest.raises(DescriptionError) as caught:
            rid.load_robot(given, lock={'wrist': 0.0})
        assert caught.value.joint == 'wrist'
    assert rid.load_robot(urdf) is urdf
    with pytest.raises(DescriptionError):
        rid.load_robot(pin.buildSampleModelHumanoid())


def test_a_xacro_is_expanded_with_its_arguments(tmp_path):
    pytest.importorskip('xacro')
    path = tmp_path / 'one.urdf.xacro'
    path.write_text(XACRO)
    assert rid.load_robot(path).kinematics.inertia[0, 9] == 1.0
    heavy = rid.load_robot(path, xacro_args={'mass': '2.5'})
    assert heavy.kinematics.inertia[0, 9] == 2.5
    assert heavy.source.xacro_args == {'mass': '2.5'}
    path.write_text(XACRO.replace('$(arg mass)', '$(arg weight)'))
    with pytest.raises(DescriptionError):
        rid.load_robot(path)


def test_without_xacro_the_package_is_named(tmp_path, monkeypatch):
    path = tmp_path / 'one.urdf.xacro'
    path.write_text(XACRO)
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(MissingExtra) as caught:
        rid.load_robot(path)
    assert caught.value.extra == 'xacro'


def test_a_result_knows_its_robot_and_says_where_it_changed(recorded, tmp_path):
    path = tmp_path / 'mine.urdf'
    path.write_text(URDF.read_text())
    fit = rid.identify(rid.load_robot(path), recorded, holdout=0.0)
    fit.save(tmp_path / 'r.json')
    again = rid.load_fit(tmp_path / 'r.json')
    assert again.robot.source == fit.robot.source
    assert again.warnings == fit.result.warnings
    path.write_text(URDF.read_text().replace('</robot>', '<!-- another --></robot>'))
    assert len(rid.load_fit(tmp_path / 'r.json').warnings) == len(again.warnings) + 1
    path.unlink()
    with pytest.raises(DescriptionError) as caught:
        rid.load_fit(tmp_path / 'r.json')
    assert caught.value.key == 'robot'
    assert rid.load_fit(tmp_path / 'r.json', robot=URDF).parameters == fit.parameters
    with pytest.raises(DataError) as caught:
        again.plot_torques()
    assert caught.value.key == 'data'
    assert again.prediction(recorded).relative_error_percent < 5.0


def test_methods_are_objects_with_plain_options(robot, recorded):
    wide = rid.identify(robot, recorded, method=rid.IdimWls(cutoff_hz=40.0), holdout=0.0)
    assert wide.result.options['cutoff_hz'] == 40.0
    same = rid.identify(robot, recorded, method='wls', cutoff_hz=40.0, holdout=0.0)
    np.testing.assert_array_equal(wide.covariance, same.covariance)
    assert repr(rid.IdimWls(cutoff_hz=40.0)) == 'IdimWls(cutoff_hz=40.0)'
    assert 'cutoff_hz' in inspect.signature(rid.IdimWls).parameters
    for wrong in ({'cutoff': 40.0}, {'cutoff_hz': -1.0}, {'physical': 'perhaps'}):
        with pytest.raises(OptionError):
            rid.IdimWls(**wrong)
    with pytest.raises(OptionError) as caught:
        rid.identify(robot, recorded, method=rid.IdimWls(cutoff_hz=40.0), cutoff_hz=30.0)
    assert caught.value.key == 'cutoff_hz'
    listed = rid.methods()
    assert {one.name for one in listed} >= {'idim_wls', 'didim', 'ekf'}
    assert set(rid.__all__) >= {'IdimWls', 'Didim', 'Ekf'}


def test_weigh_on_line_and_excite(robot, recorded):
    arm = rid.identify(robot, recorded)
    feed = rid.on_line(robot, 200.0, nominal=arm, low_pass_hz=4.0, every=10)
    _, q, tau = arrays(recorded)
    assert feed.feed(q, tau)
    live = [one for one in feed.status().parameters if one.state == 'live']
    assert {one.name for one in live} >= {'ZZ1R', 'ZZ2R'}
    close = {one.name: one.value for one in live}
    assert close['ZZ1R'] == pytest.approx(arm.parameters['ZZ1R'], rel=0.05)
    motion = rid.excite(robot, seconds=4.0, evaluations=20, workers=1, rehearse=False)
    assert rid.simulate(robot, motion).runs[0].duration == pytest.approx(4.0, abs=0.1)
    with pytest.raises(OptionError) as caught:
        rid.excite(robot, evaluation=20)
    assert caught.value.key == 'evaluation'


def test_a_known_part_of_a_load_is_a_file(robot, tmp_path):
    gripper = (1.0, 0.2, 0.05, 0.0, 0.01, 0.0, 0.0, 0.01, 0.0, 0.02)
    empty, loaded = rid.simulate(robot, seed=1), rid.simulate(robot, seed=2, payload=gripper)
    path = tmp_path / 'gripper.json'
    rid.identify_payload(robot, loaded, empty, check=False).save(path)
    more = rid.simulate(robot, seed=3, payload=(1.5, *gripper[1:]))
    found = rid.identify_payload(robot, more, empty, known=path, check=False)
    assert json.loads(path.read_text())['mass']['value'] == pytest.approx(1.0, abs=0.02)
    found.save(path)
    assert json.loads(path.read_text())['mass']['value'] == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize('name', ['scara', 'emps'])
def test_on_line_without_options_stays_near_the_truth(name, tmp_path):
    robot = rid.load_robot(name)
    data = rid.simulate(robot, seed=1)
    fit = rid.identify(robot, data, check=False, holdout=0.0)
    fit.save(tmp_path / 'arm.json')
    live = rid.on_line(robot, data.rate, nominal=tmp_path / 'arm.json')
    _, q, tau = arrays(data)
    live.feed(q, tau)
    truth = dict(zip(robot.base.names, robot.truth()))
    inertias = [
        one for one in live.status().parameters
        if one.state == 'live' and one.name.startswith(('ZZ', 'LMX', 'M1'))
    ]  # fmt: skip
    assert inertias
    for one in inertias:
        assert one.value == pytest.approx(truth[one.name], rel=0.05), one.name


def test_importing_is_quick_and_lazy():
    code = (
        'import sys, robot_id; heavy = {"numpy", "pinocchio", "numba", "scipy", "pydantic"};'
        'print(sorted(heavy & set(sys.modules))); print(len(dir(robot_id)))'
    )
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True, timeout=60
    )
    heavy, count = done.stdout.split('\n')[:2]
    assert heavy == '[]'
    assert int(count) == len(rid.__all__)


def test_every_public_name_is_there_and_documented():
    for name in rid.__all__:
        found = getattr(rid, name)
        assert name == '__version__' or inspect.getdoc(found), name
    with pytest.raises(AttributeError):
        _ = rid.no_such_name
