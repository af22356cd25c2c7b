"""The experiments of paper 002 in simulation: two-link direct-drive arm, 1 kHz, 0.8 and 1.1 Hz."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id.dynamics.simulation.disturbances import Disturbances, Simulation
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.sizes import nominal_sizes
from robot_id.methods.recursive.supervision import Rule
from robot_id.robot import Robot
from robot_id.tasks.recording import perform
from robot_id.trajectory.reference import Reference

Array = NDArray[np.float64]
RATE_HZ = 1000.0
FREQUENCIES_HZ = (0.8, 1.1)
AMPLITUDES = (0.6, 0.9)
CUTOFF_HZ = 10.0
# Method, filtering and label of the curves of figures 6, 7, 9, 13 and 15.
CURVES = (
    ('rls', 'none', 'RLS, differentiated positions'),
    ('riv', 'none', 'RIV, reference as instrument'),
    ('rls', 'input', 'RLS, input filtering'),
    ('rls', 'model', 'RLS, model filtering'),
    ('integral', 'none', 'integral model'),
)


@dataclass(frozen=True)
class Course:
    """
    The history of an estimate.

    :param time: (K,) seconds.
    :param values: (K, b) estimates.
    """

    time: Array
    values: Array


def sines(seconds: float, rest_s: float = 0.0) -> Reference:
    """
    Return the motion of the paper: joint 1 at 0.8 Hz, joint 2 at 1.1 Hz, growing in half a second.

    :param rest_s: seconds for which joint 2 stands still before it moves.
    """
    t = np.arange(round(seconds * RATE_HZ) + 1) / RATE_HZ
    motion = np.zeros((3, t.size, 2))
    for j, (frequency, amplitude) in enumerate(zip(FREQUENCIES_HZ, AMPLITUDES)):
        w, s = 2.0 * np.pi * frequency, np.maximum(t - (rest_s if j else 0.0), 0.0) / 0.5
        fade = np.exp(-(s**3))
        grown = 1.0 - fade, 6.0 * s**2 * fade, (24.0 * s - 36.0 * s**4) * fade
        x = 0.5 * w * s
        wave = np.sin(x), w * np.cos(x), -w * w * np.sin(x)
        motion[0, :, j] = amplitude * grown[0] * wave[0]
        motion[1, :, j] = amplitude * (grown[1] * wave[0] + grown[0] * wave[1])
        motion[2, :, j] = amplitude * (
            grown[2] * wave[0] + 2.0 * grown[1] * wave[1] + grown[0] * wave[2]
        )
    return Reference(t, *motion)


def record(
    robot: Robot,
    seconds: float = 10.0,
    seed: int = 0,
    *,
    rest_s: float = 0.0,
    position_std: float = 1e-5,
    slow_torque: float = 0.0,
    changes: tuple[tuple[float, Array], ...] = (),
) -> Simulation:
    """
    Let the arm follow the motion under computed torque, with noise on position and torque.

    :param robot: a two-link arm with its truth, `scara`.
    :param position_std: rad; 1e-5 makes the differentiated acceleration as noisy as figure 5.
    :param slow_torque: N.m, amplitude of a disturbance of 0.02 Hz on joint 1.
    :param changes: (time, parameters) of a robot that changes on the way, a payload.
    """
    reference = sines(seconds, rest_s)
    external = None
    if slow_torque:
        external = np.zeros_like(reference.position)
        external[:, 0] = slow_torque * np.sin(2.0 * np.pi * 0.02 * reference.time)
    noise = Disturbances(
        position_std=np.full(2, position_std),
        torque_std=np.array([0.2, 0.02]),
        external=external,
        changes=changes,
        seed=seed,
    )
    return perform(robot, reference, loop='learning', disturbances=noise)


def identify(
    robot: Robot,
    run: Simulation,
    method: str = 'rls',
    filtering: str = 'model',
    every: int = 50,
    **options: Any,
) -> tuple[Course, OnlineIdentifier]:
    """
    Pass a run through the on-line identifier.

    :param every: samples between two points of the course.
    :param options: of the identifier.
    """
    setting: dict[str, Any] = {
        'cutoff_hz': CUTOFF_HZ,
        'held_torque': True,
        'rest_velocity': 0.0,
        'noise': 1.0 if method == 'integral' else np.array([1.0, 0.1]),
    }
    identifier = OnlineIdentifier(
        robot, RATE_HZ, method=method, filtering=filtering, **(setting | options)
    )
    r, times, values = run.reference, [], []
    for first in range(0, len(run.time), every):
        rows = slice(first, first + every)
        identifier.feed(
            run.measured_position[rows],
            run.measured_torque[rows],
            (r.position[rows], r.velocity[rows], r.acceleration[rows]),
        )
        times.append(float(run.time[rows][-1]))
        values.append(identifier.estimate)
    return Course(np.array(times), np.array(values)), identifier


def supervised(
    robot: Robot, run: Simulation, rule: Rule | None, start: Array, memory_s: float = 2.0
) -> tuple[Course, OnlineIdentifier]:
    """Identify with forgetting from start values, with a supervision rule or without (None)."""
    options: dict[str, Any] = {'initial_std': np.abs(start)} if rule is None else {}
    return identify(
        robot,
        run,
        start=start,
        scale=nominal_sizes(robot.base.names, start),
        memory=Memory('exponential', memory_s * RATE_HZ),
        supervisor=rule,
        rest_velocity=None if rule is not None else 0.0,
        **options,
    )


def figure(robot: Robot, path: str | Path, names: tuple[str, ...] = ('ZZ1R', 'Fc2')) -> Path:
    """Draw the courses of all methods and of supervision into a picture file; return its path."""
    from matplotlib.figure import Figure

    from robot_id.methods.recursive.supervision import CheapRule, EigenvalueRule

    truth = robot.truth()
    columns = [robot.base.index(name) for name in names]
    picture = Figure(figsize=(11, 4 + 2.2 * len(names)), layout='constrained')
    axes: Any = picture.subplots(len(names) + 1, 2, squeeze=False)
    slow = record(robot, 60.0, slow_torque=2.0)
    runs = [record(robot, seed=seed) for seed in range(3)]
    left: list[tuple[str, str | None, Course]] = [
        (f'C{k}', label if number == 0 else None, identify(robot, run, method, filtering)[0])
        for k, (method, filtering, label) in enumerate(CURVES)
        for number, run in enumerate(runs)
    ]
    right: list[tuple[str, str | None, Course]] = [
        (f'C{k}', label, identify(robot, slow, method, filtering, every=200, decimation=5)[0])
        for k, (method, filtering, label) in list(enumerate(CURVES))[3:]
    ]
    for row, column in enumerate(columns):
        for ax, curves in zip(axes[row], (left, right)):
            for colour, text, course in curves:
                ax.plot(course.time, course.values[:, column], colour, lw=0.8, label=text)
        for ax in axes[row]:
            ax.axhline(truth[column], color='k', lw=0.6)
            ax.set_ylim(*sorted((-0.2 * truth[column], 2.0 * truth[column])))
            ax.set_ylabel(names[row])
        axes[row, 0].legend(fontsize=7)
        axes[row, 1].set_title('slow disturbance of 2 N.m on joint 1', fontsize=8)
    rested = record(robot, 14.0, rest_s=8.0)
    start = 0.7 * truth
    rules = ((None, 'none'), (EigenvalueRule(), 'eigenvalue'), (CheapRule(), 'cheap'))
    watched = [(label, supervised(robot, rested, rule, start)[0]) for rule, label in rules]
    for ax, name in zip(axes[-1], ('Fv2', 'Fc2')):
        column = robot.base.index(name)
        for label, course in watched:
            ax.plot(course.time, course.values[:, column], label=f'supervision: {label}')
        ax.axhline(truth[column], color='k', lw=0.6)
        ax.set_ylim(*sorted((-2.0 * truth[column], 4.0 * truth[column])))
        ax.set_ylabel(name)
        ax.set_title('joint 2 rests for 8 s', fontsize=8)
        ax.legend(fontsize=7)
    for ax in axes.flat:
        ax.set_xlabel('s')
    picture.savefig(path, dpi=110)
    return Path(path)
