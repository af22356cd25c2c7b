"""Reading an exported model back, and comparing its torques with those of the result."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.dynamics.mujoco_torques import mujoco_installed, mujoco_torques
from robot_id.exceptions import DataError
from robot_id.export.held_drives import Bodies, HeldDrives
from robot_id.export.xml_text import Edits, Element, parse
from robot_id.methods.torque_model import sdf_torques
from robot_id.robot.files.sdf import read_sdf
from robot_id.robot.files.urdf import from_urdf, load_model
from robot_id.robot.files.urdf_tags import one_line
from robot_id.robot.kinematics import Kinematics, to_pinocchio

Array = NDArray[np.float64]
States = tuple[Array, Array, Array]
STATES = 1000
TOLERANCE = 1e-6


def random_states(bodies: Bodies) -> States:
    """(1000, n) positions, velocities and accelerations."""
    rng, shape = np.random.default_rng(0), (STATES, bodies.robot.n)
    return rng.uniform(-2.5, 2.5, shape), rng.normal(0, 1, shape), rng.normal(0, 3, shape)


def wanted(bodies: Bodies, states: States, held: HeldDrives) -> Array:
    """(1000, n) torques of the result, of its drives only what the file holds."""
    robot = bodies.robot
    kept = [*robot.inertial_index.ravel(), *(rotor for rotor, _, _ in robot.direct_columns)]
    x = np.zeros_like(bodies.x)
    x[kept] = bodies.x[kept]
    rigid = dynamics.regressor(robot, *states, standard=True) @ x
    return np.asarray(rigid + held.torques(*states[1:]), float)


def check_urdf(text: str, bodies: Bodies, held: HeldDrives) -> str:
    """
    Return one line on how a URDF's torques agree, by pinocchio and by MuJoCo.

    The robot was identified with exact angles (1.5708 is a right angle); the file keeps the
    written ones. MuJoCo reads it so, and is compared with pinocchio on that.
    """
    states = random_states(bodies)
    expected = wanted(bodies, states, held)
    lines = [judged('pinocchio', urdf_torques(text, bodies, states), expected)]
    written = urdf_torques(text, bodies, states, as_written=True)
    if mujoco_installed():
        lines.append(_by_mujoco(text, bodies, states, written))
    rounding = _apart(written, expected)
    if rounding > TOLERANCE:
        lines.append(f'with the rounded angles that the file keeps they differ by {rounding:.1e}')
    return '; '.join(lines)


def check_mjcf(text: str, bodies: Bodies, held: HeldDrives) -> str:
    """Return one line on how an MJCF's torques agree, by MuJoCo where it is installed."""
    if not mujoco_installed():
        return 'not read back: MuJoCo is not installed'
    states = random_states(bodies)
    found = mujoco_torques(_compiled(text), bodies.robot, states)
    return judged('MuJoCo', found.rigid + found.friction, wanted(bodies, states, held))


def check_sdf(text: str, bodies: Bodies, held: HeldDrives) -> str:
    """Return one line on how an SDF's torques agree, by our own reader and pinocchio."""
    states = random_states(bodies)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'exported.sdf'
        path.write_text(text, encoding='utf-8')
        rigid, friction = sdf_torques(bodies.robot, read_sdf(path), states, 'the export')
    return judged('pinocchio', rigid + friction, wanted(bodies, states, held))


def _compiled(text: str) -> Any:
    import mujoco

    try:
        return mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        raise DataError(f'MuJoCo cannot read the export: {one_line(error)}') from error


