"""A result file is not trusted: whatever it holds, it is a result, or refused in one line."""

import copy
import functools
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_id.cli.main import cli
from robot_id.data import Dataset, Run
from robot_id.dynamics import inverse_dynamics
from robot_id.exceptions import DataError, RobotIdError
from robot_id.export import FORMATS
from robot_id.methods import registry
from robot_id.methods.result import Iteration, Result
from robot_id.methods.result_form import LEVELS
from robot_id.robot import load_robot
from tools.fuzz.results import servo

HOSTILE = 'x\nlive: true\n*/ #include "a" \x1b[2J <a>&"'


@functools.cache
def whole() -> Result:
    """Return a result with every key."""
    robot = load_robot('emps')
    b = len(robot.base)
    values = robot.truth()
    root = np.random.default_rng(0).normal(size=(b, b))
    return Result(
        'emps', 'idim_wls', robot.base.names, values, 1e-4 * root @ root.T,
        essential=np.arange(b) % 2 == 0, relative_error_percent=2.0,
        relative_error_percent_per_joint=np.array([2.0]), condition_number=30.0, iterations=3,
        simulations=2, elapsed_s=0.1, history=(Iteration(values, 3.0, 0.5),),
        options={'cutoff_hz': 20.0, 'decimation': None}, warnings=('one',),
        extras={'rate_hz': 1000.0, 'processing': ['a']}, verdict='usable', reasons=('none',),
        holdout_error_percent=2.5,
        findings=({'code': 'rest', 'joint': 'carriage', 'certainty': 0.5, 'message': 'm',
                   'fix': 'f'},),
        friction={'terms': {'carriage': ['viscous', 'coulomb', 'offset']}, 'constants': []},
    )  # fmt: skip


def test_every_key_comes_back():
    form = whole().to_dict()
    assert Result.from_dict(json.loads(json.dumps(form))).to_dict() == form


