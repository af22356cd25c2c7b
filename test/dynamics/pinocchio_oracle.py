"""All functions of the dynamics from pinocchio and the names of the terms, with mimic joints."""

import numpy as np
import pinocchio as pin
from random_robots import random_robot, random_states

from robot_id.robot import Robot, RobotDescription
from robot_id.robot.robot import standard_regressor


def tied_robot(rng, n, bodies, coupled):
    """
    Return a robot of n joints with more bodies, those tied to them as mimic joints.

    :param coupled: motors that turn more than their own joint.
    """
    free, _ = random_robot(rng, bodies)
    k = free.kinematics
    own = np.sort(rng.permutation(bodies)[:n])
    dof = rng.integers(0, n, bodies)
    ratio, offset = rng.uniform(-2, 2, bodies), rng.normal(size=bodies)
    dof[own], ratio[own], offset[own] = np.arange(n), 1.0, 0.0
    names = tuple(k.body_names[i] for i in own)
    fields = {**vars(k), 'joint_names': names, 'dof': dof, 'ratio': ratio, 'offset': offset}
    fields['limits'] = k.limits[own]
    joints = [{'name': name, 'friction': ['viscous', 'coulomb', 'offset']} for name in names]
    described = {'name': 'tied', 'urdf': 'none', 'joints': joints, 'gravity': [0.3, -1.0, -9.0]}
    if coupled:
        matrix = np.eye(n) + np.triu(rng.normal(size=(n, n)), 1) * (rng.random((n, n)) < 0.3)
        described['coupling'] = matrix.tolist()
    return Robot(RobotDescription.model_validate(described), type(k)(**fields))


class Oracle:
    """
    What pinocchio gives for base parameters, friction and rotors from the standard regressor.

    :param chi: (b,) base parameters; their columns of the regressor are taken as they are, so that
        no grouping, which is found numerically, stands between the two.
    """

    def __init__(self, robot, chi):
        self.robot, self.chi = robot, chi
        self.A, self.offset = robot.kinematics.expansion(), robot.kinematics.offset

    def regressor(self, q, dq, ddq):
        """Return W (n, b) with sign(dq)."""
        base = self.robot.base
        W = standard_regressor(self.robot, q[None], dq[None], ddq[None])[0]
        return W[:, base.columns] / base.factor

    def torque(self, q, dq, ddq):
        """Return tau (n,)."""
        return self.regressor(q, dq, ddq) @ self.chi

    def friction(self, dq):
        """Return friction and offset (n,)."""
        q = np.zeros(self.robot.n)
        return self.terms(q, dq, 0.0 * dq)

    def terms(self, q, dq, ddq):
        """Return what is no rigid body (n,)."""
        own = np.isin(self.robot.base.columns, self.robot.term_index)
        return self.regressor(q, dq, ddq)[:, own] @ self.chi[own]

    def gravity(self, q):
        """Return the torques at rest less the offsets, (n,)."""
        still = 0.0 * q
        return self.torque(q, still, still) - self.terms(q, still, still)

    def inertia(self, q):
        """Return M(q) column by column."""
        still = 0.0 * q
        at_rest = self.torque(q, still, still)
        return np.array([self.torque(q, still, e) - at_rest for e in np.eye(self.robot.n)]).T


def rigid_derivatives(robot, chi, q, dq, ddq):
    """
    Return d tau/d q and d tau/d dq of pinocchio, (n, n) each, of the rigid bodies alone.

    Base parameters in their own places are no physically consistent bodies, which pinocchio
    refuses. What it gives is linear in the parameters: so heavy bodies are added and their part
    subtracted.
    """
    heavy = np.zeros(len(robot.standard_names))
    heavy[robot.inertial_index] = [1e2, 0, 0, 1e2, 0, 1e2, 0, 0, 0, 1e2]
    rigid = robot.base.to_standard(chi)
    return [
        a - b
        for a, b in zip(
            _pinocchio_derivatives(robot, rigid + heavy, q, dq, ddq),
            _pinocchio_derivatives(robot, heavy, q, dq, ddq),
        )
    ]


def _pinocchio_derivatives(robot, chi_st, q, dq, ddq):
    model = robot.pinocchio_with(chi_st)
    data = model.createData()
    A, offset = robot.kinematics.expansion(), robot.kinematics.offset
    pin.computeRNEADerivatives(model, data, A @ q + offset, A @ dq, A @ ddq)
    return A.T @ data.dtau_dq @ A, A.T @ data.dtau_dv @ A


def one_state(rng, robot):
    """Return q, dq, ddq (n,)."""
    return (x[0] for x in random_states(rng, robot, 1))
