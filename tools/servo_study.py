"""
Confidence-interval coverage of servo_oe on an arm that MuJoCo simulates.

Six position servos with known gains; armature, damping, friction loss and encoder bias of every
joint and the delay of the commands are estimated from commands and noisy positions. Each run has
its own motion and noise. Printed: the share of the 95 % intervals that hold the truth.

    python -m tools.servo_study --runs 20 --rate 50 --rate 100 --rate 200
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import deque
from pathlib import Path

import mujoco
import numpy as np

from robot_id.data.dataset import Dataset, Run
from robot_id.methods import registry
from robot_id.robot import Robot, load_robot

JOINTS = tuple(f'joint_{k}' for k in range(1, 7))
AXES = ('0 0 1', '0 1 0', '0 1 0', '1 0 0', '0 1 0', '1 0 0')
LENGTHS = (0.15, 0.25, 0.2, 0.1, 0.1, 0.06)
MASSES = (1.5, 1.2, 0.9, 0.5, 0.4, 0.2)
KP = (60.0, 80.0, 50.0, 20.0, 15.0, 8.0)
KD = (2.0, 2.5, 1.5, 0.4, 0.3, 0.1)
ARMATURE = (0.05, 0.06, 0.04, 0.012, 0.01, 0.005)
DAMPING = (0.8, 1.0, 0.6, 0.15, 0.12, 0.05)
FRICTION = (0.6, 0.8, 0.5, 0.15, 0.12, 0.06)
DELAY, BIAS, NOISE = 0.012, 0.01, 5e-4
# Seconds. MuJoCo's other integrators are of first order: RK4 makes it a judge.
STEP = 0.0005
# Friction that holds: MuJoCo's default creeps. Time constant in s, impedance.
SHARP, HOLD = 0.0005, 0.9999


def arm_urdf() -> str:
    """Return an arm of six turning joints."""
    parts = ['<robot name="arm"><link name="base"/>']
    parent, height = 'base', 0.1
    for joint, axis, length, mass in zip(JOINTS, AXES, LENGTHS, MASSES):
        r = 0.03
        across = mass * (3 * r * r + length * length) / 12
        along = 0.5 * mass * r * r
        parts.append(
            f'<link name="{joint}_link"><inertial><origin xyz="0.01 0.005 {length / 2}"/>'
            f'<mass value="{mass}"/><inertia ixx="{across}" iyy="{across}" izz="{along}" '
            'ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="{joint}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{joint}_link"/><origin xyz="0 0 {height}"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" effort="100" velocity="10"/></joint>'
        )
        parent, height = f'{joint}_link', length
    return ''.join(parts) + '</robot>'


def simulate(seed: int, rate: float, seconds: float = 8.0, runs: int = 1) -> Dataset:
    """Return what a logger records at a rate: commands that are held, positions with noise."""
    spec = mujoco.MjSpec.from_string(arm_urdf())
    spec.option.timestep = STEP
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for joint in spec.joints:
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    for name, kp, kd in zip(JOINTS, KP, KD):
        actuator = spec.add_actuator(name=name, target=name)
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.set_to_position(kp=kp, kv=kd)
    for geom in list(spec.geoms):
        geom.contype = geom.conaffinity = 0
    model = spec.compile()
    model.dof_armature[:], model.dof_damping[:], model.dof_frictionloss[:] = (
        ARMATURE, DAMPING, FRICTION,
    )  # fmt: skip
    model.dof_solref[:] = SHARP, 1.0
    model.dof_solimp[:, :2] = HOLD
    found = []
    for number in range(runs):
        rng = np.random.default_rng([seed, number])
        found.append(_run(model, rng, rate, seconds))
    return Dataset(JOINTS, tuple(found))


def _run(model: mujoco.MjModel, rng: np.random.Generator, rate: float, seconds: float) -> Run:
    data = mujoco.MjData(model)
    count = round(seconds * rate)
    t = np.arange(count) / rate
    f = rng.uniform(0.15, 1.2, (4, 6))
    a, phase = rng.uniform(0.1, 0.4, (4, 6)), rng.uniform(0, 2 * np.pi, (4, 6))
    angle = 2 * np.pi * f[:, None] * t[None, :, None] + phase[:, None]
    wave = np.sum(a[:, None] * np.sin(angle), axis=0)
    ramp = np.minimum(t / 0.5, 1.0)[:, None]
    command = ramp * (wave - wave[0])
    every = round(1.0 / (rate * STEP))
    late = round(DELAY / STEP)
    queue = deque([command[0]] * late)
    measured = np.empty((count, 6))
    for k in range(count):
        measured[k] = data.qpos + BIAS + rng.normal(0, NOISE, 6)
        for _ in range(every):
            queue.append(command[k])
            # The servo compares the command with what its encoder shows.
            data.ctrl[:] = queue.popleft() - BIAS
            mujoco.mj_step(model, data)
    return Run(t, measured, reference_position=command)


def robot_of() -> Robot:
    """Return the arm as robot_id reads it."""
    path = Path(tempfile.mkdtemp()) / 'arm.urdf'
    path.write_text(arm_urdf())
    return load_robot(path)


def truth() -> dict[str, float]:
    """Return the true value of everything that is estimated."""
    found = {'delay': DELAY}
    for j, joint in enumerate(JOINTS):
        found |= {
            f'armature.{joint}': ARMATURE[j], f'viscous.{joint}': DAMPING[j],
            f'coulomb.{joint}': FRICTION[j], f'bias.{joint}': BIAS,
        }  # fmt: skip
    return found


def options(step: float = 0.001) -> dict[str, object]:
    """Return the options of the fit: gains are known."""
    gains = [f'kp.{n}={kp}, kd.{n}={kd}' for n, kp, kd in zip(JOINTS, KP, KD)]
    return {'fixed': ', '.join(gains), 'longest_step': step, 'starts': 1, 'loss': 'linear'}


def main() -> None:
    """Print the coverage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=10)
    parser.add_argument('--first', type=int, default=0)
    parser.add_argument('--rate', type=float, action='append')
    parser.add_argument('--step', type=float, default=0.001)
    chosen = parser.parse_args()
    robot, known = robot_of(), truth()
    method = registry.create('servo_oe', options(chosen.step))
    for rate in chosen.rate or [50.0, 100.0, 200.0]:
        scores = []
        began = time.perf_counter()
        for seed in range(chosen.first, chosen.first + chosen.runs):
            result = method.estimate(robot, simulate(seed, rate))
            target = np.array([known[name] for name in result.names])
            scores.append((result.values - target) / result.std)
        z = np.array(scores)
        told = np.isfinite(z)
        inside = np.abs(z) < 1.96
        seconds = (time.perf_counter() - began) / chosen.runs
        text = f'{rate:g} Hz, {chosen.runs} runs, {seconds:.2f} s each'
        share = 100 * inside[told].mean()
        print(f'{text}: {share:.1f} % of the 95 % intervals hold the truth')
        for kind in ('armature', 'viscous', 'coulomb', 'bias', 'delay'):
            pick = [k for k, name in enumerate(result.names) if name.startswith(kind)]
            mean = ' '.join(f'{v:+.2f}' for v in z[:, pick].mean(axis=0))
            own = 100 * inside[:, pick][told[:, pick]].mean()
            print(f'  {kind}: {own:.1f} %, mean z {mean}')
        print('  not identifiable:', result.extras['not_identifiable'])


if __name__ == '__main__':
    main()
