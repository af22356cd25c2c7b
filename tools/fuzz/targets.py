"""What is tried: each target takes a generator of random numbers and runs one case."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# Interrupted by a time limit, a first import would stay half done in this process.
from matplotlib import pyplot  # noqa: F401

from robot_id import budget, data, options
from robot_id.data import Dataset, Run
from robot_id.data.io.bags.replay import BagReplay
from robot_id.data.mapping import Channel, Mapping, Topics
from robot_id.exceptions import RobotIdError
from robot_id.methods import registry
from robot_id.methods.model_file import load_result_or_model
from robot_id.progress import silent
from robot_id.robot import load_robot
from robot_id.ros.driver_mapping import DriverMapping
from robot_id.studies.campaign.grid import read_campaign
from robot_id.tasks.payload.attachment import known_part
from robot_id.trajectory.default import motion_of
from tools.fuzz import mutate, results, structure
from tools.fuzz.inputs import MOTIONS, ROBOTS
from tools.fuzz.machines import Machines
from tools.fuzz.verbs import Verbs

# Seconds that an estimation is given; the watchdog allows more.
PATIENCE_S = 10.0
_TEXTS = ('.csv', '.yaml', '.urdf', '.json')
_TREES = ('.yaml', '.json')
Way = Callable[[bytes, random.Random], bytes]
# What knows the format of a file.
_STRUCTURES: dict[str, Way] = {
    '.mcap': structure.mcap, '.npz': structure.archive, '.urdf': structure.elements,
    '.csv': structure.columns, '.gz': structure.zipped, '.db3': structure.tables,
    'five.mat': structure.matlab, 'hdf.mat': structure.datasets,
}  # fmt: skip
# Files whose bytes have checksums: read without a note, they hold what was written.
CHECKED = ('x.mcap', 'x.npz', 'x.csv.gz')
# Recordings, which are played too.
BAGS = ('.mcap', '.db3')
PLAYED_RATE = 1000.0
# Files of a LeRobot data set: (name, place in its folder); they do not say their units.
LEROBOT = {'info.json': 'meta/info.json', 'episodes.parquet': 'data/chunk-000/file-000.parquet'}
LEROBOT_UNITS = Mapping(topics=Topics(), position=Channel(unit='rad'))
RESULTS = ('result.json', 'other.json', 'physical.json', 'servo.json')


class Silent(Exception):
    """Changed bytes that were read as if nothing had happened, or numbers that are none."""


class Targets:
    """
    All targets over one set of sound inputs.

    :param inputs: files by name, see inputs.py.
    :param folder: where mutants are written.
    """

    def __init__(self, inputs: dict[str, Path], folder: Path) -> None:
        self.inputs = {name: path.read_bytes() for name, path in inputs.items()}
        self.table, self.result = inputs['x.csv'], inputs['result.json']
        self.folder = folder
        self.robot = load_robot('emps')
        self.checked = {name: data.load(inputs[name]) for name in CHECKED}
        self.sound = self.checked['x.mcap']
        self.mutant: Path | None = None
        self.verbs = Verbs(inputs, folder, PATIENCE_S)
        self.machines = Machines(folder)
        # How often each is drawn.
        self.weights: dict[str, int] = {
            **dict.fromkeys(self.inputs, 20), 'x.mcap': 60, 'z.mcap': 30, 'result.json': 60,
            'physical.json': 30, 'servo.json': 40, 'mapping.yaml': 60, 'driver.yaml': 40,
            'known.json': 30, 'five.mat': 40, 'hdf.mat': 30, 'options': 60, 'estimate': 4,
            'verb': 25, 'machine': 3,
        }  # fmt: skip

    def compile(self) -> None:
        """Compile now: a time limit in the middle of it would leave half a compiler behind."""
        for name in registry.names():
            with contextlib.suppress(RobotIdError):
                registry.create(name).estimate(self.robot, self.sound)

    def add_nodes(self) -> None:
        """Let messages to the nodes be one of the targets."""
        from tools.fuzz.graph import Graph

        self.graph = Graph(self.folder.with_name('recordings'))
        self.weights['ros'] = 60

    def run(self, draw: random.Random) -> str:
        """Run one case and return what was tried; raises what the project raises."""
        name = draw.choices(list(self.weights), list(self.weights.values()))[0]
        self.mutant = None
        if name == 'options':
            self._options(draw)
        elif name == 'estimate':
            self._estimate(draw)
        elif name == 'verb':
            self._verb(draw)
        elif name == 'machine':
            return f'machine {self.machines.run(draw, self.verbs.sound(draw))}'
        elif name == 'ros':
            return f'ros {self.graph.run(draw)}'
        else:
            raw, checked = self.mutate(name, draw)
            self.read(name, raw, checked)
        return name

    def mutate(self, name: str, draw: random.Random) -> tuple[bytes, bool]:
        """Return a mutant of a sound input, and whether its checksums are as they were."""
        suffix = Path(name).suffix
        known = _STRUCTURES.get(name) or _STRUCTURES.get(suffix)
        ways: list[Way] = [mutate.damage] * 2 + [self._spliced]
        if suffix in _TEXTS:
            ways += [mutate.damage_text] * 2 + [mutate.every_number, mutate.nest]
        ways += [mutate.damage_tree] * 3 if suffix in _TREES else []
        ways += [known] * 3 if known else []
        way = draw.choice(ways)
        # What is packed anew has checksums of its own, which are right.
        forged = way in (structure.archive, structure.zipped, structure.mcap)
        return way(self.inputs[name], draw), not forged

    def _spliced(self, raw: bytes, draw: random.Random) -> bytes:
        return mutate.splice(raw, draw.choice(list(self.inputs.values())), draw)

    def read(self, name: str, raw: bytes, checked: bool = False) -> None:
        """
        Give bytes to whoever reads files of this name.

        :param checked: whether the checksums inside are those of the sound file.
        """
        path = self.mutant = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(raw)
        if name == 'metadata.yaml':
            storage = self.folder / 'bag_0.mcap'
            storage.write_bytes(self.inputs['x.mcap'])
            path = self.folder
        if name in LEROBOT:
            path = self._lerobot(name, raw)
        if name == 'model.urdf':
            finite(load_result_or_model(self.robot, str(path)).values, 'the values of a URDF')
        elif path.suffix == '.urdf' or name in ROBOTS:
            robot = load_robot(path)
            finite(robot.base.names and robot.kinematics.inertia, 'the inertias of a robot')
        elif name == 'mapping.yaml':
            self._whole(data.load(self.table, path))
        elif name in RESULTS:
            result = results.use(self.robot, path, self.result)
            finite(result.values, 'the values of a result')
        elif name == 'known.json':
            part = known_part(str(path))
            finite((part.standard, part.deviations), 'a known part')
        elif name == 'driver.yaml':
            self._driver(path)
        elif name in MOTIONS:
            motion = motion_of(self.robot, str(path))
            for values in motion.sample(np.linspace(0.0, motion.duration, 100)):
                finite(values, 'a motion')
            motion.extremes()
            motion.sampled(100.0)
        elif name == 'campaign.yaml':
            read_campaign(path)
        else:
            if path.suffix in BAGS:
                with contextlib.suppress(RobotIdError):
                    BagReplay(path, rate=PLAYED_RATE).play(lambda *_: None)
            dataset = data.load(path, LEROBOT_UNITS if name in LEROBOT else None)
            self._whole(dataset)
            if checked and name in CHECKED and dataset.notes == self.checked[name].notes:
                self._same(dataset, self.checked[name])

    def _lerobot(self, name: str, raw: bytes) -> Path:
        """Return the folder of a data set, one of its files a mutant."""
        for each, place in LEROBOT.items():
            path = self.folder / 'lerobot' / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw if each == name else self.inputs[each])
        return self.folder / 'lerobot'

    def _driver(self, path: Path) -> None:
        names = self.robot.joint_names
        driver = DriverMapping(str(path), names, dict.fromkeys(names, 2.0))
        for conversion in (driver.position, driver.torque, driver.command):
            values = np.ones(len(names))
            finite(conversion(values), 'a value of a driver')
            finite(conversion.back(values), 'a command to a driver')

    def _whole(self, dataset: Dataset) -> None:
        for run in dataset.runs:
            finite(run.position, 'a position')
            finite(run.torque, 'a torque')

    @staticmethod
    def _same(dataset: Dataset, sound: Dataset) -> None:
        """What has checksums and no notes must be what was recorded."""
        for found, true in zip(dataset.runs, sound.runs, strict=True):
            for key in ('time', 'position', 'torque', 'velocity'):
                if not np.array_equal(getattr(found, key), getattr(true, key)):
                    raise Silent(f'{key} has changed and nothing was said')

    def _options(self, draw: random.Random) -> None:
        name = draw.choice(registry.names())
        registry.create(name, self._settings(name, draw))

    def _settings(self, name: str, draw: random.Random) -> dict[str, Any]:
        known = list(options.options_of(registry.method_class(name)))
        keys = draw.sample(known, draw.randint(1, min(3, len(known))))
        return {key: draw.choice((*mutate.VALUES, *mutate.OBJECTS)) for key in keys}

    def _estimate(self, draw: random.Random) -> None:
        name = draw.choice(registry.names())
        method = registry.create(name, self._settings(name, draw) if draw.random() < 0.7 else {})
        progress = budget.Deadline(silent, PATIENCE_S)
        with budget.time_limit(PATIENCE_S):
            result = method.estimate(self.robot, self._recording(draw), progress)
        finite(result.values, f'the estimate of {name}')
        result.to_dict()

    def _recording(self, draw: random.Random) -> Dataset:
        run = self.sound.runs[0]
        time, position, torque = run.time, run.position.copy(), run.torque.copy()
        kind = draw.randrange(6)
        if kind == 0:
            torque = -torque
        elif kind == 1:
            time = time * draw.choice((1e3, 1e-3, 10.0))
        elif kind == 2:
            torque *= draw.choice((0.0, 1e-9, 1e9))
        elif kind == 3:
            position *= draw.choice((0.0, 1e-9, 1e6))
        elif kind == 4:
            torque = np.random.default_rng(draw.randrange(1 << 30)).normal(size=torque.shape)
        reference = run.reference_position
        return Dataset(
            self.robot.joint_names, (Run(time, position, torque, reference_position=reference),)
        )

    def _verb(self, draw: random.Random) -> None:
        name = draw.choice(list(self.inputs))
        path = self.folder / f'mutant_{name}'
        path.write_bytes(self.mutate(name, draw)[0])
        self.mutant = path
        self.verbs.run(draw, (name, path))


def finite(values: Any, what: str) -> None:
    """Refuse numbers that are none."""
    if not np.isfinite(values).all():
        raise Silent(f'{what} is not finite')
