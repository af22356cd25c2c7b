"""What the pages show: raw torques, friction, several recordings, files, comparisons, loads."""

import base64
import csv
import io
import json
import re

import numpy as np
import pinocchio as pin
import pytest

import robot_id as rid
from robot_id.data import save
from robot_id.data.run_names import run_labels
from robot_id.report.html.compare_page import write_comparison
from robot_id.report.html.load_page import write_load_report
from robot_id.report.html.provenance import provenance
from robot_id.tasks.friction.curves import friction_curves

LOAD = (1.5, 0.2, 0.05, 0.0, 0.01, 0.0, 0.0, 0.01, 0.0, 0.02)
SOURCE = provenance(['robot-id', 'compare', 'a.json', '--report', 'c.html'], [])


@pytest.fixture(scope='module')
def robot():
    return rid.load_robot('scara')


@pytest.fixture(scope='module')
def data(robot, tmp_path_factory):
    """Two recordings, each in its file."""
    folder = tmp_path_factory.mktemp('two')
    files = [folder / 'monday.csv', folder / 'tuesday.csv']
    for seed, path in enumerate(files):
        save(rid.simulate(robot, seed=seed, seconds=20.0), path)
    return rid.load(files, robot=robot)


@pytest.fixture(scope='module')
def fit(robot, data):
    return rid.identify(robot, data, physical=True, check=False)


@pytest.fixture(scope='module')
def page(fit, tmp_path_factory):
    path = tmp_path_factory.mktemp('page') / 'r.html'
    fit.report(path)
    return path.read_text()


def numbers_of(page):
    text = re.search(r'<script type="application/json" id="numbers">(.*?)</script>', page, re.S)
    return json.loads(text[1])


def section(page, key):
    return page[page.index(f'<section id="{key}">') :].partition('</section>')[0]


def values(joint, run, name):
    whole = np.frombuffer(base64.b64decode(joint['runs'][run][name]), '<i2')
    return whole * joint[f'{name}_step']


def test_recordings_are_told_apart_by_their_files(page, data, fit):
    runs = numbers_of(page)['sets']['torques']['joints'][0]['runs']
    assert {run['label'] for run in runs} == {'monday.csv', 'tuesday.csv'}
    rows = re.findall(r'<td>(\w+\.csv)</td>.*?>([\d.]+) %</td>', section(page, 'data'))
    assert {name for name, _ in rows} == {'monday.csv', 'tuesday.csv'}
    errors = [float(error) for _, error in rows]
    assert min(errors) <= fit.error_percent <= max(errors)


def test_a_name_is_as_short_as_it_may_be(data):
    one, other = (run.rows(0, 100) for run in data.runs)
    assert run_labels([one, other, one]) == ('monday.csv (1)', 'tuesday.csv', 'monday.csv (2)')
    twice = [rid.Run(one.time, one.position, name=f'{day}/run.csv') for day in ('a', 'b')]
    assert run_labels(twice) == ('a/run.csv', 'b/run.csv')
    assert run_labels([None]) == ('run',)


def test_the_torque_as_recorded_stands_behind_the_filtered_one(page, fit):
    joint = numbers_of(page)['sets']['torques']['joints'][1]
    run = fit.prediction().runs[0]
    recorded = run.recorded
    first, last = np.searchsorted(recorded.time, run.time[[0, -1]])
    raw = values(joint, 0, 'raw')
    np.testing.assert_allclose(
        raw, recorded.torque[first : last + 1, 1], atol=0.51 * joint['raw_step']
    )


def test_the_motion_is_the_recorded_one(page, data, robot):
    joints = numbers_of(page)['sets']['motion']['joints']
    assert [panel['unit'] for panel in joints[0]['panels']] == ['rad', 'rad/s']
    run = next(r for r in data.runs if 'monday' in r.name)
    place = [part['label'] for part in joints[0]['runs']].index('monday.csv')
    position, velocity = (values(joints[0], place, key) for key in ('position', 'velocity'))
    assert np.abs(position - run.position[:, 0]).max() < 2e-3
    slope = np.gradient(position, run.step)
    assert np.abs(velocity - slope)[50:-50].max() < 0.02 * np.abs(velocity).max()