def places(tree, path=()):
    """Yield the path of every entry of a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))


# Formats of base parameters; `joints` is of what servo_oe identifies.
OF_TORQUES = {name: entry for name, entry in FORMATS.items() if name != 'joints'}
WRONG = (
    None, True, 0, -1, 3.5, 1e308, -1e308, 10**400, 'x', HOSTILE, 'x' * 100_000, [], {}, [[]],
    [None], ['x'], {'x': 1}, 'DO_NOT_USE', [1, 2], float('nan'),
)  # fmt: skip


@settings(max_examples=300)
@given(st.data())
def test_whatever_a_file_holds_it_is_read_and_used_or_refused_in_one_line(draw):
    content = copy.deepcopy(draw.draw(st.sampled_from([whole().to_dict(), servo()])))
    for _ in range(draw.draw(st.integers(1, 3))):
        path = draw.draw(st.sampled_from(list(places(content))))
        node = content
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = copy.deepcopy(draw.draw(st.sampled_from(WRONG)))
    found, line = None, 'r.json: '
    try:
        found = Result.from_dict(content, 'r.json')
    except RobotIdError as error:
        line = str(error)
    assert line.startswith('r.json: ')
    assert '\n' not in line
    if found is None:
        return
    assert found.verdict in (None, *LEVELS)
    assert np.all(np.isfinite(found.values))
    known = np.isfinite(np.diag(found.covariance))
    C = found.covariance[np.ix_(known, known)]
    assert np.linalg.eigvalsh(C).min(initial=0.0) >= -1e-5 * max(np.trace(C), 1e-300)
    for text in (found.robot, found.method, *found.names, *found.reasons, *found.warnings):
        assert text.isprintable()
    json.dumps(found.to_dict())


@pytest.mark.parametrize(
    ('key', 'value'),
    [
        ('verdict', 'DO_NOT_USE'),
        ('verdict', ['usable']),
        ('method', 'x\n/**:\n  ros__parameters: {robot: other}'),
        ('robot', 'emps\nlive: true'),
        ('covariance', np.triu(np.ones((4, 4))).tolist()),
        ('covariance', (2.0 * np.ones((4, 4)) - np.eye(4)).tolist()),
        ('covariance', np.full((4, 4), 1e308).tolist()),
        ('covariance', (-np.eye(4)).tolist()),
        ('reasons', 'one'),
        ('history', [{'parameters': [1.0]}]),
    ],
)
def test_every_reader_refuses_it(tmp_path, key, value):
    path = tmp_path / 'r.json'
    content = whole().to_dict() | {key: value}
    path.write_text(json.dumps(content))
    with pytest.raises(DataError) as refused:
        Result.load(path)
    assert str(refused.value).startswith(f'{path}: {key}')
    good = tmp_path / 'good.json'
    whole().save(good)
    for words in (
        ['compare', good, path],
        ['export', path],
        ['export', path, '--format', 'urdf', '--force'],
    ):
        done = CliRunner().invoke(cli, [str(word) for word in words])
        assert isinstance(done.exception, DataError), done.output


def test_a_standard_deviation_that_its_covariance_denies():
    content = whole().to_dict()
    assert content['covariance'] is not None
    first = content['parameters'][0]
    first['std'] = 1.004 * first['std']
    Result.from_dict(content, 'r.json')
    first['std'] = 77.0
    with pytest.raises(DataError, match=f"^r.json: parameters: '{first['name']}' has the"):
        Result.from_dict(content, 'r.json')


def test_a_result_that_nobody_judged_moves_no_robot(tmp_path):
    path = tmp_path / 'r.json'
    path.write_text(json.dumps(whole().to_dict() | {'verdict': None}))
    for name, entry in OF_TORQUES.items():
        words = ['export', str(path), '--format', name, '--out', str(tmp_path / name)]
        done = CliRunner().invoke(cli, words)
        assert isinstance(done.exception, DataError) == entry.moves_robots, name
    forced = CliRunner().invoke(cli, ['export', str(path), '--format', 'ros-params', '--force'])
    assert forced.exit_code == 0, forced.output


def test_texts_of_a_result_stay_texts_in_every_language(tmp_path):
    """Names that a file may hold, printable but hostile, add no key, tag or line of code."""
    path = tmp_path / 'r.json'
    label = "*/ x: [1] # <a b='c'>&amp; | `ls` \\"
    path.write_text(json.dumps(whole().to_dict() | {'method': label}))
    done = CliRunner().invoke(cli, ['export', str(path)])
    assert yaml.safe_load(done.output)['method'] == label
    sane = whole()
    for name in OF_TORQUES:
        said = {}
        for kind, method in (('plain', 'm'), ('hostile', label)):
            sane_or_not = sane.to_dict() | {'method': method}
            path.write_text(json.dumps(sane_or_not))
            out = tmp_path / f'{kind}_{name}'
            words = ['export', str(path), '--format', name, '--out', str(out)]
            done = CliRunner().invoke(cli, words, catch_exceptions=False)
            assert done.exit_code == 0, done.output
            files = [out] if out.is_file() else sorted(filter(Path.is_file, out.rglob('*')))
            said[kind] = [text.read_text().replace(method, '') for text in files]
        if name not in ('yaml', 'c'):
            assert [len(t.splitlines()) for t in said['plain']] == [
                len(t.splitlines()) for t in said['hostile']
            ]
    header = (tmp_path / 'hostile_c' / 'emps_model.h').read_text()
    assert header.count('*/') == (tmp_path / 'plain_c' / 'emps_model.h').read_text().count('*/')


@pytest.mark.parametrize('drive', ['pd', 'current', 'voltage'])
@pytest.mark.parametrize('kind', ['joints', 'mjcf', 'urdf'])
def test_a_limit_that_is_not_known_is_exported(tmp_path, drive, kind):
    """It is infinite, which JSON has no number for."""
    path, out = tmp_path / 'r.json', tmp_path / 'out'
    path.write_text(json.dumps(servo(drive)))
    done = CliRunner().invoke(cli, ['export', str(path), '--format', kind, '--out', str(out)])
    assert done.exit_code == 0, done.output
    limited = drive == 'voltage'
    if kind == 'mjcf':
        assert ('forcerange' in out.read_text()) == limited
    if kind == 'joints':
        joint = yaml.safe_load(out.read_text())['joints']['carriage']
        assert (joint['effort_limit'] is not None) == limited


@pytest.mark.parametrize(
    ('key', 'value'),
    [
        ('drive', 'steam'),
        ('joints', {'carriage': {'armature': 0.1}}),
        ('inputs', {'gain': [], 'supply': [1.0], 'load': [0.5]}),
        ('runs', [{'run': 1}]),
        ('removed', [0]),
    ],
)
def test_extras_that_a_reader_uses_are_checked(key, value):
    content = servo()
    content['extras'][key] = value
    with pytest.raises(DataError) as refused:
        Result.from_dict(content, 'r.json')
    assert 'extras' in str(refused.value)


@pytest.mark.parametrize('method', [*registry.names()])
def test_what_every_method_writes_is_read(method, tmp_path):
    robot = load_robot('emps')
    t = np.arange(1500) / 500.0
    q = (0.1 * np.sin(5 * t) + 0.05 * np.sin(13 * t))[:, None]
    dq = (0.5 * np.cos(5 * t) + 0.65 * np.cos(13 * t))[:, None]
    ddq = (-2.5 * np.sin(5 * t) - 8.45 * np.sin(13 * t))[:, None]
    tau = inverse_dynamics(robot, robot.truth(), q, dq, ddq)
    tau += np.random.default_rng(0).normal(0, 0.01 * tau.std(), tau.shape)
    run = Run(t, q, tau, reference_position=q, reference_velocity=dq)
    data = Dataset(robot.joint_names, (run,), source='line one\nline two\x07')
    try:
        found = registry.create(method).estimate(robot, data)
    except RobotIdError:
        pytest.skip(f'{method} refuses these data')
    path = tmp_path / 'r.json'
    found.save(path)
    assert np.array_equal(Result.load(path).values, found.values)
