"""
Write config/security/policy.xml: what each node of the running graph may do, and no more.

Usage: python tools/isolated.py python tools/security_policy.py
Starts the nodes, configures them and asks the graph for their topics and services.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from lifecycle_msgs.msg import Transition  # noqa: E402
from running.client import Client  # noqa: E402
from running.robot_graph import START_S, graph  # noqa: E402

POLICY = ROOT / 'config/security/policy.xml'
LIFECYCLE = 'ctc_controller', 'ddm_simulator'
OTHERS = 'trajectory_generator', 'data_logger', 'identification_server', 'online_identifier'
NODES = *LIFECYCLE, *OTHERS
# Heard for a while only: by the logger while it records, by the controller when it is activated.
AT_TIMES = {
    'data_logger': {'joint_states', 'reference', 'effort_commands'},
    'ctc_controller': {'effort_commands'},
}


def seen() -> dict[str, dict[tuple[str, str], set[str]]]:
    """Return of each node what it does: ('topics', 'publish') and the like, with names."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        settings = {name: {'robot': 'emps', 'use_sim_time': True} for name in NODES}
        settings['data_logger'] = {'data_directory': folder, 'use_sim_time': True}
        settings['identification_server']['data_directory'] = folder
        stack.enter_context(graph(*((name, '', settings[name]) for name in NODES)))
        client = stack.enter_context(Client('policy'))
        for name in LIFECYCLE:
            assert client.change_state(name, Transition.TRANSITION_CONFIGURE, START_S), name
        client.spin_for(2.0)
        node = client.node
        found = {
            name: {
                ('topics', 'publish'): _names(
                    node.get_publisher_names_and_types_by_node(name, '/')
                ),
                ('topics', 'subscribe'): _names(
                    node.get_subscriber_names_and_types_by_node(name, '/')
                ),
                ('services', 'reply'): _names(node.get_service_names_and_types_by_node(name, '/')),
                ('services', 'request'): _names(
                    node.get_client_names_and_types_by_node(name, '/')
                ),
            }
            for name in NODES
        }
    for name, topics in AT_TIMES.items():
        found[name]['topics', 'subscribe'] |= topics
    return {
        name: {rule: names for rule, names in rules.items() if names}
        for name, rules in found.items()
    }


def _names(pairs: list[tuple[str, list[str]]]) -> set[str]:
    return {name.lstrip('/') for name, _ in pairs}


def stated(path: Path = POLICY) -> dict[str, dict[tuple[str, str], set[str]]]:
    """Return the same from the policy file."""
    found: dict[str, dict[tuple[str, str], set[str]]] = {}
    for profile in ElementTree.parse(path).iter('profile'):
        rules = found.setdefault(profile.attrib['node'], {})
        for group in profile:
            (verb,) = group.attrib
            rules[group.tag, verb] = {str(each.text) for each in group}
    return found


def write(found: dict[str, dict[tuple[str, str], set[str]]], path: Path = POLICY) -> None:
    """Write the policy: one enclave and one profile for each node."""
    policy = ElementTree.Element('policy', version='0.2.0')
    enclaves = ElementTree.SubElement(policy, 'enclaves')
    for name, rules in found.items():
        enclave = ElementTree.SubElement(enclaves, 'enclave', path=f'/robot_id/{name}')
        profiles = ElementTree.SubElement(enclave, 'profiles')
        profile = ElementTree.SubElement(profiles, 'profile', ns='/', node=name)
        for (kind, verb), names in rules.items():
            group = ElementTree.SubElement(profile, kind, {verb: 'ALLOW'})
            for each in sorted(names):
                ElementTree.SubElement(group, kind.removesuffix('s')).text = each
    ElementTree.indent(policy)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(policy).write(path, encoding='unicode', xml_declaration=True)


if __name__ == '__main__':
    write(seen())
    print(f'policy: {POLICY.relative_to(ROOT)}')
