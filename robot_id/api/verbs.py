"""What a person does with a robot and its recordings, one function each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from robot_id import data as room
from robot_id import options as options_room
from robot_id.api.fit import Fit
from robot_id.api.methods import Method
from robot_id.api.simulation import (
    AnyRobot,
    Motion,
    check_every,
    numbers,
    simulation_of,
    values_of,
)
from robot_id.data.dataset import Dataset
from robot_id.exceptions import DataError, OptionError, did_you_mean
from robot_id.excitation.clearance import clearance_of
from robot_id.excitation.design import Excitation, ExcitationOptions
from robot_id.excitation.design import excite as design
from robot_id.methods.model_file import load_result_or_model, robot_of
from robot_id.methods.parameters import parameters_for, robot_for
from robot_id.methods.recursive.identifier import OnlineIdentifier
from robot_id.methods.recursive.settings import OnlineSettings
from robot_id.methods.registry import TORQUE_FREE
from robot_id.methods.result import Result
from robot_id.progress import Progress, silent
from robot_id.robot import Robot, load_robot
from robot_id.robot.robot import Array
from robot_id.tasks.checks import check as check_recording
from robot_id.tasks.checks.finding import Findings
from robot_id.tasks.guessing.guess import Guess
from robot_id.tasks.guessing.guess import guess as guess_columns
from robot_id.tasks.identify import Request
from robot_id.tasks.identify import identify as run
from robot_id.tasks.measurements import Data, Recording, load_for
from robot_id.tasks.payload import PayloadRequest, identify_payloads
from robot_id.tasks.payload.attachment import at_link, at_pose, known_part
from robot_id.tasks.payload.result import PayloadIdentification
from robot_id.tasks.rehearsal import rehearsed
from robot_id.tasks.validation import Validation


def load(
    path: str | Path | Sequence[str | Path],
    *,
    robot: AnyRobot | None = None,
    mapping: room.MappingLike | None = None,
    joint_names: Sequence[str] | None = None,
) -> Dataset:
    """
    Read recordings: rosbag2, .mcap, .db3, .csv, .csv.gz, .mat, .npz, .json; a list of them is one.

    :param robot: whose joints are wanted, in its order.
    :param mapping: which columns are what: a shipped name, a YAML file, or its keys as a dict.
    :param joint_names: joints wanted, where no robot is given.
    :raises DataError: naming the file and what is wrong; gaps split a run and are in `notes`.
    """
    return room.load(path, mapping, None if robot is None else load_robot(robot), joint_names)


def guess(robot: Robot | str | Path, path: str | Path) -> Guess:
    """
    Return what the columns of an unknown recording are, each with its reason and its doubt.

    :param robot: Robot, name, file or URDF.
    :param path: a table, or a folder with a table for each joint.
    """
    return guess_columns(robot, path)


def check(
    robot: AnyRobot,
    data: Data,
    *,
    mapping: room.MappingLike | None = None,
    progress: Progress = silent,
) -> Findings:
    """Return what looks wrong with a recording before any fit: a table of findings."""
    model = load_robot(robot)
    return check_recording(model, load_for(model, data, mapping, needs_torque=False), progress)


def identify(
    robot: AnyRobot,
    data: Data,
    method: str | Method = 'idim_wls',
    *,
    friction: str | Sequence[str] | None = None,
    physical: bool | None = None,
    holdout: float | Recording | Sequence[Recording] = 0.2,
    validate: Data | None = None,
    check: bool = True,
    mapping: room.MappingLike | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Fit:
    """
    Identify the base parameters of a robot from measurements, and judge them.

    :param robot: Robot, name, file or pinocchio.Model.
    :param data: Dataset, file, or a list of them.
    :param method: name (`methods()` lists them), or an object such as IdimWls(cutoff_hz=40).
    :param friction: terms of all joints, 'auto' to choose by cross-validation; None takes those
        of the robot file.
    :param physical: True for the nearest physically consistent model; None decides by M(q).
    :param holdout: fraction of the motion, or data, kept back to judge the fit; 0 for none.
    :param validate: other data whose torques are predicted too.
    :param check: look at the data before the fit.
    :param options: of the method, such as cutoff_hz=40.
    :raises RobotIdError: with the fields joint, key, value, bound.
    """
    model = load_robot(robot)
    name, given = _method(method, options)
    if physical is not None:
        given['physical'] = physical
    terms = _terms(friction)
    request = Request(model, data, name, given, mapping, validate, holdout, terms, check)
    found = run(request, progress)
    return Fit(found.robot, found.result, found)


def load_fit(path: str | Path, *, robot: AnyRobot | None = None) -> Fit:
    """
    Read a fit that `Fit.save` or `robot-id identify --json` wrote.

    :param robot: None takes the one that the file names by path and hash; a line in `warnings`
        says where its content has changed.
    """
    result = Result.load(path)
    model = None if robot is None else load_robot(robot)
    found, notes = robot_of(result, model, path)
    result = replace(result, warnings=(*notes, *result.warnings))
    own = robot_for(found, result)
    if result.method not in TORQUE_FREE:
        parameters_for(own, result)
    return Fit(own, result)


def validate(fit: Fit, data: Data, **options: Any) -> Validation:
    """Predict the torques of other data with a fit, see `Fit.validate`."""
    if not isinstance(fit, Fit):
        raise DataError(
            f'validate: a fit is needed, got {type(fit).__name__}; load_fit reads a file',
            key='fit',
        )
    return fit.validate(data, **options)


def simulate(
    robot: AnyRobot,
    motion: Motion | None = None,
    *,
    seed: int = 0,
    seconds: float | None = None,
    cycles: int = 1,
    parameters: Fit | ArrayLike | str | Path | None = None,
    payload: str | Sequence[float] | None = None,
    tool: str | None = None,
    noise: bool = True,
    every: int = 1,
    loop: str = 'default',
) -> Dataset:
    """
    Return what a logger records while the simulated robot follows a motion in its own loop.

    :param motion: trajectory, result of `excite`, name or file; None takes the robot file's, or a
        random one of `seconds`.
    :param seed: of the noise and of a random motion.
    :param parameters: a fit, (b,) values, or the file of a result, URDF, SDF or MJCF; None takes
        the truth of the robot file.
    :param payload: load of the arm: mass [kg], centre x, y, z [m], and maybe its inertia
        xx, xy, xz, yy, yz, zz about the centre [kg.m2].
    :param tool: link of the URDF that carries it; None takes the last one.
    :param noise: False for exact positions and torques.
    :param every: control samples per recorded one.
    """
    check_every(every)
    done = simulation_of(
        robot, motion, seed=seed, seconds=seconds, cycles=cycles, parameters=parameters,
        payload=payload, tool=tool, noise=noise, loop=loop,
    )  # fmt: skip
    return done.dataset(every)


def excite(
    robot: AnyRobot,
    *,
    seconds: float = 10.0,
    budget_s: float = 60.0,
    clearance_m: float | None = 0.02,
    floor: bool = True,
    rehearse: bool = True,
    after: Data | None = None,
    mapping: room.MappingLike | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Excitation:
    """
    Find a motion that excites all parameters within the limits; `trajectory` is the motion.

    :param seconds: its length.
    :param budget_s: time for the search; `evaluations=` instead makes it repeatable.
    :param clearance_m: smallest distance between links; None does not check collisions.
    :param floor: whether there is one.
    :param rehearse: simulate an identification for standard deviations and verdict.
    :param after: recordings that one has: the motion is best together with them.
    :param mapping: of these recordings.
    :param options: of ExcitationOptions, such as criterion, order, fraction, purpose='payload'.
    """
    model = load_robot(robot)
    known = options_room.options_of(ExcitationOptions)
    for key in options:
        if key not in known:
            hint = did_you_mean(key, known)
            raise OptionError(f"excite has no option '{key}': {hint}", key=key)
    chosen = ExcitationOptions(seconds=seconds, budget_s=budget_s, **options)
    clearance = None if clearance_m is None else clearance_of(model, clearance_m, floor)
    recorded = None if after is None else load_for(model, after, mapping, needs_torque=False)
    found = design(model, chosen, clearance, progress, recorded)
    if not rehearse:
        return found
    progress(1.0, 'simulating an identification')
    return rehearsed(model, found)


def identify_payload(
    robot: AnyRobot,
    loaded: Data,
    unloaded: Recording | None = None,
    *,
    arm: Fit | str | Path | None = None,
    tool: str | Sequence[str] | None = None,
    pose: str | Sequence[float] | None = None,
    known: str | Path | Sequence[float] | None = None,
    strategy: str | None = None,
    mapping: room.MappingLike | None = None,
    check: bool = True,
    progress: Progress = silent,
) -> PayloadIdentification:
    """
    Identify mass, centre and inertia of a load from recordings with and without it.

    :param loaded: recording with the load; a list is one load each.
    :param unloaded: recording without it; not needed with `arm`.
    :param arm: fit of the arm without load, or its file.
    :param tool: link of the URDF that carries the load and gives its frame; several for several.
    :param pose: or a frame in that of the last link: x, y, z, roll, pitch, yaw.
    :param known: part of the load that is known, subtracted: mass, x, y, z [, inertia], or the
        JSON file of another load.
    :param strategy: subtract, known_arm or joint; None chooses by the data.
    """
    model = load_robot(robot)
    tools = [tool] if isinstance(tool, str) else list(tool or ())
    if tools and pose is not None:
        raise OptionError('payload: give tool or pose, not both', key='pose')
    places = tuple(at_link(model, one) for one in tools)
    if pose is not None:
        places = (at_pose(model, numbers(pose)),)
    listed = [loaded] if isinstance(loaded, Dataset | str | Path) else list(loaded)
    model_of_arm = (
        arm.result
        if isinstance(arm, Fit)
        else None
        if arm is None
        else load_result_or_model(model, arm)
    )
    request = PayloadRequest(
        model,
        tuple(load_for(model, one, mapping) for one in listed),
        None if unloaded is None else load_for(model, unloaded, mapping),
        model_of_arm,
        places,
        known_part(numbers(known)) if known is not None else None,
        strategy,
        check,
    )
    return identify_payloads(request, progress)


def on_line(
    robot: AnyRobot,
    rate_hz: float,
    method: str = 'rls',
    *,
    nominal: Fit | Mapping[str, float] | str | Path | None = None,
    **options: Any,
) -> OnlineIdentifier:
    """
    Return an estimator for a running robot: `feed` samples, ask `estimate`, `status()` any time.

    :param rate_hz: of the samples.
    :param method: 'rls', 'riv' or 'integral'.
    :param nominal: start values and sizes of the parameters, which supervision needs: a fit, its
        file, or values by name; None takes the a priori values of the robot file, if any.
    :param options: of the method, such as memory, memory_s, supervision, max_std; without a
        nominal model supervision is off.
    """
    model = load_robot(robot)
    start: Array | None = None
    if isinstance(nominal, str | Path):
        nominal = load_fit(nominal, robot=model)
    if isinstance(nominal, Fit):
        model = nominal.model.robot
        start = parameters_for(model, nominal.result)
    elif isinstance(nominal, Mapping):
        start = values_of(model, _in_order(model, nominal))
    elif nominal is not None:
        raise OptionError(
            f'nominal: a fit, its file or values by name are needed, got {type(nominal).__name__}',
            key='nominal',
        )
    else:
        start = model.a_priori_or_none()
    if not isinstance(rate_hz, Real):
        raise OptionError(f'rate_hz: {rate_hz!r} is not a number', key='rate_hz', value=rate_hz)
    supervised = {'supervision': 'eigenvalue' if start is not None else 'none'}
    settings = options_room.build(OnlineSettings, supervised | options, owner=method)
    return settings.for_running_robot(model, rate_hz, method, start, start)


def _method(method: str | Method, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name of a method and its options."""
    if isinstance(method, str):
        return method, dict(given)
    if not isinstance(method, Method):
        raise OptionError(
            f'method: a name or an object such as IdimWls() is needed, got {method!r}',
            key='method',
            value=method,
        )
    twice = [key for key in given if key in method.options]
    if twice:
        raise OptionError(f"option '{twice[0]}' is given twice", key=twice[0])
    return method.name, method.options | dict(given)


def _terms(friction: str | Sequence[str] | None) -> str | None:
    """Return friction terms as the text that the command line has for them."""
    if friction is None or isinstance(friction, str):
        return friction
    if not isinstance(friction, Sequence) or not all(isinstance(one, str) for one in friction):
        raise OptionError(
            f"friction: 'auto' or names of terms are needed, got {friction!r}",
            key='friction',
            value=friction,
        )
    return ','.join(friction)


def _in_order(robot: Robot, given: Mapping[str, float]) -> list[float]:
    """Return values by name in the order of the base parameters."""
    for name in given:
        if name not in robot.base.names:
            hint = did_you_mean(name, robot.base.names)
            raise OptionError(f"{robot.name}: no parameter '{name}', {hint}", key=name)
    missing = [name for name in robot.base.names if name not in given]
    if missing:
        raise OptionError(
            f"{robot.name}: a value of '{missing[0]}' is needed besides", key=missing[0]
        )
    return [given[name] for name in robot.base.names]
