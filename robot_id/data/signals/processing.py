"""How measurements become equations: every filter option, its default, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite, pi
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from robot_id.data.dataset import Dataset, Run
from robot_id.data.signals import filters
from robot_id.data.signals.decimation import LARGEST_STAGE, stages
from robot_id.exceptions import DataError, OptionError, did_you_mean
from robot_id.ranges import FilterOrder, Frequency, NotNegative, Range, check

Array = NDArray[np.float64]

FILTERS = ('butterworth', 'forward', 'none')
DECIMATION_FILTERS = ('chebyshev', 'none')
# Rigid robot dynamics lie below about 10 Hz (section 2 of paper 000), for any loop.
RIGID_HZ = 10.0
# A loop is sampled some 50 times faster than its bandwidth: used when no loop is known.
SAMPLES_PER_BANDWIDTH = 50.0
# The position filter passes 5 times the bandwidth and never more than a fifth of the rate.
POSITION_MARGIN, LARGEST_CUTOFF = 5.0, 0.2
# Decimated rows at each end of a run that see samples twice.
END_ROWS = 3
# The decimation filter passes twice the bandwidth.
DECIMATION_MARGIN = 2.0

# The longest delay of a torque that is one, s.
LONGEST_DELAY_S = 0.5
Offset = Annotated[float, Range(-LONGEST_DELAY_S, LONGEST_DELAY_S)]


@dataclass(frozen=True)
class Processing:
    """
    Options between the measured positions and torques and the equations Y = W chi + rho.

    None means resolved: by `regression.preprocessing.options` from the data, or by `resolve` from
    the loop bandwidth (at most 10 Hz; rate/50 where no loop is known) and the sampling rate alone.

    :param filter: filter of the positions: 'butterworth' (zero-phase, forward and backward),
        'forward' (causal: shows the bias of table 1 of paper 004) or 'none' (section 4.4 of paper
        000).
    :param cutoff_hz: its cut-off [Hz]; default: twice the largest up to 40 Hz (80 Hz where
        friction is found to be smooth) that explains the torques nearly as well as the best one,
        at most rate/5.
    :param order: its order.
    :param decimation: n_d, one equation in n_d is kept; 1 = all; default: so that rows hold
        what lies below a fifth of the cut-off, at most 8 Hz, and three rows per parameter remain.
    :param decimation_filter: 'chebyshev' (zero-phase type I, order 8, cut-off 0.8 f/(2 n_d)) or
        'none' (one sample in n_d is taken as it is).
    :param border: samples dropped at each end of each run, before decimation; default: where the
        transient of the position filter has decayed to 0.1 %.
    :param border_s: the same in seconds; give one of the two.
    :param rest_band: samples of joint j with |dq_j| below it are left out, rad/s or m/s; one
        value, or one for each joint; 0 = none; default: 1 % of the top speed for a joint that
        dwells, and with sign(dq) 4 standard deviations of the noise of the velocity.
    :param held_torque: the torque is a command that is held until the next sample, so it acts half
        a sample after the position was taken: it is interpolated between four commands.
    :param torque_delay_s: delay of the recorded torque against the position [s], negative where
        it leads; the torque is shifted back by it; derived (IDIM, unless the torque is held):
        estimated with the parameters, and 0 where it is not significant; one for all joints, or
        one for each where they differ.
    """

    filter: str = 'butterworth'
    cutoff_hz: Frequency | None = None
    order: FilterOrder = 4
    decimation: Annotated[int, Range(1, 1_000_000)] | None = None
    decimation_filter: str = 'chebyshev'
    border: Annotated[int, Range(0, 1e9)] | None = None
    border_s: Annotated[float, Range(0.0, 1e6)] | None = None
    rest_band: NotNegative | Sequence[NotNegative] | None = None
    held_torque: bool = False
    torque_delay_s: Offset | Sequence[Offset] | None = None

    def __post_init__(self) -> None:
        _one_of('filter', self.filter, FILTERS)
        _one_of('decimation_filter', self.decimation_filter, DECIMATION_FILTERS)
        check(self)

    @property
    def resolved(self) -> bool:
        """Whether nothing is left to resolve."""
        cutoff = self.cutoff_hz is not None or self.filter == 'none'
        return cutoff and self.decimation is not None and self.border is not None

    @property
    def offset_open(self) -> bool:
        """Whether the delay of the torque is left to the data."""
        return self.torque_delay_s is None and not self.held_torque

    def describe(self, rate: float | None = None) -> list[str]:
        """
        Return one line for each step, for printing.

        :param rate: sampling frequency in Hz, for the lines that need it.
        """
        known = {f.name: getattr(self, f.name) for f in fields(self)}
        text = {k: 'from the data' if v is None else v for k, v in known.items()}
        if self.filter == 'none':
            lines = ['positions: no filter, central differences']
        else:
            way = 'zero-phase' if self.filter == 'butterworth' else 'forward only (delays)'
            cutoff = text['cutoff_hz'] if self.cutoff_hz is None else f'{self.cutoff_hz:.4g} Hz'
            lines = [
                f'positions: Butterworth order {self.order}, cut-off {cutoff}, {way}, '
                'central differences'
            ]
        seconds = f' ({self.border / rate:.3g} s)' if rate and self.border is not None else ''
        lines.append(f'borders: {text["border"]} samples{seconds} dropped at each end of each run')
        if self.decimation == 1:
            lines.append('decimation: none')
        elif self.decimation is None:
            lines.append(f'decimation: from the data, {self.decimation_filter} filter')
        else:
            split = ' x '.join(map(str, stages(self.decimation)))
            cutoff = f', cut-off {0.4 * rate / self.decimation:.4g} Hz' if rate else ''
            how = 'no filter' if self.decimation_filter == 'none' else f'Chebyshev{cutoff}'
            lines.append(f'decimation: 1 sample in {self.decimation} ({split}), {how}')
        if self.held_torque:
            lines.append('torque: a held command, averaged to the time of the positions')
        offsets = np.atleast_1d(_band(self.torque_delay_s))
        if np.any(offsets != 0.0):
            words = [
                f'{"lags" if v > 0.0 else "leads"} by {1e3 * abs(v):.3g} ms' if v else 'in time'
                for v in offsets
            ]
            lines.append(f'torque: {", ".join(words)}; shifted to the positions')
        band = np.atleast_1d(_band(self.rest_band))
        if np.any(band > 0):
            lines.append('rest band: |dq| >= ' + ', '.join(f'{v:.4g}' for v in band))
        return lines


def resolve(
    processing: Processing,
    rate: float,
    bandwidth_rad_s: float | Sequence[float] | None = None,
) -> Processing:
    """
    Fill what is None from the loop bandwidth and the sampling rate.

    :param rate: sampling frequency f in Hz.
    :param bandwidth_rad_s: natural frequency of the position loop, the largest of several joints
        counts, up to 10 Hz; None when no loop is known: rate/50 is assumed, up to 10 Hz.
    """
    if not (isfinite(rate) and rate > 0):
        raise OptionError(f'the sampling rate must be positive, got {rate!r} Hz')
    bandwidth = rate / SAMPLES_PER_BANDWIDTH
    if bandwidth_rad_s is not None:
        bandwidth = float(np.max(bandwidth_rad_s)) / (2 * pi)
        _positive('bandwidth_rad_s', bandwidth)
    bandwidth = min(bandwidth, RIGID_HZ)
    cutoff = processing.cutoff_hz
    if processing.filter != 'none':
        if cutoff is None:
            cutoff = min(POSITION_MARGIN * bandwidth, LARGEST_CUTOFF * rate)
        elif cutoff >= rate / 2:
            raise OptionError(
                f'cutoff_hz = {cutoff:g} is not below half the sampling rate ({rate / 2:g} Hz)',
                key='cutoff_hz',
                value=cutoff,
                bound=rate / 2,
            )
    decimation = processing.decimation
    if decimation is None:
        decimation = even_factor(0.8 * rate / 2 / (DECIMATION_MARGIN * bandwidth))
    border = processing.border
    if processing.border_s is not None:
        in_seconds = round(processing.border_s * rate)
        if border is not None and border != in_seconds:
            raise OptionError(
                f'border = {border} samples and border_s = {processing.border_s:g} s '
                f'({in_seconds} samples) disagree: give one of the two',
                key='border',
                value=border,
                bound=in_seconds,
            )
        border = in_seconds
    elif border is None:
        border = 2
        if processing.filter != 'none' and cutoff is not None:
            border += filters.settling(processing.order, cutoff, rate, filters.SMALL)
    return replace(
        processing, cutoff_hz=cutoff, decimation=decimation, border=border, border_s=None
    )


def dropped(dq: Array, rest_band: float | Sequence[float] | None) -> NDArray[np.bool_]:
    """
    Return which samples of which joint the rest band leaves out, (M, n) flags.

    :param dq: (M, n) velocities of the kept samples.
    :param rest_band: as in Processing.
    """
    band = _band(rest_band)
    if band.ndim and band.shape[0] != dq.shape[1]:
        raise OptionError(
            f'rest_band has {band.shape[0]} values for {dq.shape[1]} joints', code='joint_count'
        )
    return np.abs(dq) < band


def end_rows(processing: Processing) -> int:
    """
    Return how many decimated rows are dropped at each end of a run.

    The filter continues the data by mirroring them: rows near the ends see the same samples twice
    and tell less than the others.
    """
    filtered = (processing.decimation or 1) > 1 and processing.decimation_filter != 'none'
    return END_ROWS if filtered else 0


def usable(run: Run, processing: Processing) -> tuple[int, int]:
    """
    Return the first and the last (exclusive) sample between the borders of a run.

    Raises DataError when the run is too short to leave one kept sample between them.
    """
    border, factor = processing.border or 0, processing.decimation or 1
    first, last = border, len(run) - border
    if last - first < max(2 * (end_rows(processing) + 1) * factor, 4):
        raise DataError(
            f'a run of {len(run)} samples from {run.time[0]:.3f} s is too short: {border} samples '
            f'are dropped at each end and 1 in {factor} is kept; lower border or decimation',
            code='too_short',
        )
    return first, last


def rows_left(dataset: Dataset, processing: Processing) -> int:
    """Return the number of decimated rows of all runs, without the rest band."""
    factor, total = processing.decimation or 1, 0
    for run in dataset.runs:
        samples = len(run) - 2 * (processing.border or 0)
        total += max(-(-samples // factor) - 2 * end_rows(processing), 0) if samples > 0 else 0
    return total


def _band(values: float | Sequence[float] | None) -> Array:
    return np.asarray(0.0 if values is None else values, dtype=float)


def even_factor(wanted: float) -> int:
    """Return the largest factor up to the wanted one that splits into stages of at most 13."""
    factor = max(int(wanted + 1e-9), 1)
    while any(stage > LARGEST_STAGE for stage in stages(factor)):
        factor -= 1
    return factor


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise OptionError(
            f"{name}: no choice '{value}', {did_you_mean(str(value), known)}",
            key=name,
            value=value,
            bound=tuple(known),
        )


def _positive(name: str, value: float | None) -> None:
    if value is not None and not (isfinite(value) and value > 0):
        raise OptionError(
            f'{name} must be a positive number, got {value!r}', key=name, value=value, bound=0.0
        )
