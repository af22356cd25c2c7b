"""
Weighs simulated loads many times: what doc/studies/payload.md says of coverage and accuracy.

    .venv/bin/python tools/payload_study.py tx40 --runs 200
    .venv/bin/python tools/payload_study.py ur10e --runs 200 --ur10e FOLDER
    .venv/bin/python tools/payload_study.py emps|gains|light|foreign [--runs N] [--first SEED]

The UR10e needs the folder of its URDF and recordings; `foreign` is MuJoCo with gears that no model
here has (needs the packages of the tests).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from robot_id import data
from robot_id.exceptions import RobotIdError
from robot_id.robot import Payload, Robot, load_robot, payload_parameters
from robot_id.tasks import record
from robot_id.tasks.drive_gains import identify_drive_gains
from robot_id.tasks.identify import Request, identify
from robot_id.tasks.payload import identify_payload
from robot_id.trajectory.default import motion_of

Array = np.ndarray
INERTIA = (0.004, 0.0, 0.0, 0.005, 0.0, 0.003)
# 8 cm off the flange.
LOAD = Payload(2.0, (0.0, 0.0, 0.08), INERTIA)
SIMULATED = {'tx40': 'one_khz', 'ur10e': 'default'}
FOREIGN = ('ur5', 'ur10')


def wanted(load: Payload) -> Array:
    """(10,) mass, centre, inertia."""
    return np.array([load.mass, *load.centre, *load.inertia])


def ur10e(folder: Path, out: Path) -> Robot:
    """Return a UR10e to simulate: bodies of its URDF, noise as in its recording."""
    bare = load_robot(folder / 'ur10e.urdf')
    real = data.load(folder / 'identification.csv.gz', 'ur10e_csv', bare).select(bare.joint_names)
    torque = np.concatenate([run.torque for run in real.runs])
    # White noise shows in second differences, which motion hardly has at 100 Hz.
    noise = np.diff(torque, 2, axis=0).std(axis=0) / np.sqrt(6.0)
    found = identify(Request(bare, real, holdout=0.0, check=False)).result
    truth = {
        name: max(float(found[name]), 0.0) for name in found.names if name.startswith(('Fv', 'Fc'))
    }
    rotor = {f'Ia{j + 1}': v for j, v in enumerate((1.5, 1.5, 0.7, 0.15, 0.15, 0.15))}
    prior = dict(zip(bare.standard_names, bare.standard_prior().tolist()))
    content = {
        'name': 'ur10e',
        'urdf': str((folder / 'ur10e.urdf').resolve()),
        'loops': {
            'default': {
                'law': 'pd', 'bandwidth': [60.0] * 6, 'damping': [1.0] * 6, 'rate_hz': 500.0,
            }
        },
        'noise': {'torque_std': noise.tolist(), 'encoder_step': [1e-5] * 6},
        'truth': {k: v for k, v in prior.items() if v} | truth | rotor,
    }  # fmt: skip
    path = out / 'ur10e.yaml'
    path.write_text(yaml.safe_dump(content))
    return load_robot(path)


def tell(name: str, errors: list[Array], deviations: list[Array], refused: int = 0) -> None:
    """Print coverage and size of errors of (10,) rows mass, centre, inertia."""
    e, s = np.array(errors), np.array(deviations)
    inside = 100.0 * (np.abs(e) < 1.96 * s)
    mass, centre = np.abs(e[:, 0]), 1e3 * np.abs(e[:, 1:4])
    print(
        f'{name}: {len(e)} runs, {refused} refused; inside the 95 % interval: mass '
        f'{inside[:, 0].mean():.1f} %, centre {inside[:, 1:4].mean():.1f} %, inertia '
        f'{inside[:, 4:].mean():.1f} %, all {inside.mean():.1f} %; largest error: mass '
        f'{mass.max():.3g} kg, centre {centre.max():.3g} mm; rms '
        f'{np.sqrt((mass**2).mean()):.2g} kg, {np.sqrt((centre**2).mean()):.2g} mm',
        flush=True,
    )


def pairs(robot: Robot, loop: str, seeds: range, load: Payload) -> Iterator[tuple]:
    """Yield recordings without and with a load, of motions of their own in every other run."""
    heavier = robot.truth() + payload_parameters(robot, load)
    for k in seeds:
        motion = motion_of(robot) if k % 2 == 0 else motion_of(robot, 'random', 10.0, k)
        yield (
            record(robot, motion_of(robot), 2 * k, loop=loop),
            record(robot, motion, 2 * k + 1, loop=loop, parameters=heavier),
        )


def identify_simulated(name: str, robot: Robot, loop: str, seeds: range, load: Payload) -> None:
    """Weigh a load in simulation."""
    errors, deviations, refused = [], [], 0
    for unloaded, loaded in pairs(robot, loop, seeds, load):
        try:
            found = identify_payload(robot, loaded, unloaded)
        except RobotIdError as error:
            refused += 1
            print(f'refused: {error}')
            continue
        errors.append(found.values - wanted(load))
        deviations.append(found.deviations)
        if len(errors) % 50 == 0:
            tell(name, errors, deviations, refused)
    if errors and len(errors) % 50:
        tell(name, errors, deviations, refused)


def emps(seeds: range) -> None:
    """10 kg on the slide of paper 003."""
    robot = load_robot('emps')
    heavier = robot.truth() + payload_parameters(robot, Payload(10.0))
    for k in seeds:
        found = identify_payload(
            robot, record(robot, seed=2 * k + 1, parameters=heavier), record(robot, seed=2 * k)
        )
        print(f'emps: {found.values[0]:.4g} +- {1.96 * found.deviations[0]:.2g} kg', flush=True)


def gains(seeds: range) -> None:
    """All gains of the TX40 5 to 20 % wrong, one load of 2 kg known."""
    robot, inside, worst = load_robot('tx40'), [], 0.0
    for k, both in zip(seeds, pairs(robot, 'one_khz', seeds, LOAD)):
        rng = np.random.default_rng(k)
        true = 1.0 + rng.choice([-1.0, 1.0], robot.n) * rng.uniform(0.05, 0.2, robot.n)
        wrong = [
            replace(d, runs=tuple(replace(r, torque=r.torque / true) for r in d.runs))
            for d in both
        ]
        found = identify_drive_gains(robot, *wrong, LOAD.mass)
        error = found.gains - true
        inside += list(np.abs(error) < 1.96 * found.deviations)
        worst = max(worst, float(np.max(np.abs(error / true))))
    print(
        f'gains: {len(seeds)} draws, worst {100 * worst:.2g} %, '
        f'inside {100 * np.mean(inside):.1f} %',
        flush=True,
    )


def light(seeds: range) -> None:
    """Tell what 50 g look like, in simulation and behind the gears of a foreign arm."""
    load = Payload(0.05, (0.0, 0.0, 0.08), (1e-5, 0.0, 0.0, 1e-5, 0.0, 1e-5))
    identify_simulated('50 g on the tx40', load_robot('tx40'), 'one_khz', seeds, load)
    foreign(seeds, load, ('ur5',))


def foreign(seeds: range, load: Payload, arms: tuple[str, ...] = FOREIGN) -> None:
    """Weigh a load on arms of MuJoCo, whose gears drift, rub with the load and have humps."""
    from plants.mujoco_loads import two_recordings

    with tempfile.TemporaryDirectory() as folder:
        for arm in arms:
            errors: dict[str, list] = {strategy: [] for strategy in ('subtract', 'joint')}
            deviations: dict[str, list] = {strategy: [] for strategy in ('subtract', 'joint')}
            for seed in seeds:
                for strategy in ('subtract', 'joint'):
                    robot, unloaded, loaded = two_recordings(
                        arm, Path(folder), seed, load, same=strategy == 'subtract'
                    )
                    try:
                        found = identify_payload(robot, loaded, unloaded, strategy=strategy)
                    except RobotIdError as error:
                        print(f'{arm}, strategy {strategy}: refused, {error}')
                        continue
                    errors[strategy].append(found.values - wanted(load))
                    deviations[strategy].append(found.deviations)
            for strategy in ('subtract', 'joint'):
                if errors[strategy]:
                    tell(
                        f'{arm} on MuJoCo, {load.mass:g} kg, strategy {strategy}',
                        errors[strategy],
                        deviations[strategy],
                    )


def main() -> None:
    """Run one study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('study', choices=('tx40', 'ur10e', 'emps', 'gains', 'light', 'foreign'))
    parser.add_argument('--runs', type=int, default=10)
    parser.add_argument('--first', type=int, default=0, help='first seed')
    parser.add_argument('--arms', nargs='+', default=FOREIGN, help='of the study foreign')
    parser.add_argument('--ur10e', type=Path, help='folder of the UR10e')
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.runs)
    small: dict[str, Callable[[range], None]] = {'emps': emps, 'gains': gains, 'light': light}
    if given.study in small:
        small[given.study](seeds)
    elif given.study == 'foreign':
        foreign(seeds, Payload(2.0, (0.02, -0.03, 0.07), INERTIA), tuple(given.arms))
    elif given.study == 'tx40':
        identify_simulated('tx40', load_robot('tx40'), SIMULATED['tx40'], seeds, LOAD)
    elif given.ur10e is None or not (given.ur10e / 'ur10e.urdf').exists():
        print('ur10e: skipped, no --ur10e folder with ur10e.urdf and identification.csv.gz')
    else:
        with tempfile.TemporaryDirectory() as folder:
            robot = ur10e(given.ur10e, Path(folder))
            identify_simulated('ur10e', robot, SIMULATED['ur10e'], seeds, LOAD)


if __name__ == '__main__':
    main()
