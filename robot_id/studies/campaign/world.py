"""Builds what a cell describes: the robot, what is known of it, its motion, its recording."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import options
from robot_id.data import Dataset
from robot_id.data.dataset import Run
from robot_id.dynamics import Disturbances, Simulation
from robot_id.exceptions import OptionError, RobotIdError
from robot_id.methods import registry
from robot_id.robot import Loop, Robot, load_robot
from robot_id.robot.friction.replacement import with_friction
from robot_id.studies.campaign.disturbing import coloured, disturbances, with_missed_samples
from robot_id.studies.campaign.random_robots import random_robot
from robot_id.tasks.recording import perform
from robot_id.trajectory import Reference, Trajectory
from robot_id.trajectory.default import motion_of

Array = NDArray[np.float64]
# The motion that no fit sees; its seed is none that a grid would take.
HOLDOUT_SECONDS, HOLDOUT_SEED = 5.0, 987_654_321
# The estimator has no loop and must fit one to the reference, or has no reference either.
UNKNOWN = ('unknown', 'no_reference')
# What a recording depends on.
RECORDED = ('robots', 'motions', 'noise', 'rates', 'controller', 'seed')


def check_world(axes: dict[str, list[Any]]) -> None:
    """
    Build every robot, motion, rate, friction and method of a grid once, and add fingerprints.

    A robot file or a motion file that changes makes other cells.
    """
    for k, entry in enumerate(axes['methods']):
        _named(f'methods[{k}]', registry.create, entry['method'], entry['options'])
    for k, entry in enumerate(axes['robots']):
        entry.pop('digest', None)
        robot = _named(f'robots[{k}]', robot_of, _frozen(entry))
        loop = _named(f'robots[{k}]', robot.loop, entry.get('loop', 'default'))
        _named(f'robots[{k}]', robot.truth)
        for i, motion in enumerate(axes['motions']):
            moved = _named(f'motions[{i}]', _motion, robot, motion)
            if moved.n != robot.n:
                raise OptionError(f'motions[{i}]: {moved.n} joints, {robot.name} has {robot.n}')
        for i, rate in enumerate(axes['rates']):
            _named(f'rates[{i}]', samples_per_record, loop, rate)
        for i, terms in enumerate(axes['friction']):
            _named(f'friction[{i}]', fitted_robot, robot, terms)
        entry['digest'] = _digest(robot)
    for entry in axes['motions']:
        if entry['motion'] and os.path.isfile(Path(entry['motion'])):
            content = Path(entry['motion']).read_bytes()
            entry['digest'] = hashlib.sha256(content).hexdigest()[:16]


def has_start(method: dict[str, Any]) -> bool:
    """Whether a method starts somewhere, and its options leave it open where."""
    known = options.options_of(registry.method_class(method['method']))
    if {'start', 'start_values'} & set(method['options']):
        return False
    return 'start_values' in known or ('start' in known and known['start'].type is str)


@lru_cache(maxsize=64)
def robot_of(entry: str) -> Robot:
    """Return the simulated robot of an entry (as JSON text), kept from cell to cell."""
    given = json.loads(entry)
    if 'random' in given:
        return random_robot(given['random'], given['joints'])
    return load_robot(given['robot'])


def plant_of(cell: dict[str, Any]) -> tuple[Robot, Loop]:
    """Return the simulated robot of a cell and the loop it runs in."""
    entry = {key: value for key, value in cell['robots'].items() if key != 'digest'}
    robot = robot_of(_frozen(entry))
    return robot, robot.loop(entry.get('loop', 'default'))


def fitted_robot(robot: Robot, terms: Sequence[str] | None) -> Robot:
    """Return the robot with the friction terms that are fitted; None: those of the plant."""
    if terms is None:
        return robot
    return with_friction(robot, dict.fromkeys(robot.joint_names, terms))


@lru_cache(maxsize=64)
def _fitted(robot: Robot, terms: tuple[str, ...] | None) -> Robot:
    return fitted_robot(robot, terms)


@lru_cache(maxsize=64)
def holdout(entry: str) -> Simulation:
    """Return a motion of the plant without noise that no fit sees."""
    robot = robot_of(entry)
    loop = robot.loop(json.loads(entry).get('loop', 'default'))
    motion = motion_of(robot, 'random', HOLDOUT_SECONDS, HOLDOUT_SEED)
    return perform(robot, motion, loop=loop, disturbances=Disturbances())


def holdout_of(cell: dict[str, Any]) -> Simulation:
    """Return the hold-out motion of a cell."""
    return holdout(_frozen({k: v for k, v in cell['robots'].items() if k != 'digest'}))


def reference_of(cell: dict[str, Any]) -> Reference:
    """Return the motion of a cell at the rate of its controller."""
    robot, loop = plant_of(cell)
    return _reference(robot, _frozen(cell['motions']), loop.rate_hz)


def recording(cell: dict[str, Any]) -> Dataset:
    """Return what the logger of a cell has recorded; the methods of a condition share it."""
    return _recording(_frozen({key: cell[key] for key in RECORDED}))


@lru_cache(maxsize=4)
def _recording(parts: str) -> Dataset:
    cell = json.loads(parts)
    robot, loop = plant_of(cell)
    seed, noise, known = cell['seed'], cell['noise'], cell['controller']
    logged = reference_of(cell)
    done = perform(
        robot, _later(logged, known['delay']), loop=loop,
        disturbances=disturbances(robot, noise, seed),
    )  # fmt: skip
    run = replace(done, reference=logged).to_run(samples_per_record(loop, cell['rates']))
    if noise['colour']:
        run = coloured(run, robot, noise, seed)
    if known['knowledge'] == 'no_reference':
        run = replace(
            run, reference_position=None, reference_velocity=None, reference_acceleration=None
        )
    runs: tuple[Run, ...] = (run,)
    if noise['missed']:
        runs = with_missed_samples(run, robot.joint_names, noise['missed'], seed)
    return Dataset(robot.joint_names, runs, source=f'{robot.name} simulated')


def known_robot(cell: dict[str, Any]) -> Robot:
    """Return the robot as the estimator knows it: its friction, its loop, its a priori values."""
    plant, loop = plant_of(cell)
    terms = cell['friction']
    robot = _fitted(plant, None if terms is None else tuple(terms))
    changes: dict[str, Any] = {'loops': known_loops(loop, cell['controller'])}
    if cell['starts'] is not None:
        changes['a_priori'] = _off(robot, cell['starts'], cell['seed'])
    known = Robot(robot.description.model_copy(update=changes), robot.kinematics, robot.urdf)
    # They depend neither on the loop nor on a priori values.
    known.__dict__['base'] = robot.base
    return known


def known_loops(loop: Loop, known: dict[str, Any]) -> dict[str, Loop]:
    """Return the loops as the estimator knows them: none, or one whose bandwidth may be wrong."""
    if known['knowledge'] in UNKNOWN:
        return {}
    factor = known['bandwidth']
    scaled = {
        key: tuple(factor * v for v in getattr(loop, key))
        for key in ('bandwidth', 'kp', 'kv')
        if getattr(loop, key) is not None
    }
    return {'default': loop.model_copy(update=scaled)}


def samples_per_record(loop: Loop, rate: float | None) -> int:
    """Return how many control samples pass from one record to the next."""
    every = 1.0 if rate is None else loop.rate_hz / rate
    if every < 1.0 or abs(every - round(every)) > 1e-9 * every:
        raise OptionError(f'{rate:g} Hz does not divide the {loop.rate_hz:g} Hz of the loop')
    return round(every)


def _off(robot: Robot, off: float, seed: int) -> dict[str, float]:
    """
    Return the true standard parameters, wrong by up to a share.

    All parameters of a body have one factor, so that it stays a physically consistent one; every
    rotor and friction parameter has its own.
    """
    rng = np.random.default_rng([seed, 3])
    chi_st = robot.standard_vector(robot.description.truth, 'truth')
    for row in robot.inertial_index:
        chi_st[row] *= 1.0 + off * rng.uniform(-1.0, 1.0)
    chi_st[robot.term_index] *= 1.0 + off * rng.uniform(-1.0, 1.0, len(robot.term_index))
    return {name: float(value) for name, value in zip(robot.standard_names, chi_st)}


def _motion(robot: Robot, entry: dict[str, Any]) -> Trajectory:
    return motion_of(robot, entry['motion'], entry['seconds'], entry['seed'])


@lru_cache(maxsize=8)
def _reference(robot: Robot, entry: str, rate_hz: float) -> Reference:
    return _motion(robot, json.loads(entry)).sampled(rate_hz)


def _later(reference: Reference, samples: int) -> Reference:
    """Return the reference delayed by a number of samples; it rests at its beginning before."""
    if not samples:
        return reference

    def later(x: Array, first: Array) -> Array:
        return np.concatenate([np.repeat(first[None], samples, axis=0), x[:-samples]])

    still = np.zeros_like(reference.position[0])
    return replace(
        reference,
        position=later(reference.position, reference.position[0]),
        velocity=later(reference.velocity, still),
        acceleration=later(reference.acceleration, still),
    )


def _named(key: str, build: Any, *arguments: Any) -> Any:
    """Build something; its refusal begins with the key of the grid."""
    try:
        return build(*arguments)
    except RobotIdError as error:
        raise OptionError(f'{key}: {error}') from error


def _frozen(entry: dict[str, Any]) -> str:
    return json.dumps(entry, sort_keys=True)


def _digest(robot: Robot) -> str:
    """Return a fingerprint of all that makes a robot."""
    found = hashlib.sha256(robot.description.model_dump_json(exclude={'urdf'}).encode())
    kinematics = robot.kinematics
    for name in ('parent', 'rotation', 'translation', 'axis', 'prismatic', 'dof', 'ratio'):
        found.update(np.ascontiguousarray(getattr(kinematics, name)).tobytes())
    return found.hexdigest()[:16]
