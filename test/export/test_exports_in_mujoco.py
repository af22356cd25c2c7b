"""
An exported model in MuJoCo follows a motion with the torques of our own simulator.

Both plants are under the robot's own sampled controller, which sees their positions only. What a
URDF has no place for is set after loading, from the YAML beside it (doc/reference/export.md).
"""

from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_id.control.tuning import loop_setting, tune
from robot_id.dynamics import RunningController, simulate
from robot_id.export import export
from robot_id.export.mjcf_file import HOLD, SHARP, STEP
from robot_id.export.readback import without_shapes
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from robot_id.trajectory.random import random_trajectory

mujoco = pytest.importorskip('mujoco')
RATE = 1000.0
# The file's Coulomb friction is sharp; ours turns over within 1e-5 rad/s or m/s.
SLOPE = 1e5


def possible(robot):
    """(b,) base parameters: the truth, or the URDF's bodies with drives of their size."""
    if robot.description.truth:
        return robot.truth()
    x = np.zeros(len(robot.standard_names))
    x[robot.inertial_index] = robot.kinematics.inertia
    sizes = {'Ia': 0.8, 'Fv': 6.0, 'Fc': 5.0, 'Of': 0.3}
    for k, name in enumerate(robot.standard_names):
        size = sizes.get(name[:2], 0.0)
        x[k] = size / int(name[-1]) if size else x[k]
    return robot.base.from_standard(x)


def compiled(made, beside):
    """Return the model; a URDF gets gravity, rotors and coupled motors from beside it."""
    spec = mujoco.MjSpec.from_string(without_shapes(made.text))
    if made.text.startswith('<mujoco'):
        return spec.compile()
    spec.option.timestep, spec.option.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    spec.option.gravity = beside['gravity']
    names, x = list(beside['joints']), beside['standard_parameters']
    spent = np.zeros((len(names), 3))
    for m, row in enumerate(np.array(beside.get('coupling', np.eye(len(names))))):
        c = row / row[m]
        if np.count_nonzero(c) > 1:  # a motor that turns with several joints, as in the MJCF
            shaft = np.array([x[f'{stem}{m + 1}'] for stem in ('Ia', 'Fvm', 'Fcm')])
            tendon = spec.add_tendon(name=f'motor_{names[m]}', armature=shaft[0])
            tendon.damping[0], tendon.frictionloss = shaft[1], shaft[2]
            tendon.solref_friction[0], tendon.solimp_friction[:2] = SHARP, HOLD
            for i in np.flatnonzero(c):
                tendon.wrap_joint(names[i], float(c[i]))
            spent[:, :2] += np.outer(c**2, shaft[:2])
            spent[m, 2] += shaft[2]
    for j, name in enumerate(names):
        joint = spec.joint(name)
        joint.armature = x.get(f'Ia{j + 1}', 0.0) - spent[j, 0]
        joint.damping[0] -= spent[j, 1]
        joint.frictionloss -= spent[j, 2]
        joint.solref_friction[0], joint.solimp_friction[:2] = SHARP, HOLD
    return spec.compile()


def followed(model, robot, controller, reference, offset):
    """(N, n) torques that the controller gives while MuJoCo moves on."""
    data, running = mujoco.MjData(model), RunningController(robot, controller)
    dof = [model.joint(name).dofadr[0] for name in robot.joint_names]
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    motion = np.stack([reference.position, reference.velocity, reference.acceleration], axis=1)
    data.qpos[dof], data.qvel[dof] = motion[0, :2]
    running.reset(*motion[0, :2])
    torque = np.empty_like(reference.position)
    for k, wanted in enumerate(motion):
        torque[k] = running.torque(wanted, data.qpos[dof])
        if model.nu:
            data.ctrl[:] = torque[k]
        else:
            data.qfrc_applied[dof] = torque[k] - offset
        for _ in range(round(1.0 / RATE / model.opt.timestep)):
            mujoco.mj_step(model, data)
    return torque


@pytest.mark.parametrize('name', ['scara', 'emps', 'tx40', 'ur10e'])
def test_mujoco_needs_the_torques_of_our_simulator(name, request):
    if name == 'ur10e':
        name = str(request.getfixturevalue('shared') / 'data' / 'ur10e' / 'ur10e.urdf')
    robot = load_robot(name)
    chi = possible(robot)
    covariance = np.diag((1e-6 * chi) ** 2 + 1e-14)
    result = Result(robot.name, 'idim_wls', robot.base.names, chi, covariance, verdict='usable')
    loop = loop_setting(robot, 'default').model_copy(update={'law': 'pd', 'rate_hz': RATE})
    controller = tune(robot, loop, chi)
    reference = random_trajectory(robot.limits, 2.5, seed=1, share=0.5).sampled(RATE)
    ours = simulate(robot, chi, reference, controller, coulomb_slope=SLOPE).torque
    for kind in ('urdf', 'mjcf'):
        made = export(kind, result, Path('r.json'), name)
        beside = yaml.safe_load(made.others['.params.yaml'])
        x = beside['standard_parameters']
        offset = np.array([x.get(f'Off{j + 1}', 0.0) for j in range(robot.n)])
        model = compiled(made, beside)
        theirs = followed(model, robot, controller, reference, offset)
        apart = np.linalg.norm(theirs - ours, axis=0) / np.linalg.norm(ours, axis=0)
        print(f'{robot.name} {kind}: torques differ by {100 * apart.max():.2f} %')
        assert np.all(apart < 0.005), (kind, apart)
