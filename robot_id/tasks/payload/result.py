"""Mass, centre and inertia of a load with their deviations, and the torques that it adds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_id import files
from robot_id.regression.consistency.pseudo_inertia import pseudo_inertia
from robot_id.tasks.payload.consistency import nearest_bodies
from robot_id.tasks.payload.strategies import Fit
from robot_id.texts import STRATEGIES

Array = NDArray[np.float64]
SCHEMA = 1
STANDARD = ('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ', 'MX', 'MY', 'MZ', 'M')
INERTIA = ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')
NAMES = ('mass', *(f'centre_{k}' for k in 'xyz'), *(f'inertia_{k}' for k in INERTIA))
UNITS = ('kg', 'm', 'm', 'm', *['kg.m2'] * 6)
# A parameter counts as determined when its deviation is below this share of its scale: the mass,
# mass times length, mass times length squared; a length is the load's distance, at least 0.1 m.
PRECISE, LEAST_LENGTH = 0.2, 0.1
DRAWS, SEED = 200, 0


def consistent_draws(
    body: Array, covariance: Array, determined: NDArray[np.bool_]
) -> Array | None:
    """
    Return (DRAWS, 10) bodies as repeated fits would give them; None if all fits are possible.

    :param body: (10,) a physically consistent one.
    :param covariance: (10, 10) of the fit, before it was made physically consistent.
    """
    draws = body + _normal() @ _root(covariance, determined).T
    inconsistent = np.linalg.eigvalsh(pseudo_inertia(draws))[:, 0] < 0.0
    if not inconsistent.any() or not determined.any():
        return None
    draws[inconsistent] = nearest_bodies(draws[inconsistent], covariance, determined)
    return draws


def scatter(
    body: Array, draws: Array | None, linear: Array, function: Callable[[Array], Array]
) -> Array:
    """
    Return the deviations of a function of the ten parameters of a body.

    :param draws: see `consistent_draws`.
    :param linear: (k,) deviations without regard to what is possible; not exceeded.
    :param function: (10,) -> (k,).
    """
    if draws is None:
        return linear
    with np.errstate(all='ignore'):
        off = np.array([function(row) for row in draws]) - function(body)
        found = np.sqrt(np.mean(off**2, axis=0))
    return np.where(found < linear, found, linear)


def _normal() -> Array:
    """(DRAWS, 10) normal numbers in pairs of opposite sign, with mean 0 and covariance 1."""
    half = np.random.default_rng(SEED).standard_normal((DRAWS // 2, 10))
    values, vectors = np.linalg.eigh(half.T @ half / len(half))
    half = half @ vectors / np.sqrt(values) @ vectors.T
    return np.concatenate([half, -half])


def _root(covariance: Array, determined: NDArray[np.bool_]) -> Array:
    """(10, 10) R with R R' the covariance of what is determined."""
    C = np.where(np.outer(determined, determined), covariance, 0.0)
    unit = np.sqrt(np.maximum(np.diag(C), 1e-300))
    values, vectors = np.linalg.eigh(C / np.outer(unit, unit))
    return np.asarray(unit[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


@dataclass(frozen=True, repr=False)
class PayloadResult:
    """
    A load in the frame it is attached by.

    :param values: (10,) mass, centre (3), inertia about the centre (6), NaN if not determined.
    :param deviations: (10,).
    :param standard: (10,) XX XY XZ YY YZ ZZ MX MY MZ M at the origin of the frame.
    :param standard_deviations: (10,), NaN if not determined.
    :param strategy: subtract, known_arm or joint.
    :param frame: where it is attached.
    :param notes: one line each.
    :param recording: where it was found.
    :param torques: that it adds, measured and predicted.
    """

    values: Array
    deviations: Array
    standard: Array
    standard_deviations: Array
    strategy: str
    frame: str
    notes: tuple[str, ...] = ()
    recording: str = ''
    torques: LoadTorques | None = None

    @property
    def determined(self) -> tuple[str, ...]:
        """Names of what the motion determines to a fifth of its scale."""
        mass = abs(self.values[0])
        distance = float(np.linalg.norm(np.nan_to_num(self.values[1:4])))
        length = max(distance, LEAST_LENGTH)
        scale = np.array([mass, *[length] * 3, *[mass * length**2] * 6])
        with np.errstate(invalid='ignore'):
            good = self.deviations < PRECISE * scale
        return tuple(name for name, ok in zip(NAMES, good) if ok)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, null if not determined."""
        each = [_pair(v, s) for v, s in zip(self.values, self.deviations)]
        own = zip(STANDARD, self.standard, self.standard_deviations)
        return {
            'schema': SCHEMA,
            'mass': each[0],
            'centre': each[1:4],
            'inertia': each[4:],
            'inertia_names': list(INERTIA),
            'standard': {name: _pair(v, s) for name, v, s in own},
            'strategy': self.strategy,
            'frame': self.frame,
            'recording': self.recording,
            'determined': list(self.determined),
            'notes': list(self.notes),
        }

    def __repr__(self) -> str:
        return '\n'.join(self.lines())

    def lines(self) -> list[str]:
        """Return what to print: value and half width of the 95 % interval."""
        found = [f'frame: {self.frame}']
        for name, value, std, unit in zip(NAMES, self.values, self.deviations, UNITS):
            known = np.isfinite(std)
            text = f'{value:.4g} +- {1.96 * std:.2g} {unit}' if known else 'not determined'
            found.append(f'{name:11s} {text}')
        missing = [name for name in NAMES if name not in self.determined]
        if missing:
            found.append(
                f'this motion does not determine well: {", ".join(missing)}; robot-id excite '
                '--for payload finds one that does'
            )
        return [*found, *self.notes]


@dataclass(frozen=True, repr=False)
class PayloadIdentification:
    """
    All loads of some recordings.

    :param loads: for each loaded recording one at each place.
    :param strategy: subtract, known_arm or joint.
    :param reason: why this strategy.
    :param findings: what looks wrong in the recordings.
    :param notes: one line each.
    """

    loads: tuple[PayloadResult, ...]
    strategy: str
    reason: str
    findings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line each."""
        return (*self.findings, *self.notes)

    def __repr__(self) -> str:
        return '\n'.join([*self.lines(), *self.warnings])

    def lines(self) -> list[str]:
        """Return what to print."""
        found = [f'strategy {self.strategy}: {STRATEGIES[self.strategy]} ({self.reason})']
        for load in self.loads:
            if len(self.loads) > 1:
                found.append(f'load of {load.recording or "the recording"}')
            found += load.lines()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: the first load, and all of them under `loads`."""
        return {
            **self.loads[0].to_dict(),
            'reason': self.reason,
            'findings': list(self.findings),
            'warnings': list(self.notes),
            'loads': [load.to_dict() for load in self.loads],
        }

    def save(self, path: str | Path) -> None:
        """Write the JSON form to a file."""
        files.write_text(path, json.dumps(self.to_dict(), indent=1) + '\n')


def _pair(value: float, std: float) -> dict[str, float | None]:
    known = bool(np.isfinite(value) and np.isfinite(std))
    return {'value': float(value) if known else None, 'std': float(std) if known else None}


def about_centre(p: Array) -> Array:
    """(10,) standard parameters at the origin -> mass, centre, inertia about the centre."""
    m, c = p[9], p[6:9] / p[9]
    shift = m * ((c @ c) * np.eye(3) - np.outer(c, c))
    return np.concatenate([[m], c, p[:6] - shift[np.triu_indices(3)]])


def jacobian_about_centre(p: Array) -> Array:
    """(10, 10) derivative of `about_centre`, by complex steps (exact to rounding)."""
    step = 1e-30
    return np.array([about_centre(p + 1j * step * unit).imag / step for unit in np.eye(10)]).T


def of_standard(
    p: Array,
    covariance: Array,
    determined: NDArray[np.bool_],
    strategy: str,
    frame: str,
    notes: tuple[str, ...],
) -> PayloadResult:
    """Return the result of standard parameters with the covariance of the fit behind them."""
    known = np.where(determined, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.nan)
    if p[9] > 0.0:
        J = jacobian_about_centre(p)
        values = about_centre(p)
        deviations = np.sqrt(np.maximum(np.einsum('ij,jk,ik->i', J, covariance, J), 0.0))
        draws = consistent_draws(p, covariance, determined)
        deviations = scatter(p, draws, deviations, about_centre)
        known = scatter(p, draws, known, np.asarray)
        found = ~np.any((J != 0.0) & ~determined, axis=1)
    else:
        values, deviations, found = np.zeros(10), known[[9, *[9] * 9]], np.arange(10) == 0
    values = np.where(found & np.isfinite(deviations), values, np.nan)
    deviations = np.where(found, deviations, np.nan)
    return PayloadResult(values, deviations, p, known, strategy, frame, notes)


@dataclass(frozen=True)
class LoadTorques:
    """
    Torques of a load, NaN where a joint does not feel it.

    :param measured: (M, n) y - A_r x_r, with the unknowns x_r of everything but the load.
    :param predicted: (M, n) A_l x_l, with those of the load.
    """

    measured: Array
    predicted: Array


def load_torques(fit: Fit, part: slice) -> LoadTorques:
    """
    Return the torques of one load of a fit.

    :param part: its ten unknowns.
    """
    measured: list[Array] = []
    predicted: list[Array] = []
    x = fit.solution.x
    for A, y in zip(fit.A, fit.y):
        felt = np.any(A[:, :, part] != 0.0, axis=2)
        own = A[:, :, part] @ x[part]
        for found, values in ((measured, y - A @ x + own), (predicted, own)):
            weighted = np.where(felt, values, np.nan)[felt.any(axis=1)]
            found.append(weighted / fit.weights)
    return LoadTorques(np.concatenate(measured), np.concatenate(predicted))
