"""Recordings that are already in memory: arrays, lists and data frames become a Dataset."""

from __future__ import annotations

from collections.abc import Mapping as Channels
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_id.data.border import checked
from robot_id.data.cleaning.cleaning import clean
from robot_id.data.cleaning.resampling import at_one_rate
from robot_id.data.dataset import Dataset, Repair, Run
from robot_id.data.io.assembling import from_tables
from robot_id.data.io.automatic import mapping_of
from robot_id.data.io.raw import Raw
from robot_id.data.io.tables import Table
from robot_id.data.mapping import MappingLike, load_mapping
from robot_id.exceptions import DataError, OptionError

if TYPE_CHECKING:
    import pandas

Array = NDArray[np.float64]


def dataset_of_arrays(
    time: ArrayLike | None,
    channels: Channels[str, ArrayLike | None],
    joint_names: Sequence[str] | None,
    rate_hz: float | None,
    source: str,
) -> Dataset:
    """
    Return the Dataset of arrays; see `Dataset.from_arrays`.

    :param channels: by field name of Run, None where there is none.
    """
    given = {name: values for name, values in channels.items() if values is not None}
    parts = [(time, given)]
    if _several(given['position']):
        parts = _parts(time, given)
    notes: list[str] = []
    pieces = []
    for k, (own_time, own) in enumerate(parts):
        place = source if len(parts) == 1 else f'{source} {k + 1}'
        pieces.append(_raw(own_time, own, joint_names, rate_hz, place))
    widths = {len(piece.joint_names) for piece in pieces}
    if len(widths) > 1:
        raise DataError(f'{source}: the recordings have {sorted(widths)} joints', key='position')
    return cleaned(pieces, None, notes, source)


def cleaned(pieces: Sequence[Raw], rate: float | None, notes: list[str], source: str) -> Dataset:
    """
    Return the Dataset of raw samples: finite, in order, uniform, split at gaps.

    :param rate: rate to resample to [Hz], None for their own.
    :param notes: what was done so far.
    """
    runs: list[Run] = []
    repairs: list[Repair] = []
    for raw in pieces:
        found, done = clean(checked(raw, notes, rate), rate, repairs)
        runs += [replace(run, name=run.name or raw.source) for run in found]
        notes += done
    runs = at_one_rate(runs, source, notes)
    return Dataset(
        pieces[0].joint_names, tuple(runs), source, tuple(notes), tuple(repairs),
        named=pieces[0].named,
    )  # fmt: skip


def dataset_of_frame(
    frame: pandas.DataFrame,
    joint_names: Sequence[str] | None,
    mapping: MappingLike | None,
    source: str,
) -> Dataset:
    """Return the Dataset of a data frame; see `Dataset.from_dataframe`."""
    if not hasattr(frame, 'columns'):
        raise DataError(
            f'{source}: a pandas data frame is needed, got {type(frame).__name__}', key='frame'
        )
    dates = [name for name in frame.columns if frame[name].dtype.kind in _DATES]
    frame = frame.assign(**{name: _seconds(frame[name]) for name in dates})
    header = [str(name) for name in frame.columns]
    numeric = [header[k] for k, kind in enumerate(frame.dtypes) if kind.kind in 'fiub']
    try:
        values = frame.loc[:, [name in numeric for name in header]].to_numpy(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f'{source}: the columns are not numbers ({error})') from error
    header = numeric
    if 'time' not in header and 't' not in header:
        header, values = ['time', *header], np.column_stack([_index(frame, source), values])
    table = Table(Path(source), header, values)
    chosen = mapping_of(table) if mapping is None else load_mapping(mapping)
    names = None if joint_names is None else tuple(joint_names)
    pieces, notes = from_tables(Path(source), chosen, names, table)
    found = cleaned(pieces, chosen.rate_hz if chosen.time else None, notes, source)
    return found if names is None else found.select(names)


def join(sets: Sequence[Dataset]) -> Dataset:
    """Return several recordings of the same joints as one."""
    if not sets:
        raise DataError('no data given')
    first = sets[0]
    others = [each.select(first.joint_names) for each in sets[1:]]
    runs = [
        run if run.name else replace(run, name=each.source)
        for each in (first, *others)
        for run in each.runs
    ]
    source = ', '.join(each.source for each in sets)
    notes = [note for each in sets for note in each.notes]
    runs = at_one_rate(runs, source, notes)
    repairs = tuple(repair for each in sets for repair in each.repairs)
    return replace(
        first,
        runs=tuple(runs),
        source=source,
        notes=tuple(notes),
        repairs=repairs,
        named=any(each.named for each in sets),
    )


