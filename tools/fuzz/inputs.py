"""Sound inputs of every format, small, to be mutated."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as arrow
import scipy.io
from pyarrow import parquet
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from robot_id import data
from robot_id.data import Dataset, Run
from robot_id.robot import load_robot
from robot_id.share import share_directory
from tools.fuzz import results
from tools.running.typestore import typestore

MAPPING = """rate_hz: 1000
rows: [1, 300]
time: {{column: time, unit: s}}
position: {{columns: [position.{}], unit: mm, scale: [1.0], motor_matrix: [[2.0]]}}
torque: {{columns: 3-3, unit: N, scale: 1.5}}
"""

DRIVER = """description: a driver
joints: {motor: carriage}
topics: {joint_states: joint_states, effort_commands: controller/commands}
position: {unit: mm, offset: 1.0}
torque: {unit: A, scale: drive_gain}
control: {unit: N, scale: [1.5], motor_matrix: [[2.0]]}
"""

CAMPAIGN = """robots: [emps, {robot: scara, loop: default}, {random: 2, joints: 2, seed: 0}]
motions: [default, {random: 10, seed: 3}]
noise: [file, 2, {torque_std: 2, colour: 0.9}, {position_std: 1, missed: 0.01}]
rates: [controller, 100]
starts: [method, 0, 0.2]
controller: [exact, {bandwidth: 1.2}, {delay: 1}, unknown, no_reference]
friction: [same, [viscous]]
methods: [idim_wls, {method: idim_iv, options: {cutoff_hz: 20}, label: IV 20 Hz}]
repetitions: 50
seed: 1
seconds: 300
memory: 4GB
"""

_QUINTIC = {'kind': 'quintic', 'waypoints': [[0.0], [0.1], [0.0]], 'durations': [1.0, 1.0]}
_WAVE = [0.1 * k * (9 - k) / 20 for k in range(10)]
# One of each kind; the last is a csv of a reference.
MOTIONS: dict[str, dict[str, Any]] = {
    'motion.json': _QUINTIC,
    'trapezoid.json': {'kind': 'trapezoid', 'waypoints': [[0.0], [0.1]], 'velocity': 0.2,
                       'acceleration': 1.0, 'dwell': 0.1},
    'fourier.json': {'kind': 'fourier', 'duration': 2.0, 'offset': [0.1],
                     'sine': [[0.02, -0.01]], 'cosine': [[0.04, -0.01]]},
    'piecewise.json': {'kind': 'piecewise', 'breaks': [0.0, 1.0, 2.0],
                       'coefficients': [[[0.0], [0.1]], [[0.1], [0.1]]]},
    'playback.json': {'kind': 'playback', 'time': [0.1 * k for k in range(10)],
                      'position': [[q] for q in _WAVE]},
    'concatenation.json': {'kind': 'concatenation', 'parts': [_QUINTIC, _QUINTIC]},
    'selection.json': {'kind': 'selection', 'trajectory': _QUINTIC, 'index': [0]},
    'reference.csv': {},
}  # fmt: skip
_CHANNELS = ('position', 'velocity', 'acceleration')
REFERENCE = ','.join(['time', *(f'reference_{each}.carriage' for each in _CHANNELS)]) + ''.join(
    f'\n{0.01 * k!r},{0.1 * math.cos(0.05 * k)!r},{-0.5 * math.sin(0.05 * k)!r},0.0'
    for k in range(99)
)
# The description of a LeRobot data set of one motor.
INFO = {'fps': 1000, 'features': {
    name: {'dtype': 'float32', 'shape': [1], 'names': ['carriage.pos']}
    for name in ('observation.state', 'action')
}}  # fmt: skip
ROBOTS = ('emps.yaml', 'scara.yaml', 'tx40.yaml')


def dataset(samples: int = 400) -> Dataset:
    """A short motion of one joint, with everything that is read."""
    t = np.arange(samples) * 1e-3
    q = (0.1 * np.sin(9 * t) + 0.05 * np.sin(23 * t))[:, None]
    dq = np.gradient(q[:, 0], t)[:, None]
    ddq = np.gradient(dq[:, 0], t)[:, None]
    torque = 95.0 * ddq + 203.0 * dq + 20.0 * np.sign(dq) - 3.0
    joint = load_robot('emps').joint_names
    run = Run(t, q, torque, dq, reference_position=q, reference_velocity=dq, control=torque)
    return Dataset(joint, (run,))


def build(folder: Path) -> dict[str, Path]:
    """Write one file of each kind and return them by name."""
    recorded = dataset()
    run = recorded.runs[0]
    found: dict[str, Path] = {}
    for name in ('x.csv', 'x.npz'):
        found[name] = data.save(recorded, folder / name)
    (folder / 'x.csv.gz').write_bytes(gzip.compress(found['x.csv'].read_bytes(), mtime=0))
    arrays = {'time': run.time, 'position': run.position, 'torque': run.torque}
    scipy.io.savemat(folder / 'five.mat', arrays, do_compression=True)
    with h5py.File(folder / 'hdf.mat', 'w') as file:
        for key, values in arrays.items():
            file[key] = values.T
    lists = {name: values.ravel().tolist() for name, values in arrays.items()}
    (folder / 'log.json').write_text(json.dumps(lists))
    parquet.write_table(arrow.table(lists), folder / 'x.parquet')
    (folder / 'info.json').write_text(json.dumps(INFO))
    parquet.write_table(_episodes(run), folder / 'episodes.parquet')
    bag = data.save(recorded, folder / 'bag')
    found['x.mcap'] = next(bag.glob('*.mcap'))
    found['metadata.yaml'] = bag / 'metadata.yaml'
    _other_bags(folder, found['x.mcap'])
    share = share_directory()
    for robot in (Path(name).stem for name in ROBOTS):
        text = (share / f'config/robots/{robot}.yaml').read_text()
        text = text.replace('../../urdf', str(share / 'urdf'))
        (folder / f'{robot}.yaml').write_text(text)
        (folder / f'{robot}.urdf').write_text((share / f'urdf/{robot}.urdf').read_text())
    (folder / 'mapping.yaml').write_text(MAPPING.format(recorded.joint_names[0]))
    (folder / 'driver.yaml').write_text(DRIVER)
    (folder / 'known.json').write_text(results.load_file())
    for name, form in (
        ('result.json', results.whole()),
        ('other.json', results.whole(2.0)),
        ('physical.json', results.whole(physical=True)),
        ('servo.json', results.servo()),
    ):
        (folder / name).write_text(json.dumps(form))
    (folder / 'model.urdf').write_text((share / 'urdf/emps.urdf').read_text())
    (folder / 'campaign.yaml').write_text(CAMPAIGN)
    for name, motion in MOTIONS.items():
        (folder / name).write_text(json.dumps({'schema': 1, **motion}) if motion else REFERENCE)
    for path in sorted(folder.iterdir()):
        if path.is_file():
            found.setdefault(path.name, path)
    return found


def _episodes(run: Run) -> arrow.Table:
    """Two episodes of a LeRobot data set."""
    half = len(run) // 2
    return arrow.table(
        {
            'observation.state': run.position.tolist(),
            'action': run.position.tolist(),
            'timestamp': np.arange(2 * half) % half * 1e-3,
            'episode_index': np.arange(2 * half) // half,
        }
    )


def _other_bags(folder: Path, ours: Path) -> None:
    """The same messages as sqlite, and as mcap with compressed chunks of another writer."""
    from robot_id.data.io.bags.mcap_scan import McapScan

    scan = McapScan(ours)
    messages = list(scan.messages())
    kinds = {topic.name: topic.type for topic in scan.topics.values()}
    for name, plugin in (('lite', StoragePlugin.SQLITE3), ('zstd', StoragePlugin.MCAP)):
        writer = Writer(folder / name, version=9, storage_plugin=plugin)
        if name == 'zstd':
            writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        with writer:
            topics = {
                topic: writer.add_connection(topic, kind, typestore=typestore())
                for topic, kind in kinds.items()
            }
            for topic, received, content in messages:
                writer.write(topics[topic], received, content)
    (folder / 'x.db3').write_bytes(next((folder / 'lite').glob('*.db3')).read_bytes())
    (folder / 'z.mcap').write_bytes(next((folder / 'zstd').glob('*.mcap')).read_bytes())
