"""The campaign: the same table whoever computes it, and no cell ends it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

pytest.importorskip('distributed')
pytest.importorskip('pyarrow')

from robot_id.exceptions import DataError, RobotIdError
from robot_id.guarded import GuardedProcess
from robot_id.progress import silent
from robot_id.studies.campaign import engine, read_campaign, summarise
from robot_id.studies.campaign.cell import run_cell
from robot_id.studies.campaign.engine import NAME, request_of, row_of, run_campaign
from robot_id.studies.campaign.grid import key_of
from robot_id.studies.campaign.random_robots import random_robot
from robot_id.studies.campaign.report import to_html, to_markdown
from robot_id.studies.campaign.store import TIMES, Store
from robot_id.studies.campaign.summary import Share, coverage

ROOT = Path(__file__).resolve().parents[2]
SHORT = {'robots': ['scara'], 'motions': [{'random': 4}], 'methods': ['idim_wls']}


def written(folder, **grid):
    path = folder / 'grid.yaml'
    path.write_text(yaml.safe_dump(SHORT | grid))
    return path


def table(store):
    return store.table().drop_columns(list(TIMES))


@pytest.fixture(scope='module')
def twelve(tmp_path_factory):
    """Twelve runs by one worker."""
    folder = tmp_path_factory.mktemp('campaign')
    path = written(folder, noise=[1, {'torque_std': 2, 'colour': 0.9}], repetitions=6)
    return path, run_campaign(path, folder / 'one', workers=1)


def test_a_killed_client_goes_on_with_two_workers_to_the_same_table(twelve, tmp_path):
    path, one = twelve
    out = tmp_path / 'two'
    command = [sys.executable, '-m', 'robot_id.cli.main', 'campaign', str(path), '--out', str(out)]
    client = subprocess.Popen(
        [*command, '--workers', '2'], cwd=ROOT, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while client.poll() is None and not list(out.glob('runs/[!.]*.parquet')):
        time.sleep(0.05)
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    before = Store(out).table()
    assert 0 < before.num_rows <= 12
    progress = []
    store = run_campaign(path, out, workers=2, progress=lambda at, text='': progress.append(at))
    assert table(store).equals(table(one))
    assert one.table().num_rows == 12
    # What was done before was not computed again: its seconds are the old ones.
    old = dict(zip(before['key'].to_pylist(), before['cell_seconds'].to_pylist()))
    new = store.table()
    assert (
        old.items() <= dict(zip(new['key'].to_pylist(), new['cell_seconds'].to_pylist())).items()
    )


def test_rows_tell_the_truth_and_the_summary_its_share(twelve, tmp_path):
    _, store = twelve
    rows = store.rows()
    cell = json.loads(rows[0]['cell'])
    again = run_cell(cell)
    assert key_of(cell) == rows[0]['key'] == again['key']
    assert np.allclose(again['values'], rows[0]['values'], rtol=1e-9)
    summary = summarise(rows)
    assert [group.runs for group in summary.groups] == [6, 6]
    for group in summary.groups:
        assert group.success.value == 1.0
        assert 0.0 < group.torque_error < 5.0
        assert group.coverage_68.low <= group.coverage_68.value <= group.coverage_68.high
    assert 'idim_wls' in to_markdown(summary)
    assert to_html(summary).count('<svg') >= 4
    assert json.loads(summary.to_json())['runs'] == 12


def test_one_campaign_at_a_time_and_no_foreign_folder(twelve, tmp_path):
    path, store = twelve
    with store.lock(), pytest.raises(DataError, match='another campaign'), store.lock():
        pass
    (tmp_path / 'letter.txt').write_text('mine')
    with pytest.raises(DataError, match='files that are not of a campaign'):
        run_campaign(path, tmp_path, workers=1)


def test_cells_that_raise_hang_and_take_too_much_are_failures(tmp_path):
    wrong = {'method': 'idim_iv', 'options': {'loop': 'nothing'}}
    path = written(tmp_path, methods=['idim_wls', wrong])
    good, raising = list(read_campaign(path).cells())
    process = GuardedProcess(NAME)

    def run(cell, seconds, memory):
        return row_of(cell, process.answer(request_of(cell, seconds, memory)))

    row = run(raising, 60.0, 1 << 32)
    assert row['verdict'] == 'failed'
    assert "no loop 'nothing'" in row['failure']
    assert run(good, 60.0, 1 << 32)['verdict'] == 'converged'
    greedy = good | {'motions': {'motion': 'random', 'seconds': 3600.0, 'seed': 0}}
    assert 'MemoryError' in run(greedy, 60.0, 50 << 20)['failure']
    assert process.alive
    simplex = {'method': 'cloe', 'options': {'optimizer': 'nelder_mead'}, 'label': 'simplex'}
    endless = good | {'methods': simplex, 'starts': 0.3}
    late = run(endless, 0.5, 1 << 32)
    assert late['failure'] == 'TimeLimit: no answer within 0.5 s'
    assert late['key'] == key_of(endless)
    assert not process.alive


def test_compiling_counts_neither_for_the_memory_nor_for_the_time_of_a_cell(tmp_path, monkeypatch):
    monkeypatch.setenv('NUMBA_CACHE_DIR', str(tmp_path / 'kernels'))
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    (cell,) = read_campaign(written(tmp_path)).cells()
    process = GuardedProcess(NAME)
    started = time.monotonic()
    row = row_of(cell, process.answer(request_of(cell, 60.0, 50 << 20)))
    passed = time.monotonic() - started
    process.close()
    assert row['verdict'] == 'converged', row['failure']
    assert row['cell_seconds'] < 0.5 * passed


LIMITED = """
import time
import numpy as np
from numba.core.event import trigger_event
from robot_id.studies.campaign.limits import EVENTS, Limits
limits = Limits()
limits.begin(0.5, 50 << 20)
for name in EVENTS:
    with trigger_event(name), trigger_event(name):
        kept = np.ones(10 << 20)
        time.sleep(0.6)
