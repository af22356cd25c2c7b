"""The Dataset: what was measured, per run, in SI units on the joint side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.data.cache import Kept
from robot_id.data.uniform_time import UniformTime
from robot_id.exceptions import DataError

if TYPE_CHECKING:
    import pandas

    from robot_id.data.mapping import MappingLike

Array = NDArray[np.float64]
# How far a sample may be from its place on the uniform grid, in steps: beyond it, it is another's.
MOST_OFF = 0.5
# What to do about joints that a recording lacks, or calls otherwise.
LOCK = "put joints that were not recorded under 'locked' of a robot file"
RENAME = "give the robot's names under 'joints' of the mapping"


@dataclass(frozen=True, repr=False)
class Run(UniformTime):
    """
    One uninterrupted, uniformly sampled recording of N samples and n joints.

    Filters, derivatives and decimation never cross the border of a run.

    :param time: (N,) seconds, uniform step, strictly increasing.
    :param position: (N, n) joint positions, rad or m.
    :param torque: (N, n) joint-side motor torques or forces, N.m or N; (N, 0) where none were
        recorded (None when a run is made).
    :param velocity: (N, n) measured joint velocities, or None.
    :param reference_position: (N, n) what the controller was asked to follow, or None.
    :param reference_velocity: (N, n), or None.
    :param reference_acceleration: (N, n), or None.
    :param control: (N, n) control signal before the drive gain, or None.
    :param temperature: (N, n) temperatures of the joints, degrees Celsius, or None.
    :param gain: (N, n) gains of the position loops as they were set, or None.
    :param supply: (N, n) voltages of the drives, V, or None.
    :param enabled: (N, n) 1 where a drive is on, 0 where its motor turns freely, or None.
    :param name: of the recording that it is, or is a part of; '' where it has none.
    """

    time: Array
    position: Array
    torque: Array = None  # type: ignore[assignment]
    velocity: Array | None = None
    reference_position: Array | None = None
    reference_velocity: Array | None = None
    reference_acceleration: Array | None = None
    control: Array | None = None
    temperature: Array | None = None
    gain: Array | None = None
    supply: Array | None = None
    enabled: Array | None = None
    name: str = ''

    def __post_init__(self) -> None:
        N = self.time.shape[0]
        if self.time.ndim != 1 or N < 2:
            raise DataError(f'a run needs at least 2 samples, got time of shape {self.time.shape}')
        grid = np.linspace(self.time[0], self.time[-1], N)
        off = np.abs(self.time - grid)
        if not np.max(off) <= MOST_OFF * self.step:
            far = int(np.argmax(np.abs(np.diff(self.time) - self.step)))
            raise DataError(
                f'the times of a run are not uniform: {np.median(np.diff(self.time)):.6g} s from '
                'sample to sample, '
                f'but {self.time[far]:.6g} s is followed by {self.time[far + 1]:.6g} s; make a '
                'run of each part without a gap, or resample',
                code='not_uniform',
            )
        if self.position.ndim != 2:
            raise DataError(f'position must be (N, n), got shape {self.position.shape}')
        if self.torque is None:
            object.__setattr__(self, 'torque', np.empty((N, 0)))
        for name, values in self.channels().items():
            if name == 'torque' and values.shape == (N, 0):
                continue
            if values.shape != self.position.shape or values.shape[0] != N:
                raise DataError(
                    f'{name} has shape {values.shape}, time has {N} samples and position '
                    f'{self.position.shape}: all must have equal lengths'
                )

    @classmethod
    def of(cls, time: Array, channels: Mapping[str, Array]) -> Run:
        """Return the run of channels by field name, as `channels` gives them."""
        given: dict[str, Any] = dict(channels)
        return cls(time, **given)

    @cached_property
    def kept(self) -> Kept:
        """Cache of values computed from this run, such as its motion at a cut-off."""
        return Kept()

    @property
    def has_torque(self) -> bool:
        """Whether torques were recorded."""
        return self.torque.shape[1] > 0

    def channels(self) -> dict[str, Array]:
        """Return what was recorded, (N, n) each, by field name, without the time."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: values
            for name, values in given.items()
            if isinstance(values, np.ndarray) and name != 'time'
        }

    def changed(self, time: Array, change: Callable[[str, Array], Array]) -> Run:
        """
        Return the run at other times.

        :param change: gives the new values of a channel from its name and its values.
        """
        new: dict[str, Any] = {
            name: change(name, values) for name, values in self.channels().items()
        }
        return replace(self, time=time, **new)

    def rows(self, first: int, last: int) -> Run:
        """Return samples first to last (exclusive) as a separate run."""
        return self.changed(self.time[first:last], lambda _, values: values[first:last])

    def __repr__(self) -> str:
        named = f'{self.name}: ' if self.name else ''
        return (
            f'Run({named}{len(self)} samples at {self.rate:.6g} Hz, {self.duration:.4g} s; '
            f'{", ".join(self.channels())})'
        )


@dataclass(frozen=True)
class Repair:
    """
    A repair made by a reader, for `robot-id check`.

    :param kind: code of the finding, such as 'wrap_around', 'stamps' or 'held_samples'.
    :param joint: name of the joint, None where it concerns all.
    :param count: how often.
    :param detail: figures for people.
    :param times: seconds on the clock of the recording where it was made, where that is known.
    """

    kind: str
    joint: str | None = None
    count: int = 1
    detail: str = ''
    times: tuple[float, ...] = ()


