"""
The mapping file: the meaning and unit of each column, variable or topic of a user's data.

Column and row numbers count from 1, and ranges include both ends, as people read them in a
spreadsheet: `rows: [636, 3510]` takes the 636th to the 3510th data row (a header is not counted).
"""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from robot_id.data import units
from robot_id.data.border import HIGHEST_HZ, LARGEST, SMALLEST_SCALE
from robot_id.data.percent_of_range import PERCENT_OF_RANGE, with_scale_and_offset
from robot_id.data.signals.processing import LONGEST_DELAY_S
from robot_id.exceptions import DataError, did_you_mean, shorten
from robot_id.texts import problem_of
from robot_id.yaml_text import YamlError, read_yaml

CHANNELS = tuple(units.OF_CHANNEL)
# What a robot may add to a torque command by itself.
Compensated = Literal['gravity', 'friction']
# As a `scale`: the drive gains of the robot file.
DRIVE_GAIN = 'drive_gain'
# Keys of a torque that is computed by a PD law.
PD_KEYS = ('kp', 'kd', 'limit', 'reference_delay')
# Where the shipped mappings are: beside the sources, or where the package was installed.
_SHIPPED = 'config/mappings'
# An upper bound for joints times columns of one joint.
MOST_COLUMNS = 1000


def _column_list(value: Any) -> Any:
    """Accept `3`, `name`, `2-7` or a list of these."""
    columns: list[Any] = []
    for item in value if isinstance(value, list) else [value]:
        span = re.fullmatch(r'(\d{1,9})\s*-\s*(\d{1,9})', item) if isinstance(item, str) else None
        if span and int(span[2]) - int(span[1]) >= MOST_COLUMNS:
            raise ValueError(f"'{item}' names more than {MOST_COLUMNS} columns")
        if span and int(span[2]) < int(span[1]):
            raise ValueError(f"'{item}' counts backwards; name the columns one by one")
        columns += range(int(span[1]), int(span[2]) + 1) if span else [item]
    if len(columns) > MOST_COLUMNS:
        raise ValueError(f'more than {MOST_COLUMNS} columns')
    return columns


def _row_ranges(value: Any) -> Any:
    """Accept one pair, a list of pairs, or these per file name."""
    if isinstance(value, dict):
        return {name: _row_ranges(ranges) for name, ranges in value.items()}
    if isinstance(value, list) and value and not isinstance(value[0], list):
        return [value]
    return value


def _different(value: list[str] | dict[str, str]) -> list[str] | dict[str, str]:
    """Refuse a joint that is named twice."""
    names = list(value.values()) if isinstance(value, dict) else value
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"joint '{name}' is named twice")
    return value


def _square(value: list[list[float]]) -> list[list[float]]:
    """Refuse a matrix with unequal rows."""
    for number, row in enumerate(value, start=1):
        if len(row) != len(value):
            raise ValueError(f'row {number} has {len(row)} values, there are {len(value)} rows')
    return value


def _inside(value: str) -> str:
    """Refuse a path that leaves the folder of the data."""
    path = os.path.normpath(value)
    if os.path.isabs(path) or path.split(os.sep)[0] == os.pardir or '\0' in path:
        raise ValueError('must be a file within the folder of the data')
    return value


# A path relative to the folder of the data, which it does not leave.
File = Annotated[str, Field(min_length=1), AfterValidator(_inside)]
Columns = Annotated[list[int | str], BeforeValidator(_column_list)]
JointNames = Annotated[list[str] | dict[str, str], AfterValidator(_different)]
RowRange = Annotated[list[int], Field(min_length=2, max_length=2)]
RowRanges = Annotated[list[RowRange] | dict[str, list[RowRange]], BeforeValidator(_row_ranges)]
Seconds = Annotated[
    list[Annotated[float, Field(ge=0, le=LARGEST)]], Field(min_length=2, max_length=2)
]
TimeRanges = Annotated[list[Seconds] | dict[str, list[Seconds]], BeforeValidator(_row_ranges)]
# A factor or offset that is finite, and no power of ten that no unit makes.
Factor = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
# Of a torque, s.
Delay = Annotated[float, Field(ge=-LONGEST_DELAY_S, le=LONGEST_DELAY_S, allow_inf_nan=False)]
Law = Literal['pd', 'duty', 'voltage']
Value = Factor | list[Factor] | dict[str, Factor | list[Factor]]
Matrix = Annotated[list[list[Factor]], AfterValidator(_square)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra='forbid', frozen=True, populate_by_name=True)


