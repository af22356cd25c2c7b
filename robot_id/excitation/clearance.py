"""Distance of the links to each other and to the floor, from the geometry of the URDF."""

from __future__ import annotations

import copy
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from robot_id.exceptions import DescriptionError
from robot_id.robot import Robot
from robot_id.trajectory.trajectory import Array

_POSTURES = 200
_TOUCHING = 0.95
_COARSE_SHAPES = 0.2
_FLOOR = 20.0
_SPARE = 0.005
_PENALTY = 300.0


class Clearance:
    """
    Smallest distances along a motion, for pairs of links that are not neighbours.

    Neighbours in the chain touch by construction and are not checked. Nor are pairs that overlap
    in nearly all postures, or two joints apart in more than a fifth of them: their shapes are too
    coarse, as the limits of the joints allow these postures. `notes` names them.

    :param robot: whose joints, in order, are the columns of all positions.
    :param urdf: its file, with <collision> geometry.
    :param margin: smallest allowed distance, m.
    :param floor: whether the lowest point of the base stands on a floor, across gravity.
    """

    def __init__(self, robot: Robot, urdf: Path, margin: float = 0.02, floor: bool = True) -> None:
        self.margin = margin
        self.notes: list[str] = []
        try:
            self.model = pin.buildModelFromUrdf(str(urdf))
            self.geometry = pin.buildGeomFromUrdf(
                self.model, str(urdf), pin.GeometryType.COLLISION, package_dirs=[str(urdf.parent)]
            )
        except (ValueError, RuntimeError) as error:
            line = ' '.join(str(error).split())
            raise DescriptionError(
                f'{urdf}: its collision geometry cannot be read ({line}); '
                'without it collisions are not checked (--no-clearance)',
                code='unreadable_geometry',
            ) from error
        self.data = self.model.createData()
        self._map_joints(robot)
        if floor:
            self._add_floor(robot)
        self._choose_pairs(robot)
        self.reach = self._largest_reach()

    def _map_joints(self, robot: Robot) -> None:
        """Prepare the way from the robot's columns to pinocchio's configuration vector."""
        kinematics = robot.kinematics
        A = kinematics.expansion()
        self.velocity_map = np.zeros((self.model.nv, robot.n))
        self.offset = np.zeros(self.model.nv)
        for joint_id in range(1, self.model.njoints):
            name, v = self.model.names[joint_id], self.model.joints[joint_id].idx_v
            if name in kinematics.body_names:
                i = kinematics.body_names.index(name)
                self.velocity_map[v], self.offset[v] = A[i], kinematics.offset[i]
            else:
                self.offset[v] = robot.kinematics.locked.get(name, 0.0)
        # Joint j moves point p of body i only if j is among the ancestors of i.
        self.moves = np.zeros((self.model.njoints, self.model.nv), bool)
        for joint_id in range(1, self.model.njoints):
            for ancestor in self.model.supports[joint_id]:
                if ancestor > 0:
                    self.moves[joint_id, self.model.joints[ancestor].idx_v] = True

    def _add_floor(self, robot: Robot) -> None:
        g = robot.gravity
        base = [o for o in self.geometry.geometryObjects if o.parentJoint == 0]
        if not np.any(g) or not base:
            self.notes.append(
                'no floor: ' + ('no gravity' if base else 'the base has no geometry')
            )
            return
        up = -g / np.linalg.norm(g)
        frame = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), up).matrix()
        height = min(_lowest(o, frame) for o in base)
        # Thick enough that no link is ever below it.
        slab = coal.Box(2.0 * _FLOOR, 2.0 * _FLOOR, _FLOOR)
        place = pin.SE3(frame, frame @ np.array([0.0, 0.0, height - 0.5 * _FLOOR]))
        self.geometry.addGeometryObject(pin.GeometryObject('floor', 0, place, slab))

    def _choose_pairs(self, robot: Robot) -> None:
        objects = self.geometry.geometryObjects
        parents = [int(p) for p in self.model.parents]
        pairs = []
        for a in range(len(objects)):
            for b in range(a + 1, len(objects)):
                i, j = sorted((objects[a].parentJoint, objects[b].parentJoint))
                neighbours = i == j or parents[j] == i
                if not neighbours or (objects[b].name == 'floor' and i != j):
                    pairs.append((a, b))
        self._set_pairs(pairs)
        if not pairs:
            return
        limits = robot.limits
        low = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
        high = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
        rng = np.random.default_rng(0)
        overlap = np.mean(self.distances(rng.uniform(low, high, (_POSTURES, robot.n))) <= 0.0, 0)
        kept = []
        for (a, b), share in zip(pairs, overlap):
            i, j = sorted((objects[a].parentJoint, objects[b].parentJoint))
            close = parents[parents[j]] == i and j > 0 and objects[b].name != 'floor'
            if share <= (_COARSE_SHAPES if close else _TOUCHING):
                kept.append((a, b))
            else:
                self.notes.append(
                    f'{objects[a].name} and {objects[b].name} not checked: their shapes overlap '
                    f'in {100 * share:.0f} % of all postures'
                )
        self._set_pairs(kept)

    def _set_pairs(self, pairs: list[tuple[int, int]]) -> None:
        self.geometry.removeAllCollisionPairs()
        for pair in pairs:
            self.geometry.addCollisionPair(pin.CollisionPair(*pair))
        self.pairs = pairs
        self.geometry_data = pin.GeometryData(self.geometry)
        self._seen: tuple[Array, Array] | None = None

    def _largest_reach(self) -> Array:
        """
        (pairs, n) most metres that two bodies move against each other per unit of each joint.

        No point of a body is farther from an axis than the links between them are long, so a
        distance changes by at most reach . |change of q|. Slides make links longer: no bound is
        known then.
        """
        reach = np.zeros((len(self.pairs), self.model.nv))
        if any('Prismatic' in joint.shortname() for joint in self.model.joints):
            return np.full((len(self.pairs), self.velocity_map.shape[1]), np.inf)
        for row, pair in zip(reach, self.pairs):
            things = [self.geometry.geometryObjects[k] for k in pair]
            common = np.logical_and(*(self.moves[thing.parentJoint] for thing in things))
            for thing in things:
                shape, joint = thing.geometry, thing.parentJoint
                shape.computeLocalAABB()
                away = np.linalg.norm(thing.placement.act(shape.aabb_center)) + shape.aabb_radius
                while joint > 0:
                    v = self.model.joints[joint].idx_v
                    row[v] += 0.0 if common[v] else away
                    away += np.linalg.norm(self.model.jointPlacements[joint].translation)
                    joint = self.model.parents[joint]
        return reach @ np.abs(self.velocity_map)

    def __len__(self) -> int:
        return len(self.pairs)

    def copy(self) -> Clearance:
        """Return a clearance with separate work space, for another thread."""
        twin = copy.copy(self)
        twin.data = self.model.createData()
        twin.geometry_data = pin.GeometryData(self.geometry)
        twin._seen = None
        return twin

    def name(self, pair: int) -> str:
        """Return the two names of a pair, for messages."""
        objects = self.geometry.geometryObjects
        return ' and '.join(objects[k].name for k in self.pairs[pair])

    def _configuration(self, q: Array) -> Array:
        """Return pinocchio's configuration vector of a posture (n,)."""
        angles = self.velocity_map @ q + self.offset
        if self.model.nq == self.model.nv:
            return angles
        configuration = np.empty(self.model.nq)
        for joint in self.model.joints[1:]:
            # A continuous joint is a cosine and a sine.
            angle = angles[joint.idx_v]
            place = slice(joint.idx_q, joint.idx_q + joint.nq)
            configuration[place] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
        return configuration

    def _update(self, q: Array) -> None:
        """Place all shapes for one posture (n,)."""
        pin.updateGeometryPlacements(
            self.model, self.data, self.geometry, self.geometry_data, self._configuration(q)
        )

    def distances(self, q: Array) -> Array:
        """(N, n) positions -> (N, pairs) distances in m, negative where two links overlap."""
        D = np.empty((len(q), len(self.pairs)))
        for k, posture in enumerate(q):
            pin.computeDistances(
                self.model, self.data, self.geometry, self.geometry_data,
                self._configuration(posture),
            )  # fmt: skip
            D[k] = [r.min_distance for r in self.geometry_data.distanceResults]
        return D

    def penalty(self, q: Array) -> tuple[float, Array]:
        """
        Return c mean((margin' - d)^2_+)/margin'^2 over the motion, and its slope in q (N, n).

        margin' is 5 mm more than the margin, so that samples in between keep the margin too.
        """
        keep = self.margin + _SPARE
        value, slope = 0.0, np.zeros_like(q)
        scale = _PENALTY / len(q) / keep**2
        shape = (len(q), len(self.pairs), q.shape[1])
        if self._seen is None or self._seen[0].shape != shape:
            self._seen = np.zeros(shape), np.full(shape[:2], -np.inf)
        seen, least = self._seen
        # A pair that was clear and has moved little since is still clear.
        moved = np.einsum('kpj,pj->kp', np.abs(q[:, None] - seen), self.reach)
        doubtful = ~(least - moved >= keep)
        for k in np.flatnonzero(doubtful.any(axis=1)):
            J = None
            self._update(q[k])
            for p in np.flatnonzero(doubtful[k]).tolist():
                result = pin.computeDistance(self.geometry, self.geometry_data, p)
                seen[k, p], least[k, p] = q[k], result.min_distance
                short = keep - result.min_distance
                if short > 0.0:
                    if J is None:
                        # pinocchio gives that of a single joint as (6,).
                        J = pin.computeJointJacobians(self.model, self.data).reshape(6, -1)
                    value += scale * short**2
                    slope[k] -= 2.0 * scale * short * self._distance_slope(p, result, J)
        return value, slope

    def _distance_slope(self, pair: int, result: coal.DistanceResult, J: Array) -> Array:
        """(n,) d distance / d q: the relative speed of the nearest points along the normal."""
        speeds = []
        for index, point in zip(
            self.pairs[pair], (result.getNearestPoint1(), result.getNearestPoint2())
        ):
            parent = self.geometry.geometryObjects[index].parentJoint
            x, y, z = point
            columns = J[:3] + np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]) @ J[3:]
            speeds.append(np.where(self.moves[parent], columns, 0.0))
        return (result.normal @ (speeds[1] - speeds[0])) @ self.velocity_map

    def keeps(self, q: Array) -> bool:
        """
        Return whether all postures (N, n) keep the margin; stop at the first that does not.

        Between postures that follow each other little moves: only pairs that may have come close
        are checked again.
        """
        least, seen = np.full(len(self.pairs), -np.inf), np.zeros((len(self.pairs), q.shape[1]))
        for posture in q:
            moved = np.einsum('pj,pj->p', np.abs(posture - seen), self.reach)
            doubtful = np.flatnonzero(~(least - moved >= self.margin)).tolist()
            if doubtful:
                self._update(posture)
            for p in doubtful:
                least[p] = pin.computeDistance(self.geometry, self.geometry_data, p).min_distance
                if least[p] < self.margin:
                    return False
                seen[p] = posture
        return True

    def worst(self, q: Array) -> tuple[float, str]:
        """Return the smallest distance along a motion (N, n) and the names of the pair."""
        if not self.pairs:
            return float('inf'), ''
        D = self.distances(q)
        k = int(np.argmin(D.min(axis=0)))
        return float(D.min()), self.name(k)


def clearance_of(robot: Robot, margin: float = 0.02, floor: bool = True) -> Clearance | None:
    """Return the clearance of a robot, None where its URDF has no collision geometry."""
    if robot.urdf is None or b'<collision' not in robot.urdf.read_bytes():
        return None
    return Clearance(robot, robot.urdf, margin, floor)


def _lowest(geometry: pin.GeometryObject, frame: Array) -> float:
    """Return the lowest height of a geometry fixed to the base, along the third axis of frame."""
    shape, place = geometry.geometry, geometry.placement
    shape.computeLocalAABB()
    box = shape.aabb_local
    corners = np.array(
        [[x, y, z] for x in (box.min_[0], box.max_[0]) for y in (box.min_[1], box.max_[1])
         for z in (box.min_[2], box.max_[2])]
    )  # fmt: skip
    return float(np.min((corners @ place.rotation.T + place.translation) @ frame[:, 2]))