@dataclass(frozen=True, repr=False)
class Dataset:
    """
    Several runs of one robot, with what was done to the raw data.

    :param joint_names: names of the n joints, in the order of the columns.
    :param runs: the runs, never empty.
    :param source: where the data came from, for tables and reports.
    :param notes: one line for each thing that was done or found (resampled, gap, duplicate ...).
    :param repairs: repairs that a good recording would not need.
    :param units: channel -> unit that the mapping gives it, before it was turned into SI.
    :param named: False for columns without names: they are taken to be in the robot's order.
    """

    joint_names: tuple[str, ...]
    runs: tuple[Run, ...]
    source: str = ''
    notes: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    named: bool = True

    def __post_init__(self) -> None:
        if not self.runs:
            raise DataError(f'{self.source or "data set"}: no samples')
        for run in self.runs:
            if run.position.shape[1] != len(self.joint_names):
                raise DataError(
                    f'{self.source or "data set"}: {run.position.shape[1]} columns for '
                    f'{len(self.joint_names)} joints ({", ".join(self.joint_names)})'
                )

    @classmethod
    def from_arrays(
        cls,
        time: ArrayLike | None = None,
        *,
        position: ArrayLike,
        torque: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
        reference_position: ArrayLike | None = None,
        reference_velocity: ArrayLike | None = None,
        reference_acceleration: ArrayLike | None = None,
        control: ArrayLike | None = None,
        temperature: ArrayLike | None = None,
        gain: ArrayLike | None = None,
        supply: ArrayLike | None = None,
        enabled: ArrayLike | None = None,
        joint_names: Sequence[str] | None = None,
        rate_hz: float | None = None,
        source: str = 'arrays',
    ) -> Dataset:
        """
        Return recordings that are in memory: arrays or lists, samples as rows, joints as columns.

        They are cleaned as files are: what is done is in `notes`, a gap splits the run. Several
        recordings are a list of arrays in every argument.

        :param time: (N,) seconds, or dates (datetime64); None with rate_hz.
        :param position: (N, n) rad or m; (N,) for one joint.
        :param torque: (N, n) joint-side motor torques or forces, N.m or N; None where none were
            recorded (servo_oe).
        :param velocity: (N, n) measured velocities, or None; the other channels likewise, see Run.
        :param joint_names: of the columns; None takes them in the order of the robot's joints.
        :param rate_hz: sampling frequency where there is no time.
        :param source: name for messages.
        :raises DataError: with `key`, the argument that is wrong.
        """
        from robot_id.data.arrays import dataset_of_arrays

        channels = {
            'position': position,
            'torque': torque,
            'velocity': velocity,
            'reference_position': reference_position,
            'reference_velocity': reference_velocity,
            'reference_acceleration': reference_acceleration,
            'control': control,
            'temperature': temperature,
            'gain': gain,
            'supply': supply,
            'enabled': enabled,
        }
        return dataset_of_arrays(time, channels, joint_names, rate_hz, source)

    @classmethod
    def from_dataframe(
        cls,
        frame: pandas.DataFrame,
        *,
        joint_names: Sequence[str] | None = None,
        mapping: MappingLike | None = None,
        source: str = 'data frame',
    ) -> Dataset:
        """
        Return the recording of a pandas data frame.

        :param frame: columns `time` (or a time as index), `position.<joint>`, `torque.<joint>`,
            maybe `velocity.<joint>` and so on, as in a csv; others need a mapping.
        :param joint_names: joints wanted and their order; None takes all.
        :param mapping: which columns are what: a shipped name, a file, or its keys as a dict.
        :param source: name for messages.
        """
        from robot_id.data.arrays import dataset_of_frame

        return dataset_of_frame(frame, joint_names, mapping, source)

    def __repr__(self) -> str:
        seconds = sum(run.duration for run in self.runs)
        runs = f'{len(self.runs)} run' + ('s' if len(self.runs) > 1 else '')
        joints = ', '.join(self.joint_names) if self.named else f'{len(self.joint_names)} unnamed'
        return (
            f'Dataset({self.source or "data"}: {runs}, {len(self)} samples at {self.rate:.6g} Hz, '
            f'{seconds:.4g} s; joints {joints}; {len(self.notes)} notes)'
        )

    def __len__(self) -> int:
        return sum(len(run) for run in self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    @cached_property
    def kept(self) -> Kept:
        """Cache of values computed from these runs, such as the same at a lower rate."""
        return Kept()

    @property
    def has_torque(self) -> bool:
        """Whether every run has torques."""
        return all(run.has_torque for run in self.runs)

    @property
    def rate(self) -> float:
        """Sampling frequency in Hz; all runs of a data set share it."""
        return self.runs[0].rate

    def select(self, joint_names: tuple[str, ...]) -> Dataset:
        """
        Return the same data with the columns in the order of joint_names (matched by name).

        Columns without names are taken to be in this order.
        """
        if not self.named:
            if len(joint_names) != len(self.joint_names):
                raise DataError(
                    f'{self.source or "data set"}: {len(self.joint_names)} columns without names '
                    f'for {len(joint_names)} joints ({", ".join(joint_names)}): give joint_names',
                    key='joint_names',
                    value=len(self.joint_names),
                    bound=len(joint_names),
                )
            return replace(self, joint_names=tuple(joint_names), named=True)
        missing = [name for name in joint_names if name not in self.joint_names]
        if missing:
            other_names = set(self.joint_names) - set(joint_names)
            raise DataError(
                f"{self.source or 'data set'}: no joint '{missing[0]}', it has "
                f'{", ".join(self.joint_names)}: {RENAME if other_names else LOCK}',
                joint=missing[0],
            )
        if joint_names == self.joint_names:
            return self
        index = [self.joint_names.index(name) for name in joint_names]

        def pick(_: str, values: Array) -> Array:
            return values[:, index] if values.shape[1] else values

        runs = tuple(run.changed(run.time, pick) for run in self.runs)
        return replace(self, joint_names=joint_names, runs=runs)