try:
    np.ones(10 << 20)
except MemoryError:
    print('limited', flush=True)
time.sleep(5.0)
"""


def test_after_compiling_the_limits_hold_again():
    done = subprocess.run(
        [sys.executable, '-c', LIMITED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ('limited\n', -signal.SIGALRM), done.stderr


@pytest.mark.parametrize(
    ('grid', 'line'),
    [
        ({'robot': ['scara']}, "unknown key 'robot', did you mean 'robots'"),
        ({'robots': ['skara']}, "robots[0]: no robot 'skara', did you mean 'scara'"),
        ({'robots': [{'random': 2, 'joint': 3}]}, "robots[0]: unknown key 'joint'"),
        (
            {'methods': ['idim_wlss']},
            "methods[0].method: 'idim_wlss' is not known, did you mean 'idim_wls'",
        ),
        ({'methods': [{'method': 'idim_wls', 'options': {'cutof_hz': 2}}]}, "'cutof_hz'"),
        ({'methods': []}, 'methods: the list is empty'),
        ({'methods': ['idim_wls', 'idim_wls']}, 'methods: the same entry appears twice'),
        ({'noise': [{'torque': 2}]}, "noise[0]: unknown key 'torque', did you mean 'torque_std'"),
        ({'noise': [{'missed': 0.9}]}, 'noise[0].missed: 0.9 must lie between 0 and 0.5'),
        ({'rates': [150]}, 'rates[0]: 150 Hz does not divide the 200 Hz'),
        ({'starts': [0.7]}, 'starts[0]: 0.7 must lie'),
        ({'controller': ['exakt']}, "controller[0]: 'exakt' is not known, did you mean 'exact'"),
        ({'friction': [['coulom']]}, 'friction[0]: '),
        ({'motions': ['emps_cycle']}, 'motions[0]: 1 joints, scara has 2'),
        ({'repetitions': 0}, 'repetitions: 0 must lie'),
        ({'seed': 1.5}, 'seed: a whole number'),
    ],
)
def test_bad_grids_are_refused_before_anything_runs(tmp_path, grid, line):
    path, out = written(tmp_path, **grid), tmp_path / 'out'
    with pytest.raises(RobotIdError) as refused:
        run_campaign(path, out)
    assert line in str(refused.value)
    assert not out.exists()


def test_every_condition_can_be_run(tmp_path, monkeypatch):
    monkeypatch.setenv('ROBOT_ID_GENERATED', '0')
    path = written(
        tmp_path,
        noise=[{'missed': 0.02}],
        rates=[100],
        starts=['method', 0.3],
        controller=['exact', 'unknown', 'no_reference', {'bandwidth': 1.2}, {'delay': 1}],
        friction=['same', ['viscous', 'coulomb', 'offset']],
        methods=['idim_wls', 'didim'],
    )
    campaign = read_campaign(path)
    cells = list(campaign.cells())
    # A method that starts nowhere runs once for all starts.
    assert len(cells) == len(campaign) == 5 * 2 * (1 + 2)
    assert len({key_of(cell) for cell in cells}) == len(cells)
    rows = [run_cell(cell) for cell in cells[:4] + cells[6:8] + cells[12:13] + cells[-3:]]
    assert [row['failure'] for row in rows if row['method'] == 'idim_wls'] == [''] * 5
    exact = [row for row in rows if row['controller'] == 'exact' and row['method'] == 'didim']
    assert all(row['torque_error_percent'] < 10.0 for row in exact)
    assert len(rows[3]['names']) == len(rows[0]['names']) + 2


def test_random_robots_are_repeatable_and_physical():
    for seed in range(3):
        robot, again = random_robot(seed, 4), random_robot(seed, 4)
        assert np.array_equal(robot.truth(), again.truth())
        chi_st = robot.standard_prior()
        for row in robot.inertial_index:
            XX, XY, XZ, YY, YZ, ZZ = chi_st[row[:6]]
            moments = np.linalg.eigvalsh([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
            assert moments[0] > 0.0
            assert moments[2] <= moments[0] + moments[1]
    assert not np.array_equal(random_robot(0, 4).truth(), random_robot(1, 4).truth())


def test_shares_know_how_well_they_are_known():
    # Wilson for 8 of 10: 0.490 to 0.943 (Brown, Cai, DasGupta 2001, by its formula).
    share = Share.of(0.8, 10)
    assert (share.low, share.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert np.isnan(Share.of(0.0, 0).value)
    rng = np.random.default_rng(1)
    alone = rng.normal(size=(400, 20))
    assert abs(coverage(alone, np.ones_like(alone), 1.959964).value - 0.95) < 0.01
    # Parameters that all err together are no more than one each run.
    together = np.repeat(alone[:, :1], 20, axis=1)
    wide, narrow = (coverage(x, np.ones_like(x), 1.959964) for x in (together, alone))
    assert wide.high - wide.low > 3.0 * (narrow.high - narrow.low)


def test_batches_become_smaller_at_the_end_so_that_all_workers_end_together(tmp_path):
    path = tmp_path / 'grid.yaml'
    grid = {'robots': ['scara'], 'methods': ['idim_ols'], 'repetitions': 100}
    path.write_text(yaml.safe_dump(grid))
    dispatcher = engine._Dispatcher(None, read_campaign(path), Store(tmp_path), silent, 0)
    dispatcher.threads, dispatcher.done, dispatcher.cell_seconds = 2, 10, 0.5
    sizes, left = [], 90
    while left:
        sizes.append(dispatcher._size())
        dispatcher.done += sizes[-1]
        dispatcher.cell_seconds = 0.05 * dispatcher.done
        left -= sizes[-1]
    # 2 s of 50 ms each are 40 cells; a quarter of what is left is the most that two workers get.
    assert sizes[0] == 22
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-3:] == [1, 1, 1]