class TimeColumn(_Strict):
    """
    The time of the samples.

    :param column: number (from 1) or header name in a csv.
    :param variable: name in a .mat or .npz; parts of a struct as `a.b`.
    :param unit: s (default), ms, us, ns or min.
    :param file: as for the channels.
    """

    column: int | str | None = None
    variable: str | None = None
    unit: str = 's'
    file: File | None = None


class Channel(_Strict):
    """
    One measured quantity of all joints, in the order of the joints.

    joint value = matrix * (scale * unit * raw) + offset for torques, and for positions and their
    derivatives joint value = matrix^-1 * (scale * unit * raw) + offset (offset of positions only).

    :param columns: numbers (from 1), header names, or a range `2-7`; of `variable` when given.
        `{joint}` in a name stands for the recorded name of each joint.
    :param variable: name(s) in a .mat or .npz, `{joint}` as above.
    :param multiplied_by: columns (variables of a .mat, .npz or .json) whose values multiply these
        sample by sample, one for all joints or one each: a duty cycle times the supply voltage.
    :param transposed: the variable has a row for each joint (n, N); known by its shape when None.
    :param file: file within the DATA directory, or beside DATA; DATA itself when left out.
        `{joint}` as above, where each joint has a file of its own.
    :param unit: of the raw values, see robot_id/data/units.py; SI when left out.
    :param scale: factor, or one per joint, or the name of a variable of the file: drive gains,
        gear ratios, signs. `drive_gain` for a torque takes those of the robot file, joint torque
        over control signal.
    :param motor_matrix: (n, n) motor side from joint side: motor positions = matrix * joint
        positions; joint torques = matrix * motor torques.
    :param delay: seconds by which a torque was recorded late, taken away.
    :param compensated: of `control`: torques that the robot adds to a command by itself.
    :param value: instead of a column: a constant, one per joint, or these by file name (patterns
        such as `kp100_*`): a gain that is not recorded.
    :param law: of `torque`, key `from`: pd computes kp (reference - position) - kd velocity with
        the gains kp (N.m/rad), kd (N.m.s/rad) and the `limit` (N.m), `delay` seconds later, of a
        reference that arrived `reference_delay` seconds late;
        voltage and duty take a recorded voltage or duty cycle for the torque, whose factor kt / R
        is not known.
    :param kp: of the law pd, one value or one per joint; kd and limit likewise.
    :param reference_delay: of the law pd in a drive, which measures its own position: seconds.
    :param offset: added to joint positions at the end, rad or m, one value or one per joint.
    :param range: of the unit percent_of_range: rad or m at both ends of the calibrated range, a
        pair per joint; it becomes the scale and the offset.
    :param raw_range: raw values at these ends, a pair or one per joint; -100 and 100 if left out.
    """

    columns: Columns | None = None
    variable: str | list[str] | None = None
    multiplied_by: Columns | None = None
    transposed: bool | None = None
    file: File | None = None
    unit: str | None = None
    scale: Factor | list[Factor] | str | None = None
    motor_matrix: Matrix | None = None
    offset: Factor | list[Factor] | None = None
    delay: Delay = 0.0
    compensated: tuple[Compensated, ...] = ()
    value: Value | None = None
    law: Law | None = Field(default=None, alias='from')
    kp: Factor | list[Factor] | None = None
    kd: Factor | list[Factor] | None = None
    limit: Factor | list[Factor] | None = None
    reference_delay: Annotated[Factor, Field(ge=0.0)] = 0.0
    range: list[list[Factor]] | None = None
    raw_range: list[list[Factor]] | None = None

    @model_validator(mode='before')
    @classmethod
    def _percent_of_range(cls, value: Any) -> Any:
        return with_scale_and_offset(value) if isinstance(value, dict) else value

    @field_validator('scale', mode='before')
    @classmethod
    def _sizeable(cls, value: Any) -> Any:
        """Refuse a factor that no value can be multiplied with or divided by; 0 is none."""
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, int | float) and not (
                each == 0 or SMALLEST_SCALE <= abs(each) <= LARGEST
            ):
                raise ValueError(f'must be {SMALLEST_SCALE:g} to {LARGEST:g} in size, or 0')
        return value

    def sources(self) -> list[tuple[str | None, str, int | str]]:
        """Return file, variable and column of what is read."""
        names = self.variable if isinstance(self.variable, list) else [self.variable or '']
        if self.columns is None:
            return [(self.file, '', name) for name in names if name]
        return [(self.file, names[0], column) for column in self.columns]


