"""
Arms of example-robot-data on MuJoCo, an engine that is not ours: recordings with a known truth.

A chain of a URDF becomes a robot of its own (its other joints fixed), is mounted anywhere, gets
friction, rotor inertia and a stiff controller, and plays a random motion within its limits.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run

Array = NDArray[np.float64]

# name: (URDF, first joint, last joint)
ARMS: dict[str, tuple[str, str, str]] = {
    'panda': ('panda_description/urdf/panda.urdf', 'panda_joint1', 'panda_joint7'),
    'so100': ('so_arm_description/urdf/so100.urdf', 'shoulder_pan', 'wrist_roll'),
    'so101': ('so_arm_description/urdf/so101.urdf', 'shoulder_pan', 'wrist_roll'),
    'z1': ('z1_description/urdf/z1.urdf', 'joint1', 'joint6'),
    'b1-z1': ('b1_description/urdf/b1-z1.urdf', 'joint1', 'joint6'),
    'kinova': (
        'kinova_description/robots/kinova.urdf',
        'j2s6s200_joint_1',
        'j2s6s200_joint_6',
    ),
    'xarm7': ('xarm_description/urdf/xarm7.urdf', 'joint1', 'joint7'),
    'ur3': ('ur_description/urdf/ur3_robot.urdf', 'shoulder_pan_joint', 'wrist_3_joint'),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', 'shoulder_pan_joint', 'wrist_3_joint'),
    'ur10': ('ur_description/urdf/ur10_robot.urdf', 'shoulder_pan_joint', 'wrist_3_joint'),
    'ur5_gripper': ('ur_description/urdf/ur5_gripper.urdf', 'shoulder_pan_joint', 'wrist_3_joint'),
    'baxter': ('baxter_description/urdf/baxter.urdf', 'left_s0', 'left_w2'),
    'baxter_right': ('baxter_description/urdf/baxter.urdf', 'right_s0', 'right_w2'),
    'centauro': ('centauro_description/urdf/centauro.urdf', 'j_arm1_1', 'j_arm1_6'),
    'pr2': ('pr2_description/urdf/pr2.urdf', 'r_shoulder_pan_joint', 'r_wrist_roll_joint'),
    'tiago': ('tiago_description/robots/tiago_no_hand.urdf', 'arm_1_joint', 'arm_7_joint'),
    'tiago_lift': (
        'tiago_description/robots/tiago_no_hand.urdf',
        'torso_lift_joint',
        'arm_4_joint',
    ),
    'tiago_pro': (
        'tiago_pro_description/robots/tiago_pro.urdf',
        'arm_left_1_joint',
        'arm_left_7_joint',
    ),
    'talos_left': (
        'talos_data/robots/talos_left_arm.urdf',
        'arm_left_2_joint',
        'arm_left_7_joint',
    ),
    'talos': ('talos_data/robots/talos_reduced.urdf', 'arm_right_1_joint', 'arm_right_7_joint'),
    'romeo': ('romeo_description/urdf/romeo_small.urdf', 'LShoulderPitch', 'LWristPitch'),
    'icub': ('icub_description/robots/icub.urdf', 'l_shoulder_pitch', 'l_wrist_yaw'),
    'g1': (
        'g1_description/urdf/g1_29dof_rev_1_0.urdf',
        'left_shoulder_pitch_joint',
        'left_wrist_yaw_joint',
    ),
    'humanoid': (
        'simple_humanoid_description/urdf/simple_humanoid.urdf',
        'LARM_SHOULDER_P',
        'LARM_WRIST_R',
    ),
    'alex': ('alex_description/urdf/alex_nub_hands.urdf', 'LeftShoulderPitch', 'LeftGripperYaw'),
    'hextilt': (
        'hextilt_description/urdf/hextilt_flying_arm_5.urdf',
        'flying_arm_5__j_base_link_link_1',
        'flying_arm_5__j_link_4_link_5',
    ),
    'a1': ('a1_description/urdf/a1.urdf', 'FR_hip_joint', 'FR_calf_joint'),
    'solo12': ('solo_description/robots/solo12.urdf', 'FL_HAA', 'FL_KFE'),
    'anymal': ('anymal_b_simple_description/robots/anymal.urdf', 'LF_HAA', 'LF_KFE'),
    'two_dofs': ('asr_twodof_description/urdf/TwoDofs.urdf', 'J1', 'J2'),
    'human': ('human_description/robots/human.urdf', 'left_shoulder_Z', 'left_wrist_X'),
}
MOVING = ('revolute', 'continuous', 'prismatic')


def robots_folder() -> Path | None:
    """Return where example-robot-data keeps its robots, None where it is not installed."""
    for entry in sys.path:
        folder = Path(entry) / 'cmeel.prefix/share/example-robot-data/robots'
        if folder.is_dir():
            return folder
    return None


@dataclass(frozen=True)
class Arm:
    """
    One arm as written to a folder.

    :param urdf: the chain alone.
    :param robot_file: robot file with the gravity of the mount.
    :param gravity: (3,) in the base frame.
    """

    name: str
    urdf: Path
    robot_file: Path
    gravity: Array


def chain_urdf(name: str, out: Path) -> Path:
    """Write the URDF of a chain: other joints fixed, no shapes, no links before the base."""
    folder = robots_folder()
    assert folder is not None
    file, first, last = ARMS[name]
    root = ElementTree.parse(folder / file).getroot()
    by_child = {joint.find('child').get('link'): joint for joint in root.findall('joint')}
    by_name = {joint.get('name'): joint for joint in by_child.values()}
    chain, joint = [], by_name[last]
    while joint.get('name') != first:
        chain.append(joint.get('name'))
        joint = by_child[joint.find('parent').get('link')]
    chain.append(first)
    base = by_name[first].find('parent').get('link')
    keep = {base} if by_name[first] is not None else set()
    keep |= _below(by_name[first].find('child').get('link'), root)
    new = ElementTree.Element('robot', {'name': name})
    for link in root.findall('link'):
        if link.get('name') not in keep:
            continue
        copy = ElementTree.SubElement(new, 'link', {'name': link.get('name')})
        inertial = link.find('inertial')
        if inertial is not None and link.get('name') != base:
            copy.append(inertial)
    for joint in root.findall('joint'):
        if joint.find('child').get('link') not in keep or joint.find('child').get('link') == base:
            continue
        if joint.find('parent').get('link') not in keep:
            continue
        if joint.get('name') not in chain:
            joint.set('type', 'fixed')
        for tag in ('mimic', 'dynamics', 'safety_controller', 'calibration'):
            for each in joint.findall(tag):
                joint.remove(each)
        new.append(joint)
    out.write_bytes(ElementTree.tostring(new))
    return out


def _below(link: str, root: ElementTree.Element) -> set[str]:
    """Return a link and all that hangs on it."""
    found, grown = {link}, True
    while grown:
        grown = False
        for joint in root.findall('joint'):
            child = joint.find('child').get('link')
            if joint.find('parent').get('link') in found and child not in found:
                found.add(child)
                grown = True
    return found


def make_arm(name: str, folder: Path, rng: np.random.Generator | None = None) -> Arm:
    """Write the files of an arm; with a generator it is mounted on a floor, wall, ceiling ..."""
    urdf = chain_urdf(name, folder / f'{name}.urdf')
    gravity = np.array([0.0, 0.0, -9.81]) if rng is None else random_mount(rng)
    return Arm(name, urdf, write_robot(folder / f'{name}.yaml', urdf, gravity), gravity)


def write_robot(path: Path, urdf: Path, gravity: Array) -> Path:
    """Write a robot file of a URDF and a mount."""
    content = {'name': path.stem, 'urdf': str(urdf), 'gravity': [float(g) for g in gravity]}
    path.write_text(yaml.safe_dump(content))
    return path


def random_mount(rng: np.random.Generator) -> Array:
    """(3,) gravity in the base frame: floor, ceiling, one of four walls, or any direction."""
    axes = np.array([[0, 0, -1], [0, 0, 1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], float)
    kind = rng.integers(3)
    if kind == 0:
        return 9.81 * axes[0]
    if kind == 1:
        return 9.81 * axes[rng.integers(1, 6)]
    g = rng.normal(size=3)
    return 9.81 * g / np.linalg.norm(g)


def compile_model(urdf: Path, gravity: Array) -> Any:
    """Return the MuJoCo model of a chain."""
    import mujoco

    text = urdf.read_text()
    options = (
        '<mujoco><compiler fusestatic="true" discardvisual="true" balanceinertia="true" '
        'boundmass="1e-4" boundinertia="1e-7"/></mujoco>'
    )
    head = text.index('>', text.index('<robot')) + 1
    model = mujoco.MjModel.from_xml_string(text[:head] + options + text[head:])
    model.opt.gravity[:] = gravity
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.jnt_limited[:] = 0
    model.dof_damping[:] = 0.0
    model.dof_frictionloss[:] = 0.0
    return model


@dataclass(frozen=True)
class Motion:
    """
    A random Fourier series of each joint.

    :param seconds: length of the recording.
    :param rate: Hz.
    :param still: joints that hold their position.
    :param amplitude: fraction of the usual amplitude.
    :param synchronous: all joints follow one and the same sine.
    """

    seconds: float = 16.0
    rate: float = 250.0
    still: tuple[int, ...] = ()
    amplitude: float = 1.0
    synchronous: bool = False


PLAIN = Motion()


def reference(model: Any, motion: Motion, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return (N, n) position, velocity and acceleration of a random motion within the limits."""
    n = model.nv
    t = np.arange(int(motion.seconds * motion.rate)) / motion.rate
    harmonics = np.arange(1, 7)
    w = 2 * np.pi * rng.uniform(0.08, 0.15) * harmonics
    a, b = rng.normal(size=(2, n, harmonics.size)) / np.sqrt(harmonics)
    if motion.synchronous:
        a, b = np.zeros_like(a), np.zeros_like(b)
        b[:, 0] = 1.0
    c, s = np.cos(np.outer(t, w)), np.sin(np.outer(t, w))
    q, dq, ddq = c @ a.T + s @ b.T, (c * w) @ b.T - (s * w) @ a.T, -(c * w**2) @ a.T
    ddq -= (s * w**2) @ b.T
    low, high = model.jnt_range[:, 0].copy(), model.jnt_range[:, 1].copy()
    free = ~((high > low) & np.isfinite(high - low))
    low[free], high[free] = -np.pi, np.pi
    slides = model.jnt_type == 2
    reach = np.minimum(0.45 * (high - low), np.where(slides, 1.0, rng.uniform(0.7, 1.4, n)))
    scale = motion.amplitude * reach / np.abs(q).max(axis=0)
    scale = np.minimum(scale, 3.0 / np.maximum(np.abs(dq).max(axis=0), 1e-9))
    scale[list(motion.still)] = 0.0
    room = np.maximum(0.5 * (high - low) - np.abs(q * scale).max(axis=0), 0.0)
    middle = 0.5 * (low + high) + rng.uniform(-1, 1, n) * np.minimum(room, 1.0)
    return q * scale + middle, dq * scale, ddq * scale


