"""Joint states, reference and effort commands of a rosbag2 recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_id.data.cleaning.cleaning import Raw
from robot_id.data.cleaning.resampling import interpolate
from robot_id.data.io.bags import collector
from robot_id.data.io.bags.collector import Collector, Key
from robot_id.data.io.bags.messages import BagMessages
from robot_id.data.io.bags.types import CONTROLLER_STATE, JOINT_STATE, MULTI_ARRAY, TRAJECTORY
from robot_id.data.mapping import Topics
from robot_id.exceptions import DataError

Array = NDArray[np.float64]

# Where a joint_trajectory_controller tells its state: now, and in its older versions.
STATE_TOPICS = 'controller_state', 'state'
# Stamps after this are since 1970, not since the start of a simulation.
_EPOCH_NS = 10**17


def read_bag(
    path: Path,
    topics: Topics,
    joint_names: tuple[str, ...] | None,
    called: tuple[str, ...] | None = None,
) -> tuple[Raw, list[str]]:
    """
    Return the samples of a recording and notes.

    The time is the header stamp of the joint states (the receive time where the stamps are zero),
    counted from the first one when it is a date. The reference is taken at the same stamps; an
    effort command is what was received last before the next joint state.

    :param joint_names: joints wanted, matched by name; all of the most frequent message if None.
    :param called: what the robot calls them: a reference may have these names.
    """
    bag = BagMessages(path)
    states_topic = find_topic(bag, topics.joint_states, JOINT_STATE)
    if states_topic is None:
        listed = ', '.join(f'{name} ({kind})' for name, kind in sorted(bag.topics.items()))
        raise DataError(
            f"{path}: no topic '{topics.joint_states}' of type {JOINT_STATE}; "
            f'it has {listed or "no topics"}',
            code='no_topic',
        )
    collectors = {
        states_topic: collector.joint_states(states_topic, bag.counts.get(states_topic, 0))
    }
    if topics.reference:
        collectors |= _reference_collectors(bag, topics.reference)
    if topics.effort_commands:
        topic = find_topic(bag, topics.effort_commands, MULTI_ARRAY)
        if topic is not None:
            collectors[topic] = collector.multi_arrays(topic, bag.counts.get(topic, 0))
    for topic, received, data in bag.messages(set(collectors)):
        collectors[topic].add(received, data)
    notes = bag.notes
    for each in collectors.values():
        each.flush()
        if each.unreadable:
            notes.append(
                f'{path} {each.topic}: {each.unreadable} message(s) cannot be read and are left '
                f'out ({each.reason})'
            )
    source = f'{path} {states_topic}'
    states = _States(collectors.pop(states_topic), source, joint_names, notes)
    channels = states.channels
    for topic, found in collectors.items():
        if not found.groups:
            continue
        where = f'{path} {topic}'
        if bag.topics[topic] == MULTI_ARRAY:
            channels.update(_commands(found, states, where, notes, joint_names))
        elif 'reference_position' not in channels:
            channels.update(_reference(found, states, where, notes, called))
    start = int(states.stamps[0])
    origin = start if start > _EPOCH_NS else 0
    return Raw(source, (states.stamps - origin) * 1e-9, channels, states.names), notes


def _reference_collectors(bag: BagMessages, name: str) -> dict[str, Collector]:
    """
    Return what may hold the reference, in order, up to the first topic that has messages.

    A joint_trajectory_controller tells its reference in its state; a data_logger lists a topic
    that nobody published.
    """
    found: dict[str, Collector] = {}
    for wanted, kind in (
        (name, TRAJECTORY),
        *((state, CONTROLLER_STATE) for state in (name, *STATE_TOPICS)),
    ):
        topic = find_topic(bag, wanted, kind)
        if topic is None:
            continue
        count = bag.counts.get(topic, 0)
        make = collector.trajectories if kind == TRAJECTORY else collector.FirstPoints
        found[topic] = make(topic, count)
        if count:
            break
    return found


class _States:
    """The joint states in order of arrival, with the columns in the order wanted."""

    def __init__(
        self,
        found: Collector,
        source: str,
        joint_names: tuple[str, ...] | None,
        notes: list[str],
    ) -> None:
        if not found.groups:
            why = f' can be read ({found.reason})' if found.unreadable else ''
            raise DataError(f'{source}: no messages{why}', code='no_messages')
        sizes = {key: len(group) for key, group in found.groups.items()}
        self.names = joint_names or max(sizes, key=lambda key: sizes[key])[0]
        keys = [key for key in sizes if set(self.names) <= set(key[0])]
        if not keys:
            present = sorted({name for key in sizes for name in key[0]})
            missing = [name for name in self.names if name not in present]
            if missing:
                raise DataError(
                    f"{source}: no joint '{missing[0]}', it has {', '.join(present)}; a mapping "
                    f"renames them: 'joints: {{RECORDED_NAME: {missing[0]}}}'",
                    joint=missing[0],
                )
            raise DataError(
                f'{source}: no message has all joints, they come in several; record a topic of '
                "all of them, as joint_state_publisher makes one of its 'source_list'",
                code='joints_apart',
            )
        ignored = found.count - found.unreadable - sum(sizes[key] for key in keys)
        if ignored:
            notes.append(f'{source}: {ignored} message(s) of other joints ignored')
        for key in keys:
            self._check(key, source)
        parts = [(key[0], *found.groups[key].take()) for key in keys]
        order = np.argsort(np.concatenate([part[1] for part in parts]), kind='stable')
        in_order = np.array_equal(order, np.arange(order.size))

        def joined(pieces: list[Array]) -> Array:
            whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
            return whole if in_order else whole[order]

        self.stamps = joined([part[2] for part in parts])
        self.received = joined([part[3] for part in parts])
        if not self.stamps.any():
            notes.append(f'{source}: header stamps are zero, receive times are used')
            self.stamps = self.received
        self.channels: dict[str, Array] = {}
        for number, name in ((0, 'position'), (2, 'torque'), (1, 'velocity')):
            if all(key[1][number] for key in keys):
                self.channels[name] = joined(
                    [_columns(part[4][number], part[0], self.names) for part in parts]
                )
        velocity = self.channels.get('velocity')
        if velocity is not None and not np.isfinite(velocity).any():
            del self.channels['velocity']
            notes.append(f'{source}: velocities are all NaN and left out')

    def _check(self, key: Key, source: str) -> None:
        names, counts = key
        if len(set(names)) != len(names):
            raise DataError(f'{source}: a joint is named twice in {", ".join(names)}')
        for what, count in zip(('position', 'velocity', 'effort'), counts):
            if count == 0 and what == 'position':
                raise DataError(f"{source}: '{what}' is empty, a value for each joint is needed")
            if count not in (0, len(names)):
                raise DataError(f"{source}: '{what}' has {count} values for {len(names)} joints")


def _columns(values: Array, names: tuple[str, ...], wanted: tuple[str, ...]) -> Array:
    return values if names == wanted else values[:, [names.index(name) for name in wanted]]


def _reference(
    found: Collector,
    states: _States,
    where: str,
    notes: list[str],
    called: tuple[str, ...] | None,
) -> dict[str, Array]:
    """Return the reference at the stamps of the joint states."""
    n, wanted_names = len(states.names), states.names
    keys = [key for key in found.groups if set(wanted_names) <= set(key[0])]
    if not keys and called is not None:
        wanted_names = called
        keys = [key for key in found.groups if set(wanted_names) <= set(key[0])]
    if not keys:
        notes.append(f'{where}: no message with all joints, the reference is left out')
        return {}
    key = max(keys, key=lambda key: len(found.groups[key]))
    _, stamps, received, arrays = found.groups[key].take()
    ours = states.stamps
    if not stamps.any():
        notes.append(f'{where}: header stamps are zero, receive times are used')
        stamps, ours = received, states.received
    stamps, index = np.unique(stamps, return_index=True)
    names = ('reference_position', 'reference_velocity', 'reference_acceleration')
    channels = {
        name: _columns(values[index], key[0], wanted_names)
        for name, values in zip(names, arrays)
        if values.shape[1] >= n
    }
    if 'reference_position' not in channels:
        notes.append(f'{where}: no positions in the reference, it is left out')
        return {}
    if np.array_equal(stamps, ours):
        return channels
    at = np.searchsorted(stamps, ours, side='right') - 1
    exact = (at >= 0) & (stamps[np.maximum(at, 0)] == ours)
    outside = int(((ours < stamps[0]) | (ours > stamps[-1])).sum())
    if outside:
        notes.append(
            f'{where}: the first or last point is held for {outside} sample(s) before or after '
            'the reference'
        )
    if not exact.all() and stamps.size > 1:
        notes.append(
            f'{where}: interpolated at {int((~exact).sum()) - outside} of {ours.size} samples'
        )
    origin = stamps[0]
    time, wanted = (stamps - origin) * 1e-9, np.clip(ours, stamps[0], stamps[-1])
    if stamps.size == 1:
        return {name: np.repeat(values, ours.size, axis=0) for name, values in channels.items()}
    out = {}
    for name, values in channels.items():
        between = interpolate(time, values, (wanted - origin) * 1e-9, cubic=False)
        between[exact] = values[at[exact]]
        out[name] = between
    return out


def _commands(
    found: Collector,
    states: _States,
    where: str,
    notes: list[str],
    joint_names: tuple[str, ...] | None,
) -> dict[str, Array]:
    """Return for each joint state the last command received before the next one."""
    for (labels, counts), group in found.groups.items():
        names = labels if set(states.names) <= set(labels) else joint_names
        if names is None or counts != (len(names),) or len(found.groups) > 1:
            break
        _, _, received, (values,) = group.take()
        order = np.argsort(received, kind='stable')
        until = np.append(states.received[1:], np.iinfo(np.int64).max)
        last = np.searchsorted(received[order], until, side='left') - 1
        early = int((last < 0).sum())
        if early:
            notes.append(f'{where}: taken as zero before the first command, {early} sample(s)')
        control = _columns(values[order[np.maximum(last, 0)]], names, states.names)
        control[last < 0] = 0.0
        return {'control': control}
    if found.count:
        notes.append(
            f'{where}: ignored, the commands do not say which joints they are for '
            f'(groups of {sorted({key[1][0] for key in found.groups})} values)'
        )
    return {}


def find_topic(bag: BagMessages, name: str, kind: str) -> str | None:
    """Return the topic of a name and type: with or without a namespace, or the only one."""
    typed = [topic for topic, each in bag.topics.items() if each == kind]
    exact = [topic for topic in typed if topic.strip('/') == name.strip('/')]
    ending = [topic for topic in typed if topic.endswith('/' + name.strip('/'))]
    for candidates in (exact, ending):
        if len(candidates) == 1:
            return candidates[0]
        if len(candidates) > 1:
            raise DataError(
                f"{bag.path}: several topics '{name}' ({', '.join(sorted(candidates))}); "
                "name one under 'topics' in a mapping",
                code='several_topics',
            )
    if kind == JOINT_STATE and len(typed) == 1:
        bag.notes.append(f"{bag.path}: no topic '{name}', {typed[0]} is used")
        return typed[0]
    return None