class Topics(_Strict):
    """
    Topics of a bag, matched with and without a leading namespace.

    :param joint_states: sensor_msgs/JointState, effort = motor torque on the joint side.
    :param reference: trajectory_msgs/JointTrajectory with one point a message, or the state of a
        joint_trajectory_controller; optional.
    :param effort_commands: std_msgs/Float64MultiArray in the order of the joints; optional.
    """

    joint_states: str = 'joint_states'
    reference: str | None = 'reference'
    effort_commands: str | None = 'effort_commands'


class Mapping(_Strict):
    """
    A mapping file.

    :param description: one line for people.
    :param joints: joint names in the order of the columns, those of the robot when left out; or
        recorded name -> joint of the robot.
    :param rate_hz: sampling rate when there is no time column; with one, the rate to resample to.
    :param rows: first and last data row of each run; per file name when several files share a
        mapping (files that are not named are taken whole). In a bag: the joint states.
    :param seconds: instead of rows, from and to, counted from the first sample.
    :param time: the time column, None for a constant rate.
    :param topics: for bags.
    """

    description: str = ''
    joints: JointNames | None = None
    rate_hz: Annotated[float, Field(gt=0, ge=1e-3, le=HIGHEST_HZ)] | None = None
    rows: RowRanges | None = None
    seconds: TimeRanges | None = None
    time: TimeColumn | None = None
    position: Channel | None = None
    torque: Channel | None = None
    velocity: Channel | None = None
    reference_position: Channel | None = None
    reference_velocity: Channel | None = None
    reference_acceleration: Channel | None = None
    control: Channel | None = None
    temperature: Channel | None = None
    gain: Channel | None = None
    supply: Channel | None = None
    enabled: Channel | None = None
    topics: Topics | None = None

    @model_validator(mode='after')
    def _complete(self) -> Mapping:
        if self.topics is None:
            if self.position is None:
                raise ValueError("no key 'position': say where the position is, or give 'topics'")
            if self.time is None and self.rate_hz is None:
                raise ValueError("neither 'time' nor 'rate_hz': give one of them")
        if self.rows is not None and self.seconds is not None:
            raise ValueError("both 'rows' and 'seconds': give one of them")
        for name, channel in self.channels().items():
            known = units.OF_CHANNEL[name]
            if channel.unit is not None and channel.unit not in known:
                more = (PERCENT_OF_RANGE,) if known is units.POSITION else ()
                hint = did_you_mean(channel.unit, (*known, *more))
                raise ValueError(f"{name}: no unit '{channel.unit}', {hint}")
            if channel.law is not None and name != 'torque':
                raise ValueError(f"{name}: 'from' is for 'torque' only")
            if channel.law == 'pd' and (channel.kp is None or self.reference_position is None):
                raise ValueError(
                    "torque: 'from: pd' needs 'kp' (N.m/rad) and the key 'reference_position'"
                )
            for key in PD_KEYS if channel.law != 'pd' else ():
                if getattr(channel, key):
                    raise ValueError(f"{name}: '{key}' belongs to 'from: pd'")
            if (
                name == 'torque'
                and channel.unit in units.SIGNAL
                and channel.scale is None
                and channel.law is None
            ):
                raise ValueError(
                    f"torque in '{channel.unit}' needs the drive gain as 'scale': a number, a "
                    f"variable of the file, or '{DRIVE_GAIN}' for that of the robot file"
                )
            if channel.scale == DRIVE_GAIN and (name != 'torque' or channel.motor_matrix):
                raise ValueError(
                    f"{name}: scale '{DRIVE_GAIN}' turns control signals into joint torques, so "
                    "it is for 'torque' only and without 'motor_matrix'"
                )
            if channel.delay and name not in ('torque', 'control'):
                raise ValueError(f"{name}: 'delay' is for torques only")
            if channel.compensated and name != 'control':
                raise ValueError(f"{name}: 'compensated' is for 'control' only, what is sent")
            if channel.offset is not None and name not in ('position', 'reference_position'):
                raise ValueError(f"{name}: 'offset' is for positions only")
        return self

    @model_validator(mode='after')
    def _one_meaning_each(self) -> Mapping:
        """Refuse a column of positions or torques that has two meanings."""
        taken: dict[tuple[str | None, str, int | str], str] = {}
        for name in ('position', 'torque'):
            channel = getattr(self, name)
            for source in () if channel is None else channel.sources():
                if (other := taken.get(source)) is not None:
                    both = f'two joints of {name}' if other == name else f'{other} and {name}'
                    raise ValueError(f"{name}: '{source[-1]}' stands for {both}")
                taken[source] = name
        return self

    def channels(self) -> dict[str, Channel]:
        """Return the channels that are given."""
        found = {name: getattr(self, name) for name in CHANNELS}
        return {name: channel for name, channel in found.items() if channel is not None}

    def units(self) -> dict[str, str]:
        """Return the units that are given, by channel."""
        return {name: each.unit for name, each in self.channels().items() if each.unit}

    def rows_of(self, file: str) -> list[list[int]] | None:
        """Return the row ranges that apply to a file."""
        return self.rows.get(file) if isinstance(self.rows, dict) else self.rows

    def seconds_of(self, file: str) -> list[list[float]] | None:
        """Return the time ranges that apply to a file."""
        return self.seconds.get(file) if isinstance(self.seconds, dict) else self.seconds

    def recorded_joints(self) -> tuple[str, ...] | None:
        """Return the joints as the recording calls them."""
        return tuple(self.joints) if self.joints else None

    def called_joints(self) -> tuple[str, ...] | None:
        """Return the joints as the robot calls them."""
        if isinstance(self.joints, dict):
            return tuple(self.joints.values())
        return self.recorded_joints()