def test_friction_of_every_joint_is_drawn(page, fit, robot):
    text = section(page, 'friction')
    assert text.count('<svg') == robot.n
    for name in robot.joint_names:
        assert f'<b>{name}</b>' in text
    for curve, j in zip(friction_curves(robot, fit.result, fit.dataset()), (1, 2)):
        top = fit.parameters[f'Fc{j}'] + fit.parameters[f'Fv{j}'] * curve.grid[-1]
        assert (curve.fitted[-1] - curve.fitted[0]) / 2.0 == pytest.approx(top, rel=0.01)
        off = curve.measured - np.interp(curve.velocity, curve.grid, curve.fitted)
        fast = np.abs(curve.velocity) > 0.3 * np.abs(curve.velocity).max()
        assert np.std(off[fast]) < 0.2 * fit.parameters[f'Fc{j}']


def test_files_can_be_taken_from_the_page(page, fit, tmp_path):
    files = numbers_of(page)['files']
    table = list(csv.DictReader(io.StringIO(files['scara.csv'])))
    assert {row['name']: float(row['value']) for row in table} == dict(fit.parameters)
    (tmp_path / 'arm.urdf').write_text(files['scara.urdf'])
    model = pin.buildModelFromUrdf(str(tmp_path / 'arm.urdf'))
    written = pin.crba(model, model.createData(), np.array([0.3, 0.4]))
    expected = fit.model.inertia([0.3, 0.4])
    np.testing.assert_allclose(np.triu(written), np.triu(expected), rtol=1e-6)
    for name in files:
        assert f'download="{name}"' in page


def test_every_table_has_units(page):
    for key, unit in (('parameters', 'kg.m2'), ('data', 'rad/s'), ('robot', 'rad/s²')):
        assert unit in section(page, key)


def test_a_comparison_is_one_page(robot, data, fit, tmp_path):
    other = rid.identify(robot, data, rid.IdimOls(cutoff_hz=15.0), check=False)
    write_comparison(tmp_path / 'c.html', rid.compare(fit, other, labels=['<a>', 'b']), SOURCE)
    page = (tmp_path / 'c.html').read_text()
    assert '<a>' not in page.replace('<a href', '')
    assert '&lt;a&gt;' in page
    assert SOURCE.command in page
    marks = re.findall(r'cx="([\d.]+)" cy="[\d.]+" r="2.6"><title>(.*?)</title>', page)
    first = {x for x, label in marks if label == '&lt;a&gt;'}
    assert len(first) == 1  # the first result stands in the middle
    assert len({x for x, label in marks if label == 'b'}) > 1
    for name in robot.base.names:
        assert f'<b>{name}</b>' in section(page, 'parameters')


def test_the_page_of_a_load_draws_its_torques(robot, tmp_path):
    empty = rid.simulate(robot, seed=1, seconds=20.0)
    loaded = rid.simulate(robot, seed=2, seconds=20.0, payload=LOAD)
    found = rid.identify_payload(robot, loaded, empty, check=False)
    torques = found.loads[0].torques
    for j in range(robot.n):
        x, y = torques.predicted[:, j], torques.measured[:, j]
        assert np.polyfit(x, y, 1)[0] == pytest.approx(1.0, abs=0.01)
        assert np.std(y - x) < 0.05 * np.std(x)
    write_load_report(tmp_path / 'p.html', robot, found, SOURCE)
    page = (tmp_path / 'p.html').read_text()
    assert section(page, 'torques').count('<svg') == robot.n
    assert SOURCE.command in page
    assert 'kg.m2' in section(page, 'load')
