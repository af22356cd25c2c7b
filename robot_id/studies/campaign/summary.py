"""The figures of a campaign: per condition and method, each with its uncertainty."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from robot_id.json_numbers import finite
from robot_id.studies.campaign.cell import Row
from robot_id.studies.campaign.labels import CONDITIONS

SCHEMA = 1
Array = NDArray[np.float64]
# Half widths of the intervals in deviations: a normal error is inside with 68 and 95 %.
Z68, Z95 = 0.994458, 1.959964


@dataclass(frozen=True)
class Share:
    """
    A share with its own uncertainty.

    :param value: between 0 and 1, NaN when nothing was counted.
    :param low: the 95 % interval of Wilson from here ...
    :param high: ... to here.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, count: float) -> Share:
        """
        Return a share that was counted over `count` independent cases.

        Wilson: (p + z^2/2n -+ z sqrt(p (1-p)/n + z^2/4n^2)) / (1 + z^2/n).
        """
        if not count > 0:
            return cls(math.nan, math.nan, math.nan)
        z2 = Z95**2 / count
        middle, width = (
            value + z2 / 2,
            Z95 * math.sqrt(value * (1 - value) / count + z2 / count / 4),
        )
        low, high = (middle - width) / (1 + z2), (middle + width) / (1 + z2)
        return cls(value, max(0.0, min(low, value)), min(1.0, max(high, value)))


@dataclass(frozen=True)
class Group:
    """
    All runs of one method under one condition.

    :param condition: labels by column (see `labels`).
    :param runs: how many; success: the share that converged; all figures below are of those.
    :param failures: messages of the others, with their counts.
    :param parameter_error: median of 100 ||chi - truth|| / ||truth||.
    :param torque_error: median percent on the hold-out motion; torque_error_90: nine in ten runs
        are below.
    :param bias: rms over the parameters of the mean error over the reported deviation, without the
        scatter of so few runs.
    :param scatter: rms over the parameters of the scatter of the runs over the reported deviation.
    :param bound_ratio: rms over the parameters of the rms error over the Cramer-Rao bound.
    :param coverage_68: share of parameters whose truth is within the 68 % interval.
    :param seconds: median of the estimation alone.
    """

    condition: dict[str, str]
    method: str
    runs: int
    success: Share
    failures: dict[str, int]
    parameter_error: float
    torque_error: float
    torque_error_90: float
    bias: float
    scatter: float
    bound_ratio: float
    coverage_68: Share
    coverage_95: Share
    iterations: float
    seconds: float

    @property
    def title(self) -> str:
        """The condition in one line, what is usual left out."""
        usual = ('default', 'file', 'controller', 'method', 'exact', 'same')
        parts = [f'{k} {v}' for k, v in self.condition.items() if v not in usual and k != 'robot']
        return ', '.join([self.condition['robot'], *parts])


@dataclass(frozen=True)
class Summary:
    """
    The result of a campaign.

    :param groups: ordered by condition, then by method as first seen in the order of names.
    :param runs: of all groups.
    """

    name: str
    runs: int
    groups: tuple[Group, ...]

    def to_json(self) -> str:
        """Return the text of `summary.json`."""
        content = {'schema': SCHEMA, **asdict(self)}
        return json.dumps(finite(content), indent=1) + '\n'

    def conditions(self) -> list[list[Group]]:
        """Return the groups of each condition."""
        found: dict[str, list[Group]] = {}
        for group in self.groups:
            found.setdefault(json.dumps(group.condition), []).append(group)
        return list(found.values())


