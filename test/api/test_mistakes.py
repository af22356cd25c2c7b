"""A wrong argument is one line that names it, of every public function; results print short."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import robot_id as rid
from robot_id.cli.main import cli

NOT_A_NUMBER = float('nan')
# Of the command line, which nobody has called here.
FLAG = re.compile(r'(?<![\w-])--[a-z]')


class Frame:
    """What has columns, as a data frame does."""

    columns = ('time',)


@pytest.fixture(scope='module')
def robot():
    return rid.load_robot('emps')


@pytest.fixture(scope='module')
def data(robot):
    return rid.simulate(robot, seed=1)


@pytest.fixture(scope='module')
def fit(robot, data):
    return rid.identify(robot, data, check=False, holdout=0.0)


@pytest.fixture(scope='module')
def saved(fit, tmp_path_factory):
    path = tmp_path_factory.mktemp('fit') / 'r.json'
    fit.save(path)
    return path


# Name of the argument -> a call with a wrong one: robot, data, fit, file of the fit.
CALLS = {
    'robot': lambda r, d, f, s: rid.load_robot('emsp'),
    'lock': lambda r, d, f, s: rid.load_robot('scara', lock=['elbow']),
    'path': lambda r, d, f, s: rid.load(3),
    'file': lambda r, d, f, s: rid.load('nothing.csv'),
    'mapping': lambda r, d, f, s: rid.load('nothing.csv', mapping='nothing'),
    'recording of check': lambda r, d, f, s: rid.check(r, d.runs[0].position),
    'data': lambda r, d, f, s: rid.identify(r, None),
    'frame as data': lambda r, d, f, s: rid.identify(r, Frame()),
    'table as data': lambda r, d, f, s: rid.identify(r, {'time': [0.0]}),
    'no data': lambda r, d, f, s: rid.identify(r, []),
    'another robot': lambda r, d, f, s: rid.identify('scara', d),
    'method': lambda r, d, f, s: rid.identify(r, d, 'idim_wsl'),
    'class of a method': lambda r, d, f, s: rid.identify(r, d, rid.IdimWls),
    'option': lambda r, d, f, s: rid.identify(r, d, cutoff=40.0),
    'value of an option': lambda r, d, f, s: rid.identify(r, d, cutoff_hz='fast'),
    'friction': lambda r, d, f, s: rid.identify(r, d, friction=3),
    'friction term': lambda r, d, f, s: rid.identify(r, d, friction=['viscous', 'culomb']),
    'physical': lambda r, d, f, s: rid.identify(r, d, physical='perhaps'),
    'holdout': lambda r, d, f, s: rid.identify(r, d, holdout=1.5),
    'validate': lambda r, d, f, s: rid.identify(r, d, validate=3),
    'fit': lambda r, d, f, s: rid.load_fit(None),
    'fit of another robot': lambda r, d, f, s: rid.load_fit(s, robot='scara'),
    'validated fit': lambda r, d, f, s: rid.validate('r.json', d),
    'option of validate': lambda r, d, f, s: f.validate(d, cutoff=3.0),
    'compared fit': lambda r, d, f, s: f.compare('r.json'),
    'one fit': lambda r, d, f, s: f.compare(),
    'labels': lambda r, d, f, s: rid.compare(f, f, labels=['a']),
    'format': lambda r, d, f, s: f.export('arm.foo'),
    'folder of export': lambda r, d, f, s: f.export('/nowhere/arm.urdf'),
    'folder of report': lambda r, d, f, s: f.report('/nowhere/r.html'),
    'folder of save': lambda r, d, f, s: f.save('/nowhere/r.json'),
    'parameter': lambda r, d, f, s: f.parameters['M2'],
    'text for q': lambda r, d, f, s: f.model.torque('q', [0.0], [0.0]),
    'q that is not finite': lambda r, d, f, s: f.model.torque([NOT_A_NUMBER], [0.0], [0.0]),
    'q of two joints': lambda r, d, f, s: f.model.gravity([0.0, 0.0]),
    'too few samples': lambda r, d, f, s: f.model.torque_along(np.arange(5.0), np.zeros(5)),
    'payload': lambda r, d, f, s: rid.simulate(r, payload=(1.0, 2.0)),
    'tool without payload': lambda r, d, f, s: rid.simulate(r, tool='nothing'),
    'parameters': lambda r, d, f, s: rid.simulate(r, parameters=[1.0]),
    'motion': lambda r, d, f, s: rid.simulate(r, 3),
    'name of a motion': lambda r, d, f, s: rid.simulate(r, 'nothing'),
    'every': lambda r, d, f, s: rid.simulate(r, every=0),
    'part of every': lambda r, d, f, s: rid.simulate(r, every=1.5),
    'file of parameters': lambda r, d, f, s: rid.simulate(r, parameters='nothing.json'),
    'loop': lambda r, d, f, s: rid.simulate(r, loop='fast'),
    'criterion': lambda r, d, f, s: rid.excite(r, criterion='nothing', evaluations=1),
    'strategy': lambda r, d, f, s: rid.identify_payload(r, d, d, strategy='nothing'),
    'what a strategy needs': lambda r, d, f, s: rid.identify_payload(
        r, d, arm=f, strategy='subtract'
    ),
    'recording given twice': lambda r, d, f, s: rid.identify_payload(r, d, d),
    'no unloaded': lambda r, d, f, s: rid.identify_payload(r, d),
    'tool': lambda r, d, f, s: rid.identify_payload(r, d, d, tool='nothing'),
    'pose': lambda r, d, f, s: rid.identify_payload(r, d, d, pose=(1.0, 2.0)),
    'on-line method': lambda r, d, f, s: rid.on_line(r, 100.0, 'nothing'),
    'rate': lambda r, d, f, s: rid.on_line(r, 'fast'),
    'nominal': lambda r, d, f, s: rid.on_line(r, 100.0, nominal={'M1': 1.0}),
    'name in nominal': lambda r, d, f, s: rid.on_line(r, 100.0, nominal={'X': 1.0}),
    'kind of nominal': lambda r, d, f, s: rid.on_line(r, 100.0, nominal=3),
    'file of nominal': lambda r, d, f, s: rid.on_line(r, 100.0, nominal='nothing.json'),
    'reference of riv': lambda r, d, f, s: rid.on_line(r, 100.0, 'riv').feed([0.0], [0.0]),
    'fed sample': lambda r, d, f, s: rid.on_line(r, 100.0).feed('a', 'b'),
    'frame': lambda r, d, f, s: rid.Dataset.from_dataframe([1, 2]),
    'no time': lambda r, d, f, s: rid.Dataset.from_arrays(position=[0.0], torque=[0.0]),
}


@pytest.mark.parametrize('call', CALLS.values(), ids=CALLS)
def test_a_mistake_is_one_line(call, robot, data, fit, saved):
    with pytest.raises(rid.RobotIdError) as caught:
        call(robot, data, fit, saved)
    assert len(str(caught.value).splitlines()) == 1
    assert not FLAG.search(str(caught.value))


def test_a_wrong_name_brings_the_nearest_one():
    with pytest.raises(AttributeError) as caught:
        _ = rid.idntify
    assert (caught.value.name, caught.value.obj) == ('idntify', rid)


def test_the_command_line_simulates_what_python_does(robot, fit, saved, tmp_path):
    path = tmp_path / 'run.csv'
    arguments = ('--robot', 'emps', '--seed', 3, '--params', saved, '--every', 5, '--out', path)
    CliRunner().invoke(cli, ['simulate', *map(str, arguments)], catch_exceptions=False)
    written = rid.load(path, robot=robot).runs[0]
    for given in (fit, saved):
        run = rid.simulate(robot, seed=3, parameters=given, every=5).runs[0]
        np.testing.assert_allclose(written.position, run.position, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(written.torque, run.torque, rtol=1e-9, atol=1e-9)


def test_what_is_returned_prints_short(robot, data, fit):
    live = rid.on_line(robot, data.rate)
    live.feed(data.runs[0].position[:100], data.runs[0].torque[:100])
    motion = rid.excite(robot, seconds=4.0, evaluations=5, workers=1, rehearse=False)
    shown = (
        robot, data, data.runs[0], rid.check(robot, data), fit, fit.model, fit.parameters,
        fit.validate(data), fit.compare(fit), motion, live, live.status(), rid.methods(),
        fit.result, fit.identification, fit.prediction(), fit.prediction().runs[0],
    )  # fmt: skip
    for one in shown:
        assert 'array(' not in repr(one), type(one)
        assert len(repr(one)) < 3000, type(one)