def _several(position: Any) -> bool:
    """Whether positions are a list of recordings: matrices, maybe of different lengths."""
    if not isinstance(position, (list, tuple)) or not position:
        return False
    first = position[0]
    if isinstance(first, np.ndarray):
        return first.ndim == 2
    return isinstance(first, (list, tuple)) and bool(first) and np.ndim(first[0]) == 1


def _parts(time: Any, given: Channels[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
    """Return time and channels of each recording."""
    count = len(given['position'])
    times = [None] * count if time is None else list(time)
    for name, values in (('time', times), *given.items()):
        if not isinstance(values, (list, tuple)) or len(values) != count:
            raise DataError(
                f'{name} must be a list of {count} recordings, as position is', key=name
            )
    return [(times[k], {name: own[k] for name, own in given.items()}) for k in range(count)]


def _raw(
    time: ArrayLike | None,
    channels: Channels[str, ArrayLike],
    joint_names: Sequence[str] | None,
    rate_hz: float | None,
    source: str,
) -> Raw:
    position = _matrix(channels['position'], 'position', None)
    N, n = position.shape
    if time is None:
        if rate_hz is None:
            raise OptionError('give time [s] or rate_hz', key='time')
        if not (np.isfinite(rate_hz) and rate_hz > 0.0):
            raise OptionError(
                f'rate_hz must be positive, got {rate_hz!r}', key='rate_hz', value=rate_hz
            )
        stamps = np.arange(N) / rate_hz
    else:
        stamps = _seconds(time)
        if stamps.shape == (N, 1):
            stamps = stamps[:, 0]
        if stamps.shape != (N,):
            raise DataError(
                f'time has shape {stamps.shape}, position {position.shape}: one time for each of '
                f'the {N} rows is needed' + (_TRANSPOSED if stamps.shape == (n,) else ''),
                key='time',
            )
    values = {
        name: position if name == 'position' else _matrix(own, name, position.shape)
        for name, own in channels.items()
    }
    names = tuple(f'joint_{j + 1}' for j in range(n))
    if joint_names is not None:
        names = tuple(str(name) for name in joint_names)
        if len(names) != n:
            raise DataError(
                f'position has {n} columns for {len(names)} joint names ({", ".join(names)})',
                key='joint_names',
                value=len(names),
                bound=n,
            )
        if len(set(names)) < n:
            raise DataError(f'joint_names: a name appears twice in {names}', key='joint_names')
    return Raw(source, stamps, values, names, named=joint_names is not None)


# Kinds of numpy and pandas for dates and for their differences.
_DATES = {'M': 'datetime64[ns]', 'm': 'timedelta64[ns]'}
_TRANSPOSED = '; samples are rows, joints are columns: transpose it'


def _matrix(values: ArrayLike, name: str, shape: tuple[int, int] | None) -> Array:
    """(N, n) of array or lists; (N,) is one joint."""
    found = _numbers(values, name)
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2 or 0 in found.shape:
        raise DataError(f'{name} has shape {found.shape}, (samples, joints) is needed', key=name)
    if shape is not None and found.shape != shape:
        turned = _TRANSPOSED if found.T.shape == shape else ''
        raise DataError(
            f'{name} has shape {found.shape}, position {shape}: both must be equal{turned}',
            key=name,
            value=found.shape,
            bound=shape,
        )
    return found


def _seconds(time: ArrayLike) -> Array:
    """Return stamps in seconds; dates and time differences count from the first one."""
    kind = getattr(getattr(time, 'dtype', None), 'kind', '')
    if kind in _DATES:
        given = np.asarray(time, _DATES[kind])
        found: Array = (given - given.reshape(-1)[:1]) / np.timedelta64(1, 's')
        return found
    return _numbers(time, 'time')


def _numbers(values: ArrayLike, name: str) -> Array:
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f'{name} is not an array of numbers, rows of equal length ({error})', key=name
        ) from error
    return found


def _index(frame: pandas.DataFrame, source: str) -> Array:
    """Return the index of a data frame as seconds."""
    index: Any = frame.index
    if index.dtype.kind in _DATES:
        return _seconds(index)
    if index.dtype.kind == 'f' or index.name in ('time', 't'):
        return np.asarray(index, float)
    raise DataError(f"{source}: no column 'time', and the index is not a time", key='time')
