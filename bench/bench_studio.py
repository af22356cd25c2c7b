"""
An hour at 1 kHz in the studio.

A window of seven joints against thinning all of their samples, and the memory that drawing adds;
then its own process with the hour of a six-axis arm, seen by a browser: its peak memory against
the samples, and the time from a zoom until the chart has the new window.
"""

from __future__ import annotations

import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np

from bench.figure import Figure, in_turns
from robot_id import load_robot
from robot_id.data import save
from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals.envelope import Envelope

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tools')]

from running.studio_page import Page, Studio, browser_program, headless  # noqa: E402

SAMPLES, JOINTS, INTERVALS = 3_600_000, 7, 300
ZOOMS = 9
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


def hour() -> Envelope:
    """Return positions of an hour."""
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.normal(size=(SAMPLES, JOINTS)), axis=0)
    return Envelope(np.arange(SAMPLES) / 1000.0, {'position': walk})


def every_sample(envelope: Envelope) -> None:
    """Take the extremes of all samples, as a page without levels would."""
    edges = np.linspace(0, SAMPLES, INTERVALS + 1).astype(np.int64)[:-1]
    values = envelope.channels['position']
    np.minimum.reduceat(values, edges)
    np.maximum.reduceat(values, edges)


def window(envelope: Envelope, start: float, end: float) -> None:
    """Take what one redraw sends."""
    for joint in range(JOINTS):
        envelope.window('position', joint, start, end, INTERVALS)


def bench_hour() -> list[Figure]:
    """Return milliseconds of a redraw, and megabytes of the levels."""
    envelope = hour()
    tracemalloc.start()
    window(envelope, 0.0, SAMPLES / 1000.0)
    levels = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    found = []
    for name, start, end in (('hour', 0.0, 3600.0), ('minute', 1800.0, 1860.0)):
        seconds = in_turns(
            {
                'ours': lambda start=start, end=end: window(envelope, start, end),
                'all': lambda: every_sample(envelope),
            },
            repeats=3,
        )
        found.append(
            Figure(
                f'studio: redraw a {name} of an hour, 7 joints',
                1e3 * seconds['ours'],
                'ms',
                'extremes of all samples',
                seconds['all'] / seconds['ours'],
            )
        )
    whole = envelope.channels['position'].nbytes / 1e6
    found.append(Figure('studio: levels of an hour', levels, 'MB', 'samples', whole / levels))
    return found


def write_hour(path: Path) -> float:
    """Write a recording of the TX40 and return the megabytes of its samples."""
    robot = load_robot('tx40')
    time = np.arange(SAMPLES) / 1000.0
    position = np.sin(time[:, None] * (1.0 + 0.1 * np.arange(robot.n)))
    torque = position + 0.01 * np.random.default_rng(0).normal(size=position.shape)
    save(Dataset(robot.joint_names, (Run(time, position, torque),)), path)
    return sum(each.nbytes for each in (time, position, torque)) / 1e6


def zooms(page: Page) -> list[float]:
    """Look at the recording and return milliseconds of zooms to 5 s up to half an hour."""
    page.choose('URDF or robot file', 'tx40')
    page.sees('6 joints')
    page.choose('recording', 'hour.npz')
    page.press('Add')
    page.tab('Look')
    page.sees(f'{SAMPLES} samples')
    chart = page.page.locator('.nicegui-echart').first
    chart.locator('canvas').first.wait_for()
    number = int(str(chart.get_attribute('id')).removeprefix('c'))
    page.page.wait_for_function(f'getElement({number}).chart !== undefined')
    rng, found = np.random.default_rng(1), []
    for width in np.geomspace(5.0, 1800.0, ZOOMS):
        first = float(rng.uniform(0.0, 3500.0 - width))
        found.append(float(page.page.evaluate(ZOOM, [number, first, first + float(width)])))
    return found


def bench_server() -> list[Figure]:
    """Return megabytes of the process and milliseconds of a zoom; nothing without a browser."""
    if browser_program() is None:
        return []
    with tempfile.TemporaryDirectory() as name, headless() as browser:
        samples = write_hour(Path(name) / 'hour.npz')
        studio = Studio(Path(name))
        try:
            taken = zooms(Page(browser, studio.url))
            status = Path(f'/proc/{studio.process.pid}/status').read_text()
        finally:
            studio.end()
    peak = float(status.partition('VmHWM:')[2].split()[0]) / 1e3
    title = 'studio: an hour of 6 joints'
    return [
        Figure(f'{title}: peak memory of its process', peak, 'MB', 'samples', samples / peak),
        Figure(f'{title}: a zoom in the browser, median', float(np.median(taken)), 'ms'),
        Figure(f'{title}: a zoom in the browser, slowest', max(taken), 'ms'),
    ]