def _by_mujoco(text: str, bodies: Bodies, states: States, expected: Array) -> str:
    """
    Return one line on how a URDF's torques agree by MuJoCo.

    What it refuses may be the user's own, which an export keeps: the inertia of a link that does
    not move, such as a base of no physically consistent body, or a link without mass on a joint
    that the robot file locks. That is said, and fails nothing: pinocchio has compared.
    """
    said = ''
    try:
        model = _compiled(without_shapes(text))
    except DataError as error:
        own = _read_or_none(without_still_inertias(text))
        if own is None:
            urdf = bodies.robot.urdf
            if urdf is None or _read_or_none(urdf.read_text(encoding='utf-8-sig')) is not None:
                raise
            return f'warning: {error}; nor can it read the file that this one was made from'
        model = own
        said = f'; warning: {error}: that is an inertia of your own file, of a link that is still'
    found = mujoco_torques(model, bodies.robot, states)
    return judged('MuJoCo', found.rigid + found.friction, expected) + said


def _read_or_none(text: str) -> Any:
    try:
        return _compiled(without_shapes(text))
    except DataError:
        return None


def without_still_inertias(text: str) -> str:
    """Return a URDF without the inertias of links that no joint moves."""
    content = text.encode()
    root, edits = parse(content), Edits(content)
    ends = [
        (joint.attributes.get('type', ''), _link_of(joint, 'parent'), _link_of(joint, 'child'))
        for joint in root.all('joint')
    ]
    children = {child for _, _, child in ends}
    links = {link.attributes.get('name', ''): link for link in root.all('link')}
    still = [name for name in links if name not in children]
    for name in still:
        still += [child for kind, parent, child in ends if parent == name and kind == 'fixed']
        for inertial in links[name].all('inertial') if name in links else ():
            edits.remove(inertial)
    return edits.text().decode()


def _link_of(joint: Element, end: str) -> str:
    found = joint.first(end)
    return '' if found is None else found.attributes.get('link', '')


def _apart(torques: Array, expected: Array) -> float:
    """Return the largest difference, relative to the largest torque of its joint."""
    scale = np.maximum(np.abs(expected).max(axis=0), 1e-9)
    return float(np.max(np.abs(torques - expected) / scale))


def judged(reader: str, torques: Array, expected: Array) -> str:
    """Return the largest relative difference in words; refuse one above 1e-6."""
    worst = _apart(torques, expected)
    line = f'read back by {reader}: torques of {STATES} random states differ by {worst:.1e}'
    if not worst <= TOLERANCE:
        raise DataError(
            f'{line} of the largest, above {TOLERANCE:g}: the export is not right',
            code='readback_differs',
        )
    return line


def urdf_torques(text: str, bodies: Bodies, states: States, as_written: bool = False) -> Array:
    """
    (1000, n) torques of a URDF's text in pinocchio, with its own damping and friction.

    :param as_written: keep rounded angles.
    """
    robot = bodies.robot
    locked, snap = dict(robot.kinematics.locked), robot.description.snap and not as_written
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'exported.urdf'
        path.write_text(text, encoding='utf-8')
        read = from_urdf(path, locked, snap=snap)
        model = load_model(path, locked, snap)
    places = [model.joints[model.getJointId(name)].idx_v for name in robot.joint_names]
    friction = states[1] * model.damping[places]
    friction += np.sign(states[1]) * model.upperDryFrictionLimit[places]
    order = [read.joint_names.index(name) for name in robot.joint_names]
    return tree_torques(read, order, robot.gravity, states) + friction


def tree_torques(
    kinematics: Kinematics, order: list[int], gravity: Array, states: States
) -> Array:
    """
    (N, n) torques of a tree with its own inertias, by pinocchio.

    :param order: (n,) where the tree has the joints of the states.
    """
    model = to_pinocchio(kinematics, gravity, kinematics.inertia)
    data, A = model.createData(), kinematics.expansion()[:, order]
    torques = np.empty_like(states[0])
    for k, (q, dq, ddq) in enumerate(zip(*states)):
        tau = pin.rnea(model, data, A @ q + kinematics.offset, A @ dq, A @ ddq)
        torques[k] = A.T @ tau
    return torques


def without_shapes(text: str) -> str:
    """Return a URDF without visual and collision tags: meshes need not be available."""
    text = re.sub(r'<(visual|collision)\b[^>]*/>', '', text)
    return re.sub(r'<(visual|collision)\b.*?</\1\s*>', '', text, flags=re.S)
