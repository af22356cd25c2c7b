"""
The studio's own process with an hour of two joints at 1 kHz, seen by a browser.

Its peak memory against the samples of the file, and the time from a zoom in the browser until the
chart has the samples of the new window: event, server, network, chart.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench.figure import Figure
from robot_id import load_robot
from robot_id.data import save
from robot_id.data.dataset import Dataset, Run

SAMPLES, RATE = 3_600_000, 1000.0
BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')
ZOOMS = 9
# Milliseconds that the browser waits for anything.
PATIENCE_MS = 300_000
# Zooms and waits until the first point of the chart is that of the new window.
ZOOM = """
([id, first, last]) => new Promise((done) => {
  const chart = getElement(id).chart, began = performance.now();
  const look = () => {
    const data = chart.getOption().series[0].data;
    const step = (last - first) / 100, off = Math.abs(data[0][0] - first);
    if (off < step && data[data.length - 1][0] < last + step) done(performance.now() - began);
    else setTimeout(look, 2);
  };
  chart.dispatchAction({type: 'dataZoom', startValue: first, endValue: last});
  look();
})
"""


def write_hour(folder: Path) -> float:
    """Write the recording and return the megabytes of its samples."""
    robot = load_robot('scara')
    time = np.arange(SAMPLES) / RATE
    rates = 1.0 + 0.1 * np.arange(robot.n)
    position = np.sin(time[:, None] * rates)
    torque = position + 0.01 * np.random.default_rng(0).normal(size=position.shape)
    run = Run(time, position, torque)
    save(Dataset(robot.joint_names, (run,)), folder / 'hour.npz')
    return sum(each.nbytes for each in (time, position, torque)) / 1e6


@contextmanager
def studio(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the studio on a folder; its process and its address."""
    command = [sys.executable, '-m', 'robot_id.cli.main', 'studio', str(folder), '--no-browser']
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r'http://\S+', line):
                yield process, found[0]
                break
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def peak_mb(process: subprocess.Popen[str]) -> float:
    """Return the largest resident memory that a process had, in megabytes."""
    status = Path(f'/proc/{process.pid}/status').read_text()
    return float(status.partition('VmHWM:')[2].split()[0]) / 1e3


def zooms(page: Any) -> list[float]:
    """Choose the recording, look at it, and return milliseconds from each zoom to its samples."""
    for label, option in (('URDF or robot file', 'scara'), ('recording', 'hour.npz')):
        page.locator('label:visible', has_text=label).first.click()
        page.locator('.q-menu .q-item', has_text=option).first.click()
        page.wait_for_timeout(2000)
    page.get_by_role('button', name='Add', exact=True).click()
    page.locator('.q-tab', has_text='Look').first.click()
    page.get_by_text(f'{SAMPLES} samples').wait_for()
    chart = page.locator('.nicegui-echart').first
    chart.locator('canvas').first.wait_for()
    page.wait_for_timeout(2000)
    number = int(str(chart.get_attribute('id')).removeprefix('c'))
    rng = np.random.default_rng(1)
    found = []
    for width in np.geomspace(5.0, 1800.0, ZOOMS):
        first = float(rng.uniform(0.0, 3500.0 - width))
        found.append(float(page.evaluate(ZOOM, [number, first, first + float(width)])))
    return found


def bench_server() -> list[Figure]:
    """Return megabytes of the process and milliseconds of a zoom."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        click.echo(f'left out: no browser of {", ".join(BROWSERS)} is installed', err=True)
        return []
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name:
        samples = write_hour(Path(name))
        with studio(Path(name)) as (process, address), sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=path, args=['--no-sandbox'])
            page = browser.new_page()
            page.set_default_timeout(PATIENCE_MS)
            for _ in range(100):
                try:
                    page.goto(address)
                    break
                except Exception:
                    page.wait_for_timeout(200)
            taken = zooms(page)
            browser.close()
            peak = peak_mb(process)
    title = 'studio: an hour of 2 joints'
    return [
        Figure(f'{title}: peak memory of its process', peak, 'MB', 'samples', samples / peak),
        Figure(f'{title}: a zoom in the browser, median', float(np.median(taken)), 'ms'),
        Figure(f'{title}: a zoom in the browser, slowest', max(taken), 'ms'),
    ]