def shipped_mappings() -> dict[str, Path]:
    """Return the shipped mappings, by name."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / _SHIPPED, package / _SHIPPED, *_installed_shares()):
        if os.path.isdir(folder):
            return {path.stem: path for path in sorted(folder.glob('*.yaml'))}
    return {}


def _installed_shares() -> list[Path]:
    """Return where a ROS or pip installation of the package puts its configuration."""
    package = Path(__file__).resolve()
    roots = [*package.parents, Path(sysconfig.get_paths()['data'])]
    return [root / 'share' / 'robot_id' / _SHIPPED for root in roots]


# A mapping as functions take it: a shipped name, a YAML file, its content, or the mapping.
MappingLike: TypeAlias = str | Path | dict[str, Any] | Mapping


def load_mapping(name: MappingLike) -> Mapping:
    """
    Return the mapping of a shipped name, of a file or of its keys; refuse what is wrong.

    :param name: for example 'emps_benchmark', the path of a YAML file, or its content as a dict.
    """
    if isinstance(name, Mapping):
        return name
    if isinstance(name, dict):
        return _of_content(name, '')
    if not isinstance(name, str | Path):
        raise DataError(
            'mapping: a shipped name, a file or its keys as a dict are needed, got '
            f'{type(name).__name__}',
            key='mapping',
        )
    path = Path(name)
    if not os.path.isfile(path):
        shipped = shipped_mappings()
        if str(name) not in shipped:
            raise DataError(
                f"mapping '{name}': neither a file nor a shipped mapping; "
                f'{did_you_mean(str(name), shipped)}',
                code='no_mapping',
            )
        path = shipped[str(name)]
    try:
        content = read_yaml(path)
    except (OSError, YamlError) as error:
        raise DataError(f'mapping {path}: {error}', code='not_yaml') from error
    if not isinstance(content, dict):
        raise DataError(f'mapping {path}: not a table of keys and values', code='not_a_table')
    return _of_content(content, f' {path}')


def _of_content(content: dict[str, Any], place: str) -> Mapping:
    """Return the mapping with these keys."""
    try:
        return Mapping.model_validate(content)
    except ValidationError as error:
        raise DataError(f'mapping{place}: {_explain(error)}', key='mapping') from error


def _explain(error: ValidationError) -> str:
    """Return the first problem of a mapping in one line, with its key."""
    first = error.errors()[0]
    place = [str(part) for part in first['loc']]
    if first['type'] == 'extra_forbidden':
        known = list(Mapping.model_fields)
        if len(place) > 1:
            owners = {'time': TimeColumn.model_fields, 'topics': Topics.model_fields}
            known = list(owners.get(place[0], Channel.model_fields))
        return f"unknown key '{'.'.join(place)}', {did_you_mean(place[-1], known)}"
    key, message = problem_of(first)
    value = first.get('input')
    shown = f', got {shorten(repr(value))}' if isinstance(value, str | int | float) else ''
    return f'{key}: {message}{shown}' if key else message
