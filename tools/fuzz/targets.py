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
from robot_id.cli.main import VERBS, cli
from robot_id.data import Dataset, Run
from robot_id.estimation import registry
from robot_id.estimation.parameters import parameters_for
from robot_id.estimation.result import Result
from robot_id.exceptions import RobotIdError
from robot_id.model import load_robot
from robot_id.progress import silent
from robot_id.trajectory.store import load_trajectory
from tools.fuzz import mutate

# Seconds that an estimation is given; the watchdog allows more.
PATIENCE_S = 10.0
_TEXTS = ('.csv', '.yaml', '.urdf', '.json')
_TREES = ('.yaml', '.json')


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
        self.table = inputs['x.csv']
        self.folder = folder
        self.robot = load_robot('emps')
        self.sound = data.load(inputs['x.mcap'])
        self.mutant: Path | None = None
        # Compiled now: a time limit in the middle of it would leave half a compiler behind.
        for name in registry.names():
            with contextlib.suppress(RobotIdError):
                registry.create(name).estimate(self.robot, self.sound)
        # How often each is drawn.
        self.weights: dict[str, int] = {
            **dict.fromkeys(self.inputs, 20), 'x.mcap': 60, 'z.mcap': 30, 'result.json': 60,
            'mapping.yaml': 60, 'options': 60, 'estimate': 4, 'verb': 25,
        }  # fmt: skip

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
        else:
            self.read(name, self.mutate(name, draw))
        return name

    def mutate(self, name: str, draw: random.Random) -> bytes:
        """Return a mutant of a sound input."""
        ways: list[Callable[[bytes, random.Random], bytes]] = [mutate.damage]
        suffix = Path(name).suffix
        ways += [mutate.damage_text] * 2 if suffix in _TEXTS else []
        ways += [mutate.damage_tree] * 3 if suffix in _TREES else []
        return draw.choice(ways)(self.inputs[name], draw)

    def read(self, name: str, raw: bytes) -> None:
        """Give bytes to whoever reads files of this name."""
        path = self.mutant = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(raw)
        if name == 'metadata.yaml':
            storage = self.folder / 'bag_0.mcap'
            storage.write_bytes(self.inputs['x.mcap'])
            path = self.folder
        if path.suffix == '.urdf' or name in ('emps.yaml', 'scara.yaml', 'tx40.yaml'):
            robot = load_robot(path)
            finite(robot.base.names and robot.kinematics.inertia, 'the inertias of a robot')
        elif name == 'mapping.yaml':
            self._whole(data.load(self.table, path))
        elif name == 'result.json':
            result = Result.load(path)
            finite(result.values, 'the values of a result')
            parameters_for(self.robot, result)
            result.to_dict()
        elif name == 'motion.json':
            finite(load_trajectory(path).sampled(100.0).position, 'a motion')
        else:
            dataset = data.load(path)
            self._whole(dataset)
            if name == 'x.mcap' and not dataset.notes:
                self._same(dataset)

    def _whole(self, dataset: Dataset) -> None:
        for run in dataset.runs:
            finite(run.position, 'a position')
            finite(run.torque, 'a torque')

    def _same(self, dataset: Dataset) -> None:
        """What has checksums and no notes must be what was recorded."""
        for found, true in zip(dataset.runs, self.sound.runs, strict=True):
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
        verb = draw.choice([each for each in VERBS if each not in ('bench', 'reproduce')])
        out = self.folder / f'out{draw.randrange(10**9)}'
        words = {
            'robots': ['emps'], 'methods': ['idim_wls'],
            'simulate': ['--robot', 'emps', '--out', str(out), '--seconds', '0.5'],
            'identify': ['--robot', 'emps', '--data', str(self.table)],
            'validate': ['--robot', 'emps', '--data', str(self.table)],
            'excite': ['--robot', 'emps', '--budget', '1', '--seconds', '2'],
        }.get(verb, [])  # fmt: skip
        if verb in ('validate', 'export', 'compare'):
            result = self.folder / 'result.json'
            result.write_bytes(self.inputs['result.json'])
            words += ['--params', str(result)] if verb == 'validate' else [str(result)]
        flags = [p.opts[0] for p in cli.get_command(None, verb).params]  # type: ignore
        for _ in range(draw.choice((0, 1, 2))):
            value = str(draw.choice((*mutate.VALUES, *mutate.OBJECTS)))
            words += [draw.choice(flags), value.replace('\x00', '')]
        words += ['--time-limit', str(PATIENCE_S)]
        cli([verb, '-q', *words], standalone_mode=False)


def finite(values: Any, what: str) -> None:
    """Refuse numbers that are none."""
    if not np.isfinite(values).all():
        raise Silent(f'{what} is not finite')
