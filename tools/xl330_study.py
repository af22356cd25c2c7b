"""
XL330: each firmware gain left out in turn, and its runs simulated by what the others gave.

Printed: mean absolute position error of the open simulations, mrad, for each left-out gain, and
kt, R and armature. The recordings are those of BAM as csv, `kp100_*.csv.gz` and so on.

    python -m tools.xl330_study DATA --friction quadratic --friction coulomb
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_id import data
from robot_id.data.dataset import Dataset
from robot_id.methods import registry
from robot_id.methods.torque_free.evaluation import run_errors
from robot_id.methods.torque_free.servo_oe import ServoOe, held_out_groups
from robot_id.robot import Robot, load_robot

PENDULUM = """<robot name="pendulum"><link name="base"/><link name="arm"><inertial>
<origin xyz="0 0 -0.1"/><mass value="0.49"/>
<inertia ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
</joint></robot>"""
MAPPING = """joints: [j]
time: {column: time}
position: {columns: position}
reference_position: {columns: goal_position}
supply: {columns: input_volts}
temperature: {columns: temperature}
enabled: {columns: torque_enable}
gain: {value: {'kp100_*': 100, 'kp200_*': 200, 'kp400_*': 400, 'kp800_*': 800}}
"""
# Duty for one rad of error and a gain of 1, as the servo's control table says.
KP = 4096 / (2 * np.pi) / (256 * 885)


def load(folder: Path) -> tuple[Robot, Dataset]:
    """Return the pendulum and the runs of a folder."""
    place = Path(tempfile.mkdtemp())
    (place / 'pendulum.urdf').write_text(PENDULUM)
    (place / 'mapping.yaml').write_text(MAPPING)
    robot = load_robot(place / 'pendulum.urdf')
    files = sorted(folder.glob('kp*.csv*'))
    return robot, data.load(files, place / 'mapping.yaml', robot)


def main() -> None:
    """Print the held-out errors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('data', type=Path)
    parser.add_argument('--friction', action='append')
    parser.add_argument('--gain', type=float, action='append', help='left out; each when none')
    parser.add_argument('--starts', type=int)
    parser.add_argument('--step', type=float)
    parser.add_argument('--seed', type=int, default=0)
    chosen = parser.parse_args()
    robot, dataset = load(chosen.data)
    options = {'drive': 'voltage', 'fixed': f'kp={KP!r}', 'seed': chosen.seed}
    options |= {'starts': chosen.starts} if chosen.starts else {}
    options |= {'longest_step': chosen.step} if chosen.step else {}
    for friction in chosen.friction or ['coulomb', 'quadratic']:
        method = registry.create('servo_oe', options | {'friction': friction})
        assert isinstance(method, ServoOe)
        means = []
        for group in held_out_groups(dataset):
            gain = float(np.asarray(dataset.runs[group[0]].gain)[0, 0])
            if chosen.gain and gain not in chosen.gain:
                continue
            kept = [run for i, run in enumerate(dataset.runs) if i not in group]
            other = replace(dataset, runs=tuple(dataset.runs[i] for i in group))
            began = time.process_time()
            result = method.estimate(robot, replace(dataset, runs=tuple(kept)))
            seconds = time.process_time() - began
            rows = run_errors(other, method.errors(robot, result, other))
            errors = [1e3 * row['mean_absolute_error'] for row in rows]
            training = [1e3 * row['mean_absolute_error'] for row in result.extras['runs']]
            means.append(np.mean(errors))
            each = ' '.join(f'{error:.0f}' for error in errors)
            names = ('kt.j', 'R.j', 'armature.j')
            numbers = ' '.join(
                f'{name} {result[name]:.4g} +- {result.std[result.names.index(name)]:.2g}'
                for name in names
            )
            print(
                f'{friction}, gain {gain:g} left out: {means[-1]:.1f} mrad ({each}), training '
                f'{np.mean(training):.1f}, {seconds:.0f} s, {result.simulations} simulations, '
                f'{numbers}, converged {result.converged}',
                flush=True,
            )
        print(f'{friction}: mean {np.mean(means):.1f} mrad', flush=True)


if __name__ == '__main__':
    main()
