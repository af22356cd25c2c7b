"""
Draw the figures of the explanation pages into doc/images.

Usage: .venv/bin/python -m tools.manual.figures
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.signal import butter, lfilter, sosfiltfilt

from robot_id.regression.uncertainty.sandwich import score_covariance
from tools.manual.blocks import ROOT

mpl.use('svg')
import matplotlib.pyplot as plt

FOLDER = ROOT / 'doc' / 'images'
# Readable on a white page and on a dark one.
INK, BLUE, ORANGE = '#808080', '#2f81d0', '#e07b00'
STYLE = {
    'svg.hashsalt': 'robot_id',
    'text.color': INK,
    'axes.labelcolor': INK,
    'axes.edgecolor': INK,
    'xtick.color': INK,
    'ytick.color': INK,
    'axes.spines.top': False,
    'axes.spines.right': False,
    'savefig.transparent': True,
    'font.size': 11,
}
RATE = 1000.0
Array = NDArray[np.float64]


def motion(seconds: float) -> tuple[Array, Array, Array]:
    """Return position, velocity and acceleration of one joint, four sines up to 3 Hz."""
    t = np.arange(0.0, seconds, 1.0 / RATE)[:, None]
    w = 2.0 * np.pi * np.array([0.3, 0.7, 1.6, 3.0])
    a, phase = np.array([0.6, 0.3, 0.1, 0.05]), np.arange(4.0)
    q = (a * np.sin(w * t + phase)).sum(axis=1)
    dq = (a * w * np.cos(w * t + phase)).sum(axis=1)
    return q, dq, -(a * w**2 * np.sin(w * t + phase)).sum(axis=1)


def bias(axes: Any) -> None:
    """Draw the inertia that least squares finds, against the cut-off of the position filter."""
    q, _, ddq = motion(20.0)
    random = np.random.default_rng(0)
    cutoffs = np.geomspace(1.5, 200.0, 40)
    for noise, colour in ((2e-5, BLUE), (1e-4, ORANGE)):
        measured = q + noise * random.standard_normal(q.size)
        found = []
        for cutoff in cutoffs:
            filtered = sosfiltfilt(butter(4, cutoff, fs=RATE, output='sos'), measured)
            a = np.gradient(np.gradient(filtered, 1.0 / RATE), 1.0 / RATE)[500:-500]
            found.append(a @ ddq[500:-500] / (a @ a))
        axes.semilogx(cutoffs, found, color=colour, label=f'noise {1e6 * noise:.0f} µrad')
    axes.axhline(1.0, color=INK, linewidth=0.8, linestyle=':')
    axes.set(xlabel='cut-off of the position filter [Hz]', ylabel='found / true', ylim=(0.4, 1.4))
    axes.legend(frameon=False)


def intervals(axes: Any) -> None:
    """Count how often 95 % intervals hold the truth, where the torque noise is correlated."""
    _, dq, ddq = (x[::50] for x in motion(60.0))
    W = np.column_stack([ddq, dq, np.sign(dq)])
    Q, R = np.linalg.qr(W)
    inverse = solve_triangular(R, np.eye(3))
    chi = np.array([1.0, 2.0, 3.0])
    random = np.random.default_rng(0)
    inside = np.zeros((2, 3))
    runs = 300
    for _ in range(runs):
        noise = lfilter([1.0], [1.0, -0.9], random.standard_normal(len(W)))
        Y = W @ chi + noise
        found, *_ = np.linalg.lstsq(W, Y, rcond=None)
        residual = Y - W @ found
        white = inverse @ inverse.T * (residual @ residual) / (len(W) - 3)
        scores = score_covariance([Q[:, None]], [residual[:, None]])
        robust = inverse @ scores @ inverse.T
        for row, covariance in enumerate((white, robust)):
            inside[row] += abs(found - chi) <= 1.96 * np.sqrt(np.diag(covariance))
    place = np.arange(3)
    for row, (name, colour) in enumerate((('textbook', ORANGE), ('robust', BLUE))):
        share = 100.0 * inside[row] / runs
        axes.bar(place + 0.4 * row - 0.2, share, 0.36, color=colour, label=name)
    axes.axhline(95.0, color=INK, linewidth=0.8, linestyle=':')
    axes.set(xticks=place, ylabel='intervals that hold the truth [%]', ylim=(0, 119))
    axes.set_xticklabels(['inertia', 'viscous', 'Coulomb'])
    axes.legend(frameon=False, ncol=2, loc='upper center')


def friction(axes: Any) -> None:
    """Draw the torque of friction terms against the velocity."""
    dq = np.concatenate([np.linspace(-2, -1e-6, 200), np.linspace(1e-6, 2, 200)])
    base = 1.0 * np.sign(dq) + 0.4 * dq
    axes.plot(dq, base, color=BLUE, label='viscous + Coulomb')
    hump = 0.7 * np.sign(dq) * np.exp(-((dq / 0.2) ** 2))
    axes.plot(dq, base + hump, color=ORANGE, label='+ Stribeck')
    axes.plot(dq, base + 0.5 * np.sign(dq), color=INK, linestyle='--', label='+ load')
    axes.set(xlabel='velocity [rad/s]', ylabel='friction torque [N m]')
    axes.legend(frameon=False)


FIGURES: dict[str, Callable[[Any], None]] = {
    'bias': bias,
    'intervals': intervals,
    'friction': friction,
}


def main() -> None:
    """Draw all of them."""
    mpl.rcParams.update(STYLE)
    for name, draw in FIGURES.items():
        figure, axes = plt.subplots(figsize=(6.4, 3.4), layout='constrained')
        draw(axes)
        figure.savefig(FOLDER / f'{name}.svg', metadata={'Date': None})
        plt.close(figure)


if __name__ == '__main__':
    main()