@dataclass(frozen=True)
class Recording:
    """
    What was recorded.

    :param dataset: of the recording, SI on the joint side.
    :param rotor: (n,) rotor inertias of the plant, kg.m^2.
    """

    dataset: Dataset
    rotor: Array


def record(
    arm: Arm,
    rng: np.random.Generator,
    motion: Motion = PLAIN,
    velocity: bool = True,
    noise: float = 1.0,
    inertia_spread: float = 0.0,
) -> Recording:
    """
    Simulate an arm under computed torque with rotor inertia, friction and noise.

    :param noise: 1: encoder steps of 2e-5 rad to 2e-4 rad, torque noise of 0.3 to 1.5 %.
    :param inertia_spread: standard deviation (of the logarithm) by which the masses of the plant
        differ from those of the URDF.
    """
    import mujoco

    model = compile_model(arm.urdf, arm.gravity)
    n = model.nv
    if inertia_spread:
        factor = np.exp(rng.normal(0.0, inertia_spread, model.nbody))
        model.body_mass[:] *= factor
        model.body_inertia[:] *= factor[:, None]
    q_r, dq_r, ddq_r = reference(model, motion, rng)
    data = mujoco.MjData(model)
    rigid = _rigid(model, data, q_r, dq_r, ddq_r)
    size = np.maximum(np.sqrt((rigid**2).mean(axis=0)), 0.05 * np.abs(rigid).max())
    M = _inertias(model, data, q_r[:: max(len(q_r) // 20, 1)])
    model.dof_armature[:] = M * rng.uniform(0.1, 0.6, n)
    model.dof_frictionloss[:] = size * rng.uniform(0.03, 0.15, n)
    speed = np.maximum(np.sqrt((dq_r**2).mean(axis=0)), 0.05)
    model.dof_damping[:] = size * rng.uniform(0.03, 0.12, n) / speed
    mujoco.mj_setConst(model, data)
    q, dq, tau = _closed_loop(model, data, motion.rate, q_r, dq_r, ddq_r, M)
    step = noise * 10 ** rng.uniform(np.log10(2e-5), np.log10(2e-4), n)
    if noise:
        q = np.round(q / step) * step
        peak = np.sqrt((tau**2).mean(axis=0))
        tau = tau + noise * rng.normal(size=tau.shape) * peak * rng.uniform(0.003, 0.015, n)
        dq = dq + noise * rng.normal(size=dq.shape) * 2e-3
    names = tuple(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(n))
    t = np.arange(len(q)) / motion.rate
    run = Run(time=t, position=q, torque=tau, velocity=dq if velocity else None)
    return Recording(Dataset(names, (run,), arm.name), model.dof_armature.copy())


def _rigid(model: Any, data: Any, q: Array, dq: Array, ddq: Array) -> Array:
    """(M, n) torques of the rigid bodies along a motion, one sample in ten."""
    import mujoco

    out = []
    for k in range(0, len(q), 10):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        out.append(data.qfrc_inverse.copy())
    return np.array(out)


def _inertias(model: Any, data: Any, q: Array) -> Array:
    """(n,) mean of M_jj over some postures."""
    import mujoco

    M, diagonals = np.zeros((model.nv, model.nv)), []
    for each in q:
        data.qpos[:], data.qvel[:] = each, 0.0
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, M)
        diagonals.append(np.diag(M).copy())
    return np.mean(diagonals, axis=0)


def _closed_loop(
    model: Any, data: Any, rate: float, q_r: Array, dq_r: Array, ddq_r: Array, J: Array
) -> tuple[Array, Array, Array]:
    """Run the controller at the rate of the recording, the plant at 1 kHz or faster."""
    import mujoco

    substeps = max(1, round(1000.0 / rate))
    model.opt.timestep = 1.0 / rate / substeps
    N, n = q_r.shape
    q, dq, tau = np.empty((N, n)), np.empty((N, n)), np.empty((N, n))
    inertia = J + model.dof_armature
    w = 2 * np.pi * min(5.0, rate / 40)
    data.qpos[:], data.qvel[:] = q_r[0], dq_r[0]
    for k in range(N):
        mujoco.mj_forward(model, data)
        q[k], dq[k] = data.qpos, data.qvel
        a = ddq_r[k] + 2 * w * (dq_r[k] - dq[k]) + w**2 * (q_r[k] - q[k])
        friction = model.dof_frictionloss * np.tanh(50 * dq_r[k]) + model.dof_damping * dq_r[k]
        tau[k] = inertia * a + data.qfrc_bias + 0.8 * friction
        data.qfrc_applied[:] = tau[k]
        for _ in range(substeps):
            mujoco.mj_step(model, data)
    # The command acts from one sample to the next: the mean with the one before lines it up.
    held = tau.copy()
    held[1:] = 0.5 * (tau[1:] + tau[:-1])
    return q, dq, held
