"""The report: one file, complete, small, and it works in a real browser."""

import base64
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id import data
from robot_id.cli.main import cli
from robot_id.data import Dataset, Run
from robot_id.methods.result import Iteration, Result
from robot_id.regression.rows.prediction import PredictedRun, Prediction
from robot_id.report import html
from robot_id.report.html import Provenance, series, write_report
from robot_id.robot import load_robot
from robot_id.tasks import record

CHROMIUM = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser'))), None)


@pytest.fixture(scope='module')
def report(tmp_path_factory):
    """Identify the simulated SCARA by DIDIM with a report, and validate on a second recording."""
    folder = tmp_path_factory.mktemp('report')
    robot = load_robot('scara')
    for seed in (1, 2):
        data.save(record(robot, seed=seed), folder / f'{seed}.csv')
    arguments = ['identify', '--robot', 'scara', '--method', 'didim', '--data', folder / '1.csv']
    arguments += ['--validate', folder / '2.csv', '--set', 'decimation=20']
    arguments += ['--json', folder / 'r.json', '--report', folder / 'r.html']
    done = CliRunner().invoke(cli, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    return folder


def numbers_of(page):
    text = re.search(r'<script type="application/json" id="numbers">(.*?)</script>', page, re.S)
    return json.loads(text.group(1))


def test_it_holds_everything_and_asks_for_nothing(report):
    page = (report / 'r.html').read_text()
    for key in ('torques', 'parameters', 'friction', 'validation', 'residuals', 'convergence',
                'correlation', 'motion', 'data', 'robot', 'repeat'):  # fmt: skip
        assert f'<section id="{key}">' in page
        assert f'href="#{key}"' in page
    ids = re.findall(r' id="([^"]+)"', page.partition('<script')[0])
    assert len(set(ids)) == len(ids)
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert 'http' not in re.sub(r'"result":.*', '', page)  # namespaces of the URDF come after it
    assert 'prefers-color-scheme: dark' in page
    assert numbers_of(page)['result'] == json.loads((report / 'r.json').read_text())
    assert f'--data {report / "1.csv"}' in page
    assert 'decimation=20' in page
    robot = load_robot('scara')
    for name in robot.base.names:
        assert f'<b>{name}</b>' in page


def test_parameters_stand_in_order_of_relevance(report):
    page = (report / 'r.html').read_text()
    table = page[page.index('<section id="parameters">') :].partition('</section>')[0]
    shown = re.findall(r'<td><b>(\w+)</b>', table)
    result = Result.load(report / 'r.json')
    order = np.argsort(result.percent_std)
    assert shown == [result.names[i] for i in order]


def test_the_numbers_are_those_of_the_prediction(report):
    joint = numbers_of((report / 'r.html').read_text())['sets']['torques']['joints'][0]
    whole = np.frombuffer(base64.b64decode(joint['runs'][0]['measured']), '<i2')
    robot = load_robot('scara')
    recorded = data.load(report / '1.csv', joint_names=robot.joint_names)
    result = Result.load(report / 'r.json')
    from robot_id.tasks.validation import validate

    torque = validate(robot, result, recorded).prediction.runs[0].measured[:, 0]
    step = joint['measured_step']
    assert np.allclose(whole * step, torque, atol=0.51 * step)


def chromium(page, folder, *flags):
    command = [
        CHROMIUM, '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic',
        '--no-first-run', '--disable-background-networking', '--disable-component-update',
        '--disable-sync', f'--user-data-dir={folder / "profile"}', '--virtual-time-budget=4000',
        '--enable-logging=stderr', *flags, page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason='no chromium on this machine')


@needs_browser
def test_it_opens_without_an_error_and_draws_every_plot(report, tmp_path):
    done = chromium(report / 'r.html', tmp_path, '--window-size=1200,5000', '--dump-dom')
    console = [line for line in done.stderr.splitlines() if 'CONSOLE' in line]
    assert not console
    assert 'data-ready="yes"' in done.stdout
    canvases = re.findall(r'<canvas[^>]*>', done.stdout)
    assert len(canvases) == 6  # torques, validation and motion of two joints
    assert all('data-drawn="yes"' in canvas for canvas in canvases)
    assert 'href="blob:' in done.stdout


@needs_browser
@pytest.mark.parametrize(('size', 'scheme'), [('1400,1400', 1), ('400,1400', 0)])
def test_the_picture_has_both_lines_on_the_ground_of_its_scheme(report, tmp_path, size, scheme):
    from matplotlib import image

    shot = tmp_path / 'shot.png'
    chromium(
        report / 'r.html', tmp_path, f'--window-size={size}', f'--screenshot={shot}',
        f'--blink-settings=preferredColorScheme={scheme}',
    )  # fmt: skip
    pixels = image.imread(shot)[..., :3].reshape(-1, 3)

    def count(colour):
        rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
        return int(np.sum(np.all(np.abs(pixels - rgb) < 0.06, axis=1)))

    style = (report / 'r.html').read_text()
    schemes = style.split('@media (prefers-color-scheme: dark)')
    part = schemes[1 if scheme == 0 else 0]
    colours = {k: re.search(rf'--{k}: (#\w+)', part).group(1)
               for k in ('page', 'card', 'measured', 'predicted', 'residual')}  # fmt: skip
    assert count(colours['card']) > 0.3 * len(pixels)
    for line in ('measured', 'predicted', 'residual'):
        assert count(colours[line]) > 100, line


def big_parts(samples):
    """Sixty seconds of a six-axis arm at 1 kHz, every sample kept."""
    robot = load_robot('tx40')
    rng = np.random.default_rng(0)
    time = np.arange(samples) / 1000.0
    torque = rng.normal(size=(samples, 6))
    used = np.ones((samples, 6), bool)
    used[::7] = False
    predicted = torque + 0.1 * rng.normal(size=torque.shape)
    fitted = Prediction(robot.joint_names, (PredictedRun(time, torque, predicted, used),))
    b = len(robot.base)
    root = rng.normal(size=(b, 2 * b))
    chi = robot.truth()
    history = tuple(Iteration(chi * (1 + 2.0**-k), 5.0 + 2.0**-k) for k in range(8))
    result = Result('tx40', 'didim', robot.base.names, chi, 1e-6 * root @ root.T, history=history,
                    iterations=8, simulations=9)  # fmt: skip
    return robot, Dataset(robot.joint_names, (Run(time, torque, torque),)), result, fitted


def test_a_minute_of_six_joints_stays_below_5_mb(tmp_path):
    robot, dataset, result, fitted = big_parts(60_000)
    path = tmp_path / 'big.html'
    write_report(path, robot, dataset, result, fitted, Provenance('robot-id identify'))
    assert path.stat().st_size < 5e6
    joint = numbers_of(path.read_text())['sets']['torques']['joints'][0]
    whole = np.frombuffer(base64.b64decode(joint['runs'][0]['measured']), '<i2')
    assert np.array_equal(whole == series.GAP, ~fitted.runs[0].used[:, 0])


NODE = shutil.which('node')


@pytest.mark.skipif(NODE is None, reason='no node on this machine')
def test_every_axis_has_two_marks_at_least():
    script = (Path(html.__file__).parent / 'report.js').read_text()
    ticks = re.search(r'const ticks = .*?\n  };', script, re.DOTALL)[0]
    ranges = [[-0.0186, 0.0186], [-0.25, 0.25], [0.0, 1.0], [3.1, 3.2], [-1e-9, 2e-9], [1e3, 1001]]
    ranges += [[-0.3, 9.0], [-0.99, 0.99], [-1.01, 1.01], [-4.9, 4.9]]
    code = f'{ticks} console.log(JSON.stringify({ranges}.map((r) => ticks(...r, 3))));'
    done = subprocess.run([NODE, '-e', code], capture_output=True, text=True, check=True)
    for (low, high), found in zip(ranges, json.loads(done.stdout)):
        assert 2 <= len(found['values']) <= 8
        shown = [f'{value:.{found["digits"]}f}' for value in found['values']]
        assert len(set(shown)) == len(shown)
        assert all(low - 1e-9 <= value <= high + 1e-9 for value in found['values'])


@pytest.mark.parametrize('every', [1, 2, 7])
def test_thinning_keeps_the_extremes(every):
    values = np.random.default_rng(1).normal(size=5003)
    values[::11] = np.nan
    kept = series.thin(values, every)
    assert np.all(np.diff(kept) >= 0)
    assert len(kept) <= len(values) / every + 2 * every
    full = len(values) // (2 * every) * 2 * every
    blocks, thin = values[:full].reshape(-1, 2 * every), values[kept[: full // every]]
    if every > 1:
        assert np.array_equal(np.nanmax(thin.reshape(-1, 2), axis=1), np.nanmax(blocks, axis=1))
        assert np.array_equal(np.nanmin(thin.reshape(-1, 2), axis=1), np.nanmin(blocks, axis=1))


def test_names_cannot_break_out(tmp_path):
    robot, dataset, result, fitted = big_parts(2000)
    evil = '</script><script>alert(1)</script>'
    dataset = Dataset(dataset.joint_names, dataset.runs, evil, (evil,))
    fields = result.__dict__ | {'warnings': (evil,), 'options': {evil: evil}}
    path = tmp_path / 'evil.html'
    write_report(path, robot, dataset, Result(**fields), fitted, Provenance(evil))
    assert evil not in path.read_text()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(report):
    command = [sys.executable, '-m', 'robot_id.cli.main', 'identify', '--robot', 'scara']
    command += ['--data', str(report / '1.csv'), '--report', str(report / 'no' / 'r.html')]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert 'cannot write' in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
