"""
Output error of a servo loop, from commanded and measured positions alone.

The drive (its law, its motor, its limits), friction with stick, delay and encoder bias are
simulated with the arm, and fitted so that the simulated positions are the measured ones.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from robot_id import dynamics
from robot_id.data.dataset import Dataset
from robot_id.dynamics.simulation.servo.drives import DRIVES
from robot_id.dynamics.simulation.servo.loop import FIRST_DRIVE
from robot_id.exceptions import DataError, DescriptionError
from robot_id.methods.result import Result
from robot_id.methods.torque_free import evaluation, identifiability
from robot_id.methods.torque_free.descent import DIVERGED_BY, Loss
from robot_id.methods.torque_free.equation_start import equation_start
from robot_id.methods.torque_free.fit import Fit, fit, search
from robot_id.methods.torque_free.problem import Problem
from robot_id.methods.torque_free.servo_run import servo_runs
from robot_id.methods.torque_free.unknowns import build_unknowns
from robot_id.progress import Progress, part_of, silent
from robot_id.ranges import Range
from robot_id.robot import Robot
from robot_id.robot.friction.budget import STRUCTURES, parse_structure
from robot_id.robot.parameters.units import standard_units

Array = NDArray[np.float64]
AUTO = 'auto'
# Postures that typical torques and inertias are taken from.
POSTURES = 200
# A typical acceleration, rad/s2 or m/s2, for the size of torques without gravity.
TYPICAL_ACCELERATION = 5.0
# Seconds of a step while a fit searches; it ends with the step of the option.
SEARCH_STEP = 0.005
# An inner value this close to a bound, in logarithms or scales, is held by it.
NEAR_BOUND = 1e-6
# A richer structure has to lower the error on held-out runs by this share.
WORTH = 0.03


@dataclass(frozen=True)
class ServoOe:
    """
    Output error on positions with the drive in the loop; needs commands, no torques.

    :param drive: model of the drives: pd (torque-controlled, N.m/rad), voltage (DC motor behind a
        position loop with limited duty), current (with limited current).
    :param fixed: known numbers, such as 'kp=20, kd=0.5, kp.wrist=5'.
    :param free: numbers to estimate, with or without a start, such as 'kp=20, kt=0.3'.
    :param prior: numbers to estimate with a prior, such as 'kt=0.37+-0.02'.
    :param friction: a structure (coulomb, stribeck, load, stribeck_load, directional,
        stribeck_directional, quadratic), terms, or auto: chosen on held-out runs.
    :param inertia: link inertias are fixed, free, or only those that gravity shows are free.
    :param command: held until the next one, or linear in between.
    :param horizon: seconds of the predictions that are fitted: runs are cut into pieces, each with
        a first state of its own; 0 for whole runs, which a drive with an integral has anyway.
    :param longest_step: seconds of a simulation step at most.
    :param longest_delay: seconds.
    :param loss: of the residuals: linear, soft_l1 or huber; outliers are three sizes.
    :param starts: descents from different starts.
    :param seed: of the starts.
    """

    drive: Literal['pd', 'voltage', 'current'] = 'pd'
    fixed: str = ''
    free: str = ''
    prior: str = ''
    friction: str = 'coulomb'
    inertia: Literal['fixed', 'gravity', 'free'] = 'fixed'
    command: Literal['held', 'linear'] = 'held'
    horizon: Annotated[float, Range(0.0, 1000.0)] = 1.0
    longest_step: Annotated[float, Range(1e-5, 0.02)] = 0.002
    longest_delay: Annotated[float, Range(0.0, 1.0)] = 0.1
    loss: Loss = 'soft_l1'
    starts: Annotated[int, Range(1, 100)] = 4
    seed: int = 0

    @property
    def name(self) -> str:
        """How users call it."""
        return 'servo_oe'

    def estimate(self, robot: Robot, dataset: Dataset, progress: Progress = silent) -> Result:
        """Identify drives, friction, armature, delay and bias of a robot."""
        began = time.perf_counter()
        choice: list[dict[str, Any]] = []
        chosen = self
        if self.friction == AUTO:
            chosen, choice = self._select(robot, dataset, part_of(progress, 0.0, 0.8))
            progress = part_of(progress, 0.8, 1.0)
        problem = chosen.problem(robot, dataset, informed=True)
        before = identifiability.at_start(problem)
        found, simulations = chosen._fit(robot, dataset, problem, self.starts, progress)
        problem.simulations += simulations
        result = chosen._result(robot, dataset, problem, found, before)
        if choice:
            extras = result.extras | {'friction_choice': choice}
            result = replace(result, extras=extras)
        return replace(result, options=asdict(chosen), elapsed_s=time.perf_counter() - began)

    def _fit(
        self, robot: Robot, dataset: Dataset, problem: Problem, starts: int, progress: Progress
    ) -> tuple[Fit, int]:
        """Return the fit of a problem, by way of longer steps, and the simulations of these."""
        coarse = replace(self, longest_step=max(self.longest_step, SEARCH_STEP)).problem(
            robot, dataset
        )
        coarse.unknowns = problem.unknowns
        x, evaluations = search(coarse, self.loss, starts, self.seed, progress)
        return fit(problem, self.loss, x, evaluations), coarse.simulations

    def problem(
        self, robot: Robot, dataset: Dataset, free_start: bool = True, informed: bool = False
    ) -> Problem:
        """
        Return what is fitted.

        :param free_start: pieces of the runs, with first states that are unknown; else whole runs
            from their measured first state on.
        :param informed: start from the equation error of the recordings.
        """
        dataset = dataset.select(robot.joint_names)
        inertia = robot.standard_prior()[robot.inertial_index]
        torques, inertias, _ = _sizes(robot, dataset, inertia)
        numbers, unknowns = build_unknowns(
            DRIVES[self.drive], parse_structure(self.friction), robot.joint_names, torques,
            inertias, self.fixed, self.free, self.prior, self.longest_delay,
        )  # fmt: skip
        runs = servo_runs(dataset, self.longest_step, self.command == 'held')
        problem = Problem(
            robot, inertia, DRIVES[self.drive], numbers, unknowns, runs,
            _directions(robot, inertia, self.inertia), free_start,
        )  # fmt: skip
        if informed:
            problem.unknowns = equation_start(problem)
        if free_start and self.horizon > 0.0 and not _integrates(problem):
            problem.runs = tuple(part for run in runs for part in run.pieces(self.horizon))
        return problem

    def errors(self, robot: Robot, result: Result, dataset: Dataset) -> list[Array]:
        """Return (N, n) simulated positions of other runs with what was identified."""
        dataset = dataset.select(robot.joint_names)
        problem = self.problem(robot, dataset, free_start=False)
        x = inner_values(problem, result)
        held = self.command == 'held'
        return evaluation.simulated(problem, x, dataset, self.longest_step, held)

    def refit(self, robot: Robot, dataset: Dataset, result: Result) -> Result:
        """Return a result of other runs, by one descent from a result; values only."""
        problem = self.problem(robot, dataset, informed=True)
        first = inner_values(problem, result)
        found = fit(problem, self.loss, first=first)
        _, values, _ = _named(problem, found.x)
        return replace(result, values=values, covariance=np.full_like(result.covariance, np.nan))

    def _select(
        self, robot: Robot, dataset: Dataset, progress: Progress
    ) -> tuple[ServoOe, list[dict[str, Any]]]:
        """Return the method with the structure that held-out runs choose, and their errors."""
        groups = held_out_groups(dataset)
        table: list[dict[str, Any]] = []
        for number, name in enumerate(STRUCTURES):
            method = replace(self, friction=name, longest_step=max(self.longest_step, SEARCH_STEP))
            share = part_of(progress, number / len(STRUCTURES), (number + 1) / len(STRUCTURES))
            errors = []
            for k, group in enumerate(groups):
                share(k / len(groups), f'friction {name}: fit {k + 1} of {len(groups)}')
                kept = [run for i, run in enumerate(dataset.runs) if i not in group]
                others = replace(dataset, runs=tuple(kept))
                problem = method.problem(robot, others, informed=True)
                found, _ = method._fit(robot, others, problem, 1, silent)
                other = replace(dataset, runs=tuple(dataset.runs[i] for i in group))
                other = other.select(robot.joint_names)
                positions = evaluation.simulated(
                    problem, found.x, other, method.longest_step, self.command == 'held'
                )
                rows = evaluation.run_errors(other, positions)
                errors.append(float(np.mean([row['mean_absolute_error'] for row in rows])))
            table.append(
                {'friction': name, 'holdout_error': float(np.mean(errors)), 'per_group': errors}
            )
        best = table[0]
        for row in table[1:]:
            if row['holdout_error'] < (1.0 - WORTH) * best['holdout_error']:
                best = row
        return replace(self, friction=best['friction']), table

    def _result(
        self, robot: Robot, dataset: Dataset, problem: Problem, found: Fit, before: list[str]
    ) -> Result:
        dataset = dataset.select(robot.joint_names)
        slopes = np.array(
            [*(u.slope(float(x)) for u, x in zip(problem.unknowns, found.x)),
             *np.ones(len(problem.directions))]
        )  # fmt: skip
        names, values, scales = _named(problem, found.x)
        slopes[len(problem.unknowns) :] = scales
        covariance = found.covariance * np.outer(slopes, slopes)
        std = np.sqrt(np.diag(covariance))
        held = self.command == 'held'
        positions = evaluation.simulated(problem, found.x, dataset, self.longest_step, held)
        total, per_joint = _percent(dataset, positions)
        after = identifiability.after(problem, found)
        at_bound = _at_bound(problem, found.x)
        warnings = [*after, *at_bound.values()]
        if not found.converged:
            warnings.insert(0, 'the fit did not converge: give more starts, or starts nearby')
        units = _units(problem)
        return Result(
            robot=robot.name,
            method=self.name,
            names=names,
            values=values,
            covariance=np.where(np.isfinite(covariance), covariance, np.nan),
            essential=np.abs(values) > 1.96 * std,
            relative_error_percent=total,
            relative_error_percent_per_joint=per_joint,
            condition_number=found.condition,
            iterations=found.evaluations,
            simulations=problem.simulations,
            converged=found.converged,
            warnings=tuple(warnings),
            units=units,
            extras={
                'rate_hz': dataset.rate,
                'units': list(units),
                'drive': self.drive,
                'friction': list(parse_structure(self.friction)),
                'joints': joint_table(problem, found.x),
                'joint_names': list(robot.joint_names),
                'inputs': _usual_inputs(robot, dataset, problem),
                'not_identifiable_at_start': before,
                'not_identifiable': after,
                'at_bound': list(at_bound),
                'scale': identifiability.scale_of(self.drive, problem, found),
                'runs': evaluation.run_errors(dataset, positions),
                'horizons': evaluation.horizon_errors(
                    problem, found.x, dataset, self.longest_step, held
                ),
                'data_notes': list(dataset.notes),
            },
        )


def _usual_inputs(robot: Robot, dataset: Dataset, problem: Problem) -> dict[str, list[float]]:
    """Return the median gain and supply of every joint, and its typical torque at rest."""
    found = {
        name: np.median(np.concatenate([getattr(r.inputs, name) for r in problem.runs]), axis=0)
        for name in ('gain', 'supply')
    }
    found['load'] = _sizes(robot, dataset, problem.inertia)[2]
    return {name: [float(v) for v in values] for name, values in found.items()}


def held_out_groups(dataset: Dataset) -> list[list[int]]:
    """Return runs to hold out together: those of one gain where there are several, else each."""
    if len(dataset.runs) < 2:
        raise DataError(
            f'{dataset.source or "recording"}: friction=auto needs several runs to hold one out; '
            'name a structure, or give more recordings'
        )
    keys = [
        None if run.gain is None else tuple(np.round(run.gain[0], 9).tolist())
        for run in dataset.runs
    ]
    if len(set(keys)) > 1:
        return [[i for i, key in enumerate(keys) if key == one] for one in dict.fromkeys(keys)]
    return [[i] for i in range(len(dataset.runs))]


def joint_table(problem: Problem, x: Array) -> dict[str, dict[str, float]]:
    """Return every number of every joint by name, fixed ones too."""
    from robot_id.methods.torque_free.unknowns import places

    table = problem.table(x)
    found: dict[str, dict[str, float]] = {}
    for j, joint in enumerate(problem.robot.joint_names):
        found[joint] = {
            place.name: float(table[j, place.place]) for place in places(problem.drive, (), 1.0)
        }
    return found


def inner_values(problem: Problem, result: Result) -> Array:
    """Return the inner values of a result, for a problem of the same unknowns."""
    known = dict(zip(result.names, result.values))
    x = [u.inner(float(known[u.name])) for u in problem.unknowns]
    names, start, scales = _named(problem, problem.start())
    for k in range(len(problem.unknowns), problem.shared):
        at = k - len(problem.unknowns)
        x.append((float(known[names[k]]) - start[k]) / scales[at])
    return np.array(x)


def _named(problem: Problem, x: Array) -> tuple[tuple[str, ...], Array, Array]:
    """Return names and values of the unknowns, and the scales of the inertial ones."""
    names = [u.name for u in problem.unknowns]
    values = [u.value(float(v)) for u, v in zip(problem.unknowns, x)]
    bodies, scales = problem.bodies(x), []
    names += problem.inertial_names()
    for direction in problem.directions:
        body, place = np.unravel_index(int(np.argmax(np.abs(direction))), direction.shape)
        values.append(float(bodies[body, place]))
        scales.append(float(direction[body, place]))
    return tuple(names), np.array(values), np.array(scales)


def _percent(dataset: Dataset, positions: list[Array]) -> tuple[float, Array]:
    """Return the error of simulated positions in percent of the motion, in all and by joint."""
    square, size = np.zeros((2, dataset.runs[0].position.shape[1]))
    for run, position in zip(dataset.runs, positions):
        rho = np.nan_to_num(run.position - position, nan=DIVERGED_BY)
        square += np.sum(rho**2, axis=0)
        size += np.sum((run.position - run.position.mean(axis=0)) ** 2, axis=0)
    total = float(100.0 * np.sqrt(np.sum(square) / np.sum(size)))
    return total, 100.0 * np.sqrt(square / np.maximum(size, 1e-300))


def _at_bound(problem: Problem, x: Array) -> dict[str, str]:
    """Return the unknowns that their bounds hold, and a line on each; zero is no such bound."""
    found = {}
    for u, inner in zip(problem.unknowns, x):
        low, high = u.bounds
        if high - inner < NEAR_BOUND or (u.lower != 0.0 and inner - low < NEAR_BOUND):
            value = f'{u.value(float(inner)):.4g} {u.unit}'
            found[u.name] = f"'{u.name}' is at its bound {value}"
    return found


def _units(problem: Problem) -> tuple[str, ...]:
    """Return the unit of each unknown."""
    robot = problem.robot
    inertial = dict(zip(robot.standard_names, standard_units(robot)))
    return (
        *(
            u.unit.replace('kg.m2', 'kg').replace('N.m', 'N').replace('rad', 'm')
            if robot.prismatic[u.joints[0]]
            else u.unit
            for u in problem.unknowns
        ),
        *(inertial[name] for name in problem.inertial_names()),
    )


def _directions(robot: Robot, inertia: Array, kind: str) -> Array | None:
    """Return (m, nb, 10) free inertial base parameters, with their sizes."""
    if kind == 'fixed':
        return None
    places = {int(c): np.argwhere(robot.inertial_index == c) for c in robot.base.columns}
    found = []
    for place in places.values():
        if not len(place) or (kind == 'gravity' and place[0][1] < 6):
            continue
        direction = np.zeros_like(inertia)
        body, k = place[0]
        group = slice(6, 9) if 6 <= k < 9 else slice(9, 10) if k == 9 else slice(0, 6)
        direction[body, k] = max(0.2 * float(np.abs(inertia[:, group]).max()), 1e-4)
        found.append(direction)
    return np.array(found).reshape(-1, *inertia.shape)


def _integrates(problem: Problem) -> bool:
    """Whether the integral of a drive is at work, whose state a piece of a run does not show."""
    place = FIRST_DRIVE + [number.name for number in problem.drive.numbers].index('ki')
    return bool(np.any(problem.numbers[:, place])) or any(
        u.place == place for u in problem.unknowns
    )


def _sizes(robot: Robot, dataset: Dataset, inertia: Array) -> tuple[Array, Array, Array]:
    """Return (n,) typical torques, inertias and gravity torques along the measured positions."""
    if not np.any(inertia[:, 9] > 0.0):
        raise DescriptionError(
            f'{robot.name}: no masses: servo_oe needs the inertias of a URDF or the truth of a '
            'robot file, which set the scale of all torques'
        )
    q = np.concatenate([run.position for run in dataset.runs])
    q = np.ascontiguousarray(q[:: max(len(q) // POSTURES, 1)])
    standard = np.zeros(len(robot.standard_names))
    standard[robot.inertial_index] = inertia
    chi = robot.base.from_standard(standard)
    rest = np.zeros_like(q)
    gravity = dynamics.inverse_dynamics(robot, chi, q, rest, rest)
    M = dynamics.inertia_matrix(robot, chi, q)
    own = np.mean(np.abs(M[:, np.arange(robot.n), np.arange(robot.n)]), axis=0)
    own = np.maximum(own, 1e-9)
    load = np.sqrt(np.mean(gravity**2, axis=0))
    return load + TYPICAL_ACCELERATION * own, own, load
