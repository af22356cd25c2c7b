"""Verb `simulate`: a simulated robot, recorded as a real one would be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from robot_id import files
from robot_id.cli.compiling import compile_first
from robot_id.cli.console import check_writable, output, progress_bar, save, warn
from robot_id.cli.shared_options import robot_option
from robot_id.texts import LOAD_FORM

if TYPE_CHECKING:
    from robot_id.dynamics import Simulation
    from robot_id.robot import Robot


@click.command()
@robot_option
@click.option('--out', required=True, metavar='PATH', help='A new bag directory, or a .csv file.')
@click.option(
    '--seed', default=0, show_default=True, help='Seed of the noise and of a random trajectory.'
)
@click.option('--trajectory', metavar='NAME', help='A standard motion, random, or a file.')
@click.option('--seconds', type=float, help='Duration of a random trajectory.')
@click.option(
    '--cycles', default=1, show_default=True, help='Number of cycles of a periodic motion.'
)
@click.option(
    '--loop',
    'loop_name',
    default='default',
    show_default=True,
    help='Control loop of the robot file.',
)
@click.option(
    '--params',
    metavar='FILE',
    help='Simulate this result, URDF, SDF or MJCF instead of the truth.',
)
@click.option(
    '--payload',
    'load',
    metavar=f'{LOAD_FORM}|FILE.json',
    help='A load that the arm carries (kg, m, kg m2 about its centre), or a file of payload.',
)
@click.option('--tool', metavar='LINK', help='Link of the URDF that carries it; else the last.')
@click.option('--every', default=1, show_default=True, help='Record one control sample in EVERY.')
@click.option('--no-noise', is_flag=True, help='Write exact positions and torques.')
@click.option('--json', 'json_file', metavar='FILE', help='Write a summary to a JSON file.')
def command(
    robot: str,
    out: str,
    seed: int,
    trajectory: str | None,
    seconds: float | None,
    cycles: int,
    loop_name: str,
    params: str | None,
    load: str | None,
    tool: str | None,
    every: int,
    no_noise: bool,
    json_file: str | None,
) -> None:
    """Simulate a robot in closed loop and write what a logger would have recorded."""
    from robot_id import data
    from robot_id.api.simulation import check_every, simulation_of
    from robot_id.robot import load_robot
    from robot_id.robot.parameters.units import position_units, torque_units

    check_writable(json_file)
    check_every(every)
    model = load_robot(robot)
    compile_first('inertia_matrix', 'simulate')
    with progress_bar() as progress:
        progress(0.0, 'simulating')
        done = simulation_of(
            model, trajectory, seed=seed, seconds=seconds, cycles=cycles, parameters=params,
            payload=load, tool=tool, noise=not no_noise, loop=loop_name,
        )  # fmt: skip
        progress(0.7, 'writing')
        dataset = done.dataset(every)
        path = data.save(dataset, out)
    model, run = done.robot, done.run
    reference = run.reference
    summary = summarise(model, run)
    console = output()
    console.print(
        f'{model.name}: {reference.duration:.3g} s of {done.kind} at {reference.rate:g} Hz, '
        f'{len(dataset)} samples -> {path}',
        soft_wrap=True,
    )
    units = zip(position_units(model), torque_units(model))
    for (name, values), (unit, force) in zip(summary['joints'].items(), units):
        line = (
            f'  {name}: speed {values["velocity"]:.3g} {unit}/s, acceleration '
            f'{values["acceleration"]:.3g} {unit}/s2, torque {values["torque"]:.3g} {force}, '
            f'tracking error {values["tracking_error"]:.2g} {unit}'
        )
        console.print(line, markup=False, soft_wrap=True)
    warn(summary['warnings'])
    if json_file:
        text = json.dumps(summary | {'out': str(path), 'seed': seed, 'loop': loop_name}, indent=1)
        save(lambda file: files.write_text(file, text + '\n'), json_file)


def summarise(robot: Robot, run: Simulation) -> dict:
    """Return peaks and tracking errors of every joint, with warnings about limits."""
    import numpy as np

    peaks = [np.abs(x).max(axis=0) for x in (run.velocity, run.acceleration, run.torque)]
    error = np.abs(run.reference.position - run.position).max(axis=0)
    joints = {
        name: {
            'velocity': float(peaks[0][j]),
            'acceleration': float(peaks[1][j]),
            'torque': float(peaks[2][j]),
            'tracking_error': float(error[j]),
        }
        for j, name in enumerate(robot.joint_names)
    }
    warnings = []
    for j, name in enumerate(robot.joint_names):
        if peaks[2][j] >= robot.limits.torque[j]:
            warnings.append(f"the torque of joint '{name}' is saturated at {peaks[2][j]:.4g}")
        if peaks[0][j] > 1.02 * robot.limits.velocity[j]:
            warnings.append(
                f"joint '{name}' reaches {peaks[0][j]:.3g}, its speed limit is "
                f'{robot.limits.velocity[j]:.3g}'
            )
    return {'robot': robot.name, 'samples': len(run.time), 'joints': joints, 'warnings': warnings}
