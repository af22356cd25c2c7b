"""Weighted least squares on real measurements of the TX40, where the data are at hand."""

from __future__ import annotations

import os
from pathlib import Path

from bench.figure import Figure, in_turns
from robot_id import data
from robot_id.methods.idim.idim_wls import IdimWls
from robot_id.robot import load_robot

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('ROBOT_ID_SHARED', ROOT.parent / 'shared')) / 'data/tx40'


def bench_tx40() -> list[Figure]:
    """From files to the table of parameters, against the time that the robot moved."""
    if not DATA.exists():
        print(f'identification: no {DATA} (ROBOT_ID_SHARED names another place), left out')
        return []
    robot = load_robot('tx40')
    measured = data.load(DATA, 'tx40_csv', robot)
    method = IdimWls()
    seconds = in_turns(
        {
            'load': lambda: data.load(DATA, 'tx40_csv', robot),
            'identify': lambda: method.estimate(robot, measured),
        },
        repeats=3,
    )
    lasts = sum(run.duration for run in measured.runs)
    samples = sum(len(run) for run in measured.runs)
    return [
        Figure(
            f'{name} {samples} samples of the real TX40',
            seconds[key],
            's',
            f'the {lasts:.0f} s of motion',
            lasts / seconds[key],
        )
        for key, name in (('load', 'read csv,'), ('identify', 'WLS,'))
    ]
