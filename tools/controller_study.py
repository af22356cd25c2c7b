"""
The exported controller against a MuJoCo plant: what it does to the tracking error.

Usage: .venv/bin/python -m tools.controller_study [--robot tx40] [--seed 1] [--out FILE]
The robot is identified from a simulated recording with noise (WLS), its controller is exported and
its core compiled. The plant is the true robot as a MuJoCo model with dry friction. It follows a
motion that the fit never saw, from the pose of its start, under

    drive           the drive's position loop alone, J (w^2 e + 2 w de), 5 Hz, J the largest M_jj
    gravity         the same and the gravity of the model
    feed_forward    the same and the effort of the controller (friction scale 0, 0.7, 1)
    computed_torque the effort of the controller alone, 5 Hz (friction scale 0, 0.7, 1)

Prints the rms tracking error of the joints, in milliradians (mm for a slide).
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.control.gains import loop_inertia
from robot_id.export import export
from robot_id.export.c_code import identifier
from robot_id.export.writing import write_exported
from robot_id.methods import registry
from robot_id.methods.result import Result
from robot_id.robot import Robot, load_robot
from robot_id.tasks.recording import record
from robot_id.trajectory.default import motion_of

Array = NDArray[np.float64]
RATE_HZ, SUBSTEPS = 1000.0, 10
BANDWIDTH = 2.0 * np.pi * 5.0
MODES = ('gravity_compensation', 'feed_forward', 'computed_torque')
SHIM = """
#include <algorithm>
#include "{name}/core.hpp"
using namespace {name};
static Core core;
extern "C" void start(const double * q) {{
  Measured m;
  std::copy_n(q, model::joints, m.position.begin());
  core.activate(m, Joints{{}});
}}
extern "C" void step(int mode, double friction, double w, double limit, const double * q,
  const double * dq, const double * r, double dt, double * position, double * effort) {{
  constexpr std::size_t n = model::joints;
  Settings s;
  s.mode = static_cast<Mode>(mode);
  s.friction_scale = friction;
  s.ramp = 0.0;
  s.state_timeout = 1e9;
  s.reference_tolerance = 1e9;
  s.torque_limit.fill(limit);
  s.kp.fill(w * w);
  s.kd.fill(2.0 * w);
  Measured m;
  std::copy_n(q, n, m.position.begin());
  std::copy_n(dq, n, m.velocity.begin());
  Reference ref;
  std::copy_n(r, n, ref.position.begin());
  std::copy_n(r + n, n, ref.velocity.begin());
  std::copy_n(r + 2 * n, n, ref.acceleration.begin());
  Command c;
  core.update(s, m, ref, 0.0, dt, c);
  std::copy(c.position.begin(), c.position.end(), position);
  std::copy(c.effort.begin(), c.effort.end(), effort);
}}
"""


class CompiledCore:
    """The core of an exported package, called from here."""

    def __init__(self, robot: Robot, folder: Path) -> None:
        self.n, prefix = robot.n, identifier(robot.name)
        (folder / 'shim.cpp').write_text(SHIM.format(name=f'{prefix}_model_controller'))
        model = f'model/{prefix}_model.c'
        for words in (
            ['gcc', '-std=c99', '-O2', '-fPIC', '-c', model, '-o', 'model.o'],
            ['g++', '-std=c++17', '-O2', '-fPIC', '-shared', '-Iinclude', '-Imodel',
             'src/core.cpp', 'shim.cpp', 'model.o', '-o', 'core.so'],
        ):  # fmt: skip
            subprocess.run(words, cwd=folder, check=True)
        self.library = ctypes.CDLL(str(folder / 'core.so'))

    def start(self, q: Array) -> None:
        """Activate it at a pose (n,)."""
        self.library.start(_pointer(np.ascontiguousarray(q)))

    def step(
        self, mode: str, friction: float, q: Array, dq: Array, wanted: Array
    ) -> tuple[Array, Array]:
        """Return (n,) positions and efforts for (3, n) a reference."""
        inputs = [np.ascontiguousarray(x, float) for x in (q, dq, wanted)]
        out = np.empty((2, self.n))
        self.library.step(
            MODES.index(mode), ctypes.c_double(friction), ctypes.c_double(BANDWIDTH),
            ctypes.c_double(1e6), *map(_pointer, inputs), ctypes.c_double(1.0 / RATE_HZ),
            _pointer(out[0]), _pointer(out[1]),
        )  # fmt: skip
        return out[0], out[1]


def _pointer(array: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def plant_of(robot: Robot, folder: Path) -> Any:
    """Return the true robot as a MuJoCo model."""
    import mujoco

    chi = robot.truth()
    truth = Result(
        robot.name, 'idim_wls', robot.base.names, chi, np.eye(len(chi)) * 1e-12,
        relative_error_percent=0.0, condition_number=1.0, verdict='usable',
    )  # fmt: skip
    truth.save(folder / 'truth.json')
    made = export('mjcf', truth, folder / 'truth.json', robot)
    model = mujoco.MjModel.from_xml_string(made.text)
    model.opt.timestep = 1.0 / RATE_HZ / SUBSTEPS
    model.actuator_ctrllimited[:] = 0
    model.actuator_forcelimited[:] = 0
    model.jnt_limited[:] = 0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


def follow(
    model: Any, core: CompiledCore, J: Array, motion: tuple[Array, ...], law: str, scale: float
) -> Array:
    """Return (N, n) tracking errors."""
    import mujoco

    data, errors = mujoco.MjData(model), np.empty_like(motion[0])
    data.qpos[:], data.qvel[:] = motion[0][0], motion[1][0]
    core.start(data.qpos)
    for k, wanted in enumerate(zip(*motion)):
        q, dq = data.qpos.copy(), data.qvel.copy()
        e, de = wanted[0] - q, wanted[1] - dq
        errors[k] = e
        tau = J * (BANDWIDTH**2 * e + 2.0 * BANDWIDTH * de)
        if law == 'gravity':
            tau += core.step('gravity_compensation', 0.0, q, dq, np.array(wanted))[1]
        elif law == 'feed_forward':
            tau += core.step(law, scale, q, dq, np.array(wanted))[1]
        elif law == 'computed_torque':
            tau = core.step(law, scale, q, dq, np.array(wanted))[1]
        data.ctrl[:] = tau
        for _ in range(SUBSTEPS):
            mujoco.mj_step(model, data)
    return errors


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--robot', default='tx40')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--seconds', type=float, default=8.0)
    parser.add_argument('--out', help='JSON of the table')
    chosen = parser.parse_args()
    robot = load_robot(chosen.robot)
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fit = registry.create('idim_wls', {}).estimate(robot, record(robot, seed=chosen.seed))
        fit.save(folder / 'r.json')
        made = export('controller', fit, folder / 'r.json', robot, force=True)
        write_exported(made, folder / 'package')
        core, model = CompiledCore(robot, folder / 'package'), plant_of(robot, folder)
        motion = motion_of(robot, 'random', chosen.seconds, chosen.seed + 100)
        samples = motion.sample(np.arange(int(chosen.seconds * RATE_HZ)) / RATE_HZ)
        J = loop_inertia(robot, fit.values)
        cases = [('drive', 0.0), ('gravity', 0.0)]
        cases += [(law, s) for law in MODES[1:] for s in (0.0, 0.7, 1.0)]
        for law, scale in cases:
            rms = np.sqrt(np.mean(follow(model, core, J, samples, law, scale) ** 2, axis=0)) * 1e3
            rows[f'{law} {scale:g}'] = rms.tolist()
            print(f'{law:16s} {scale:3.1f} ', ' '.join(f'{x:8.3f}' for x in rms), flush=True)
        reached = np.abs(dynamics.inverse_dynamics(robot, robot.truth(), *samples)).max(axis=0)
        print('largest torque of the motion:', np.round(reached, 2))
    if chosen.out:
        Path(chosen.out).write_text(json.dumps(rows, indent=1))


if __name__ == '__main__':
    main()