def summarise(rows: Iterable[Row], name: str = 'campaign') -> Summary:
    """Return the figures of all groups."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[k] for k in (*CONDITIONS, 'method')), []).append(row)
    groups = tuple(_group(key, found[key]) for key in sorted(found))
    return Summary(name, sum(group.runs for group in groups), groups)


def _group(key: Sequence[str], rows: list[Row]) -> Group:
    rows = sorted(rows, key=lambda row: row['key'])
    good = [row for row in rows if row['verdict'] == 'converged']
    failures: dict[str, int] = {}
    for row in rows:
        if row['verdict'] != 'converged':
            kind = row['failure'] or 'not converged'
            failures[kind] = failures.get(kind, 0) + 1
    errors, std = _errors(good)
    bias, scatter = _bias_and_scatter(errors, std)
    return Group(
        condition=dict(zip(CONDITIONS, key)),
        method=key[-1],
        runs=len(rows),
        success=Share.of(len(good) / len(rows), len(rows)),
        failures=failures,
        parameter_error=_quantile(good, 'parameter_error_percent'),
        torque_error=_quantile(good, 'torque_error_percent'),
        torque_error_90=_quantile(good, 'torque_error_percent', 0.9),
        bias=bias,
        scatter=scatter,
        bound_ratio=_bound_ratio(errors, good),
        coverage_68=coverage(errors, std, Z68),
        coverage_95=coverage(errors, std, Z95),
        iterations=_quantile(good, 'iterations'),
        seconds=_quantile(good, 'seconds'),
    )


def _errors(rows: list[Row]) -> tuple[Array, Array]:
    """(runs, b) errors and reported deviations, NaN where there is none or the deviation is 0."""
    if not rows:
        return np.empty((0, 0)), np.empty((0, 0))
    values, truth, std = (
        np.array([r[k] for r in rows], float) for k in ('values', 'truth', 'std')
    )
    return values - truth, np.where(std > 0.0, std, np.nan)


def _bias_and_scatter(errors: Array, std: Array) -> tuple[float, float]:
    """
    Return the mean error and the scatter over the reported deviation, rms over the parameters.

    The mean of N runs scatters by sqrt(1/N) itself; that is taken off the square of the bias.
    """
    N = len(errors)
    if N < 2:
        return math.nan, math.nan
    reported = np.sqrt(np.mean(std**2, axis=0))
    spread = np.std(errors, axis=0, ddof=1) / reported
    mean = np.mean(errors, axis=0) / reported
    known = np.isfinite(mean)
    if not known.any():
        return math.nan, math.nan
    square = np.mean(mean[known] ** 2 - spread[known] ** 2 / N)
    return float(np.sqrt(max(square, 0.0))), float(np.sqrt(np.mean(spread[known] ** 2)))


def _bound_ratio(errors: Array, rows: list[Row]) -> float:
    """Return the rms error over the bound, rms over the parameters; NaN where none is known."""
    if not rows or any(not row['bound'] for row in rows):
        return math.nan
    bound = np.array([row['bound'] for row in rows], float)
    return float(np.sqrt(np.mean((errors / bound) ** 2)))


def coverage(errors: Array, std: Array, z: float) -> Share:
    """
    Return the share of parameters within z deviations of the truth.

    Parameters of one run err together, so its uncertainty comes from how the share varies from
    run to run: n_eff = p (1 - p) / var(mean share), between the runs and all parameters.
    """
    with np.errstate(invalid='ignore'):
        inside = np.where(np.isfinite(std), np.abs(errors) <= z * std, np.nan)
    if not np.isfinite(inside).any():
        return Share.of(0.0, 0.0)
    p, runs, all_of_them = float(np.nanmean(inside)), len(inside), int(np.isfinite(inside).sum())
    shares = np.array([np.nanmean(row) for row in inside if np.isfinite(row).any()])
    count = float(runs)
    if len(shares) > 1 and np.var(shares) > 0.0:
        count = p * (1.0 - p) / (np.var(shares, ddof=1) / len(shares))
    return Share.of(p, min(max(count, runs), all_of_them))


def _quantile(rows: list[Row], name: str, q: float = 0.5) -> float:
    found = np.array([row[name] for row in rows], float)
    found = found[np.isfinite(found)]
    return float(np.quantile(found, q)) if found.size else math.nan
