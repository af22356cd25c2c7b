"""The layouts for Foxglove, PlotJuggler and RViz show what the nodes really publish."""

from __future__ import annotations

import contextlib
import importlib
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
LAYOUTS = ROOT / 'config/layouts'
PLOTJUGGLER = sorted(LAYOUTS.glob('plotjuggler_*.xml'))
# A row of an interface table in doc/nodes: pub or sub, one or more names, the type.
ROW = re.compile(r'^\|\s*(?:pub|sub)\s*\|?\s*(`[^|]+`)\s*\|\s*(\w+/\w+)\s*\|', re.M)


def documented_topics():
    """Return topic -> type of every topic on the pages of the nodes."""
    found = {}
    for page in sorted((ROOT / 'doc/nodes').glob('*.md')):
        for names, kind in ROW.findall(page.read_text()):
            for name in re.findall('`([^`]+)`', names):
                found['/' + name.replace('~', page.stem).lstrip('/')] = kind
    return found


TOPICS = documented_topics()


def message_class(kind: str) -> Any:
    """Return the class of `package/Type`."""
    package, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), name)


def check_field(kind: str, path: list[str]) -> str:
    """Return the type at `['points[0]', 'positions[3]']`; fail where there is no such field."""
    match = re.fullmatch(r'(\w+)(\[\d+\])?', path[0])
    assert match, path
    fields = message_class(kind).get_fields_and_field_types()
    assert match[1] in fields, f'{kind} has no field {match[1]}'
    found = fields[match[1]]
    element = re.sub(r'^sequence<([^,>]+).*>$', r'\1', found)
    assert bool(match[2]) == (element != found), f'{kind}.{match[1]} is {found}, not {path[0]}'
    return check_field(element, path[1:]) if path[1:] else element


def foxglove_layout():
    return json.loads((LAYOUTS / 'foxglove.json').read_text())


def curves(path):
    return [curve.get('name') for curve in ElementTree.parse(path).iter('curve')]


def panels(node):
    """Yield the panels of a Foxglove layout tree."""
    if isinstance(node, str):
        yield node
    else:
        for side in ('first', 'second'):
            yield from panels(node[side])


def test_foxglove_paths_exist():
    count = 0
    for name, panel in foxglove_layout()['configById'].items():
        for series in panel.get('paths', []):
            topic, *path = series['value'].split('.')
            assert check_field(TOPICS[topic], path) in ('double', 'uint8'), (name, series)
            count += 1
        for key in ('topicPath', 'topicToRender'):
            if key in panel:
                assert panel[key] in TOPICS, (name, panel[key])
                count += 1
    assert count > 50


def test_foxglove_shows_every_panel_once():
    layout = foxglove_layout()
    tabs = layout['configById'][layout['layout']]['tabs']
    shown = [panel for tab in tabs for panel in panels(tab['layout'])]
    assert sorted([*shown, layout['layout']]) == sorted(layout['configById'])


@pytest.mark.parametrize('path', PLOTJUGGLER, ids=lambda path: path.stem)
def test_plotjuggler_curves_exist(path):
    from robot_id.robot import load_robot

    robot = load_robot(path.stem.removeprefix('plotjuggler_'))
    tree = ElementTree.parse(path)
    for splitter in tree.iter('DockSplitter'):
        sizes = [float(size) for size in splitter.get('sizes').split(';')]
        assert len(splitter) == len(sizes) == int(splitter.get('count'))
        assert sum(sizes) == pytest.approx(1.0, abs=1e-5)
    selected = tree.find('.//selected_topics').get('value').split(';')
    for name in curves(path):
        (topic,) = (t for t in selected if name.startswith(f'{t}/'))
        kind, parts = TOPICS[topic], name.removeprefix(f'{topic}/').split('/')
        if kind == 'sensor_msgs/JointState':  # PlotJuggler names these by the joint
            assert parts[0] in robot.joint_names
            assert check_field(kind, [f'{parts[1]}[0]']) == 'double'
        elif kind == 'diagnostic_msgs/DiagnosticArray':  # by hardware, name and key
            assert parts[0] == robot.name
        else:
            assert check_field(kind, parts) in ('double', 'uint8')


def flat(topic, kind, message):
    """Return the names of the numeric series that PlotJuggler makes of a message."""
    if kind == 'sensor_msgs/JointState':
        keys = ('position', 'velocity', 'effort')
        return {f'{topic}/{joint}/{key}' for joint in message.name for key in keys}
    if kind == 'diagnostic_msgs/DiagnosticArray':
        names = set()
        for status in message.status:
            prefix = '/'.join(filter(None, [topic, status.hardware_id, status.name]))
            names |= {f'{prefix}/level', *(f'{prefix}/{pair.key}' for pair in status.values)}
        return names
    return set(_leaves(topic, message))


def _leaves(prefix, value):
    if hasattr(value, 'get_fields_and_field_types'):
        for name in value.get_fields_and_field_types():
            yield from _leaves(f'{prefix}/{name}', getattr(value, name))
    elif isinstance(value, (str, bytes, int, float)):
        yield prefix
    else:
        for index, element in enumerate(value):
            yield from _leaves(f'{prefix}[{index}]', element)


def test_running_nodes_publish_every_curve():
    from running.client import Client
    from running.robot_graph import START_S, node

    # A priori values have no deviations: those of the controller come with what it learns.
    learned = '/ctc_controller/dynamic_parameters/percent_standard_deviations'
    names = curves(LAYOUTS / 'plotjuggler_emps.xml')
    wanted = {name for name in names if not name.startswith(learned)}
    common = {'robot': 'emps', 'rate_hz': 200.0}
    with contextlib.ExitStack() as stack:
        for name in ('online_identifier', 'ctc_controller', 'trajectory_generator'):
            stack.enter_context(node(name, **common, **_start(name)))
        client = stack.enter_context(Client())
        seen: set[str] = set()
        for topic in {'/' + name.split('/')[1] for name in wanted}:
            for full in (t for t in TOPICS if t == topic or t.startswith(f'{topic}/')):
                _watch(client, full, seen)
        stack.enter_context(node('ddm_simulator', mode='plant', autostart=True, **common))
        with contextlib.suppress(AssertionError):
            client.spin_until(lambda: wanted <= seen, START_S)
        assert not wanted - seen


def _start(name):
    return (
        {'publish_period_s': 0.2}
        if name == 'online_identifier'
        else {'autostart': True, 'start_motion': True}
    )


def _watch(client, topic, seen):
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    from robot_id.ros.qos import LATCHED

    kind = TOPICS[topic]
    best_effort = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    qos = LATCHED if kind.startswith('robot_id_msgs/') else best_effort
    client.node.create_subscription(
        message_class(kind), topic, lambda message: seen.update(flat(topic, kind, message)), qos
    )


def test_rviz_config_is_of_any_namespace():
    config = yaml.safe_load((LAYOUTS / 'robot.rviz').read_text())
    displays = config['Visualization Manager']['Displays']
    (model,) = (d for d in displays if d['Class'] == 'rviz_default_plugins/RobotModel')
    assert not model['Description Topic']['Value'].startswith('/')
    assert model['Description Topic']['Durability Policy'] == 'Transient Local'


def test_layouts_are_installed():
    from ament_index_python.packages import get_package_share_directory

    share = Path(get_package_share_directory('robot_id')) / 'config/layouts'
    assert {path.name for path in share.iterdir()} == {path.name for path in LAYOUTS.iterdir()}
