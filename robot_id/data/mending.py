"""Repairs of raw samples by the reader, each with a note and a finding for `check`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_id.data.clock import rebuild
from robot_id.data.dataset import Repair
from robot_id.data.raw import Raw
from robot_id.data.unwrapping import TURN, unwrap


def unwrapped(raw: Raw, notes: list[str], repairs: list[Repair]) -> Raw:
    """Undo the wrap-around of encoders."""
    if 'position' not in raw.channels or len(raw.time) < 3:
        return raw
    position, counts = unwrap(raw.channels['position'])
    if not any(counts):
        return raw
    for name, count in zip(raw.joint_names, counts):
        if count:
            repairs.append(Repair('wrap_around', name, count))
            notes.append(f"{raw.source}: joint '{name}' wraps around {count} time(s), unwrapped")
    channels = {**raw.channels, 'position': position}
    reference = channels.get('reference_position')
    if reference is not None:
        own = unwrap(reference)[0]
        channels['reference_position'] = own + TURN * np.round(
            np.median((position - own) / TURN, axis=0)
        )
    return replace(raw, channels=channels)


def on_own_clock(raw: Raw, notes: list[str], repairs: list[Repair]) -> Raw:
    """Replace the stamps of a logger by the robot's own clock where the motion shows it."""
    position = raw.channels.get('position')
    if position is None or not np.isfinite(position).all():
        return raw
    clock = rebuild(raw.time, position, raw.channels.get('velocity'))
    if clock is None:
        return raw
    detail = (
        f'the stamps are off by {clock.jitter:.2g} of a step (rms), the motion fits a clock of '
        f'{clock.rate:.6g} Hz'
    )
    again = int((~clock.fresh).sum())
    if again:
        detail += f', {again} sample(s) repeat the previous state and are left out'
    repairs.append(Repair('stamps', detail=detail))
    notes.append(f'{raw.source}: {detail}: these are stamps of the logger, the clock is rebuilt')
    return replace(raw.take(np.flatnonzero(clock.fresh)), time=clock.time)
