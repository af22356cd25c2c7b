"""The shapes that must not touch: of the robot, its floor, its tools and its cell."""

from __future__ import annotations

import contextlib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from robot_id.exceptions import DescriptionError, did_you_mean
from robot_id.robot import Robot
from robot_id.robot.files.description import Obstacle
from robot_id.texts import one_line
from robot_id.trajectory.trajectory import Array

# Cells of the grid for a mesh without a hull, along its largest side.
CELLS = 64
# Half the length of a slab that stands for a floor or a wall, m.
SLAB = 20.0
FLOOR = 'floor'


def load_geometry(urdf: Path) -> tuple[pin.Model, pin.GeometryModel]:
    """
    Return the model of a URDF and its collision geometry, every mesh as its convex hull.

    A hull holds its mesh: what keeps clear of it keeps clear of the link. Distances of hulls cost
    microseconds, those of meshes milliseconds.

    :raises DescriptionError: where it cannot be read.
    """
    # `package://NAME/...` is below the folder NAME that holds the URDF, or in ROS_PACKAGE_PATH.
    folders = [str(folder) for folder in urdf.absolute().parents]
    try:
        model = pin.buildModelFromUrdf(str(urdf))
        geometry = pin.buildGeomFromUrdf(
            model, str(urdf), pin.GeometryType.COLLISION, package_dirs=folders
        )
    except (ValueError, RuntimeError) as error:
        line = ' '.join(str(error).split())
        raise DescriptionError(
            f'{urdf}: its collision geometry cannot be read ({line}); '
            'without it collisions are not checked (--no-clearance, clearance_m=None)',
            code='unreadable_geometry',
        ) from error
    for thing in geometry.geometryObjects:
        if isinstance(thing.geometry, coal.BVHModelBase):
            thing.geometry = convex_hull(np.asarray(thing.geometry.vertices()), thing.name)
    return model, geometry


def convex_hull(vertices: Array, name: str) -> coal.ConvexBase:
    """
    Return a convex shape that holds vertices (N, 3): their hull.

    A hull that coal does not take (a vertex with more than 255 neighbours, a flat mesh) becomes
    that of the cells of a grid in which they lie, CELLS to the largest side.

    :param name: of the shape, for errors.
    """
    with contextlib.suppress(RuntimeError):
        return _hull(vertices)
    cell = np.ptp(vertices, axis=0).max() / CELLS
    corners = np.stack(np.meshgrid(*3 * [(0.0, 1.0)]), axis=-1).reshape(-1, 3)
    grid = (np.floor(vertices / cell)[:, None] + corners).reshape(-1, 3)
    try:
        return _hull(np.unique(grid, axis=0) * cell)
    except RuntimeError as error:
        raise DescriptionError(
            f"no hull around the mesh of '{name}' ({one_line(error)}); without it collisions are "
            'not checked (--no-clearance, clearance_m=None)',
            code='unreadable_geometry',
        ) from error


def _hull(points: Array) -> coal.ConvexBase:
    found = coal.StdVec_Vec3s()
    found.extend(list(points))
    return coal.ConvexBase.convexHull(found, True, 'Qt')


def add_floor(geometry: pin.GeometryModel, gravity: Array) -> str:
    """Stand the lowest point of the base on a floor across gravity; return why there is none."""
    base = [thing for thing in geometry.geometryObjects if thing.parentJoint == 0]
    if not np.any(gravity) or not base:
        return 'no floor: ' + ('no gravity' if base else 'the base has no geometry')
    up = -gravity / np.linalg.norm(gravity)
    frame = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), up).matrix()
    height = min(_lowest(thing, frame) for thing in base)
    _add_slab(geometry, FLOOR, pin.SE3(frame, frame @ np.array([0.0, 0.0, height])))
    return ''


def add_obstacles(model: pin.Model, geometry: pin.GeometryModel, robot: Robot) -> None:
    """Add the obstacles of the robot file, its tools, and the URDF of its cell."""
    for number, obstacle in enumerate(robot.description.obstacles, 1):
        name = obstacle.name or f'obstacle {number}'
        place = pin.SE3(pin.rpy.rpyToMatrix(*obstacle.rpy), np.array(obstacle.at))
        if obstacle.plane:
            _add_slab(geometry, name, place)
            continue
        joint = 0
        if obstacle.on is not None:
            joint, carrier = _link(model, obstacle.on, f'obstacles: {name}')
            place = carrier * place
        geometry.addGeometryObject(pin.GeometryObject(name, joint, place, _shape(obstacle)))
    if robot.description.world is None:
        return
    cell, shapes = load_geometry(Path(robot.description.world))
    data, shapes_data = cell.createData(), pin.GeometryData(shapes)
    pin.updateGeometryPlacements(cell, data, shapes, shapes_data, pin.neutral(cell))
    for k, thing in enumerate(shapes.geometryObjects):
        place = shapes_data.oMg[k]
        geometry.addGeometryObject(
            pin.GeometryObject(f'world {thing.name}', 0, place, thing.geometry)
        )


def disabled_pairs(robot: Robot) -> set[frozenset[str]]:
    """Return the pairs of links that the SRDF of the robot file leaves out."""
    srdf = robot.description.srdf
    if srdf is None:
        return set()
    try:
        root = ElementTree.parse(srdf).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise DescriptionError(f'{srdf}: cannot be read as SRDF ({error})') from error
    found = root.iter('disable_collisions')
    return {frozenset((str(each.get('link1')), str(each.get('link2')))) for each in found}


def _shape(obstacle: Obstacle) -> coal.CollisionGeometry:
    if obstacle.box is not None:
        return coal.Box(*obstacle.box)
    if obstacle.cylinder is not None:
        return coal.Cylinder(*obstacle.cylinder)
    return coal.Sphere(obstacle.sphere)


def _link(model: pin.Model, name: str, where: str) -> tuple[int, pin.SE3]:
    """Return the joint that moves a link, and the place of the link on it."""
    names = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
    if name not in names:
        raise DescriptionError(f"{where}: no link '{name}', {did_you_mean(name, names)}")
    frame = model.frames[model.getFrameId(name, pin.FrameType.BODY)]
    return frame.parentJoint, frame.placement


def _add_slab(geometry: pin.GeometryModel, name: str, place: pin.SE3) -> None:
    """Add everything below z = 0 of a frame, thick enough that no link is ever below it."""
    slab = coal.Box(2.0 * SLAB, 2.0 * SLAB, SLAB)
    centre = place * pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5 * SLAB]))
    geometry.addGeometryObject(pin.GeometryObject(name, 0, centre, slab))


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
