"""Random physically consistent robots: trees with arbitrary axes, revolute and prismatic."""

import numpy as np
import pinocchio as pin
from hypothesis import strategies as st

from robot_id.robot import Robot, RobotDescription
from robot_id.robot.kinematics import Kinematics
from robot_id.robot.parameters.inertia import inertia_row

SHIPPED = ('emps', 'scara', 'tx40')


def random_robot(rng, n, serial=False, prismatic=None, aligned=False):
    """Return a robot of n joints and a random standard parameter vector of it."""
    parent = np.arange(n) - 1 if serial else _random_tree(rng, n)
    axis = rng.normal(size=(n, 3))
    if aligned:
        axis = np.tile([0.0, 0.0, 1.0], (n, 1))
    names = tuple(f'j{i}' for i in range(n))
    kinematics = Kinematics(
        joint_names=names,
        body_names=names,
        parent=parent,
        rotation=np.array([pin.SE3.Random().rotation for _ in range(n)]),
        translation=rng.uniform(-0.5, 0.5, (n, 3)),
        axis=axis / np.linalg.norm(axis, axis=1, keepdims=True),
        prismatic=rng.random(n) < 0.4 if prismatic is None else np.full(n, prismatic),
        dof=np.arange(n),
        ratio=np.ones(n),
        offset=np.zeros(n),
        inertia=np.zeros((n, 10)),
        limits=np.full((n, 4), np.nan),
    )
    terms = ['viscous', 'coulomb', 'offset', 'asymmetric_viscous', 'asymmetric_coulomb']
    joints = []
    for name, slide in zip(names, kinematics.prismatic):
        chosen = [t for t in terms if rng.random() < 0.5]
        chosen = [t for t in chosen if f'asymmetric_{t}' not in chosen]
        if slide and 'asymmetric_coulomb' in chosen:  # refused where gravity acts
            chosen.remove('asymmetric_coulomb')
        if 'asymmetric_coulomb' in chosen:
            chosen = [t for t in chosen if t != 'offset']
        rotor = str(rng.choice(['geared', 'direct', 'none']))
        joints.append({'name': name, 'friction': chosen, 'rotor_inertia': rotor})
    gravity = rng.normal(0, 5, 3).tolist()
    description = RobotDescription.model_validate(
        {'name': 'random', 'urdf': 'none', 'joints': joints, 'gravity': gravity}
    )
    robot = Robot(description, kinematics)
    return robot, random_parameters(robot, rng)


def _random_tree(rng, n):
    """(n,) parents, depth first as pinocchio numbers its joints: a branch ends before the next."""
    parent = np.arange(n) - 1
    for i in range(1, n):
        while parent[i] >= 0 and rng.random() < 0.4:
            parent[i] = parent[parent[i]]
    return parent


def random_parameters(robot, rng):
    """(s,) inertias of real bodies, positive rotors and friction, any offset."""
    chi_st = rng.uniform(0.1, 2.0, len(robot.standard_names))
    for row in robot.inertial_index:
        chi_st[row] = random_body(rng)
    return chi_st


def random_body(rng):
    """(10,) inertial parameters of a cloud of point masses, so a physically consistent body."""
    mass, points = rng.uniform(0.1, 1.0, 6), rng.uniform(-0.3, 0.3, (6, 3))
    body = pin.Inertia.Zero()
    for m, point in zip(mass, points):
        body += pin.Inertia(m, point, np.zeros((3, 3)))
    return inertia_row(body)


def random_states(rng, robot, count):
    """(q, dq, ddq) of shape (count, n)."""
    shape = (count, robot.n)
    return rng.uniform(-3, 3, shape), rng.normal(0, 2, shape), rng.normal(0, 5, shape)


@st.composite
def robots(draw, most_joints=8):
    """Draw (robot, standard parameters, generator of random numbers)."""
    seed = draw(st.integers(0, 2**32 - 1))
    n = draw(st.integers(1, most_joints))
    serial, aligned = draw(st.booleans()), draw(st.booleans())
    prismatic = draw(st.sampled_from([None, None, False, True]))
    rng = np.random.default_rng(seed)
    pin.seed(seed % 2**31)
    robot, chi_st = random_robot(rng, n, serial, prismatic, aligned)
    return robot, chi_st, rng
