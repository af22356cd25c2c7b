"""
Write config/security/policy.xml: what each process of the running graph may do, and no more.

Usage: python tools/isolated.py python tools/security_policy.py
Starts the nodes as the launch files do, configures them and asks the graph for their topics,
services and actions. The operator, who runs the ros2 tools, may hear and call all of it.
Names without a slash in front follow the namespace of the profile.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]

from lifecycle_msgs.msg import Transition  # noqa: E402
from running.client import Client  # noqa: E402
from running.node_process import NodeProcess  # noqa: E402
from running.robot_graph import START_S  # noqa: E402
from running.simulated_bag import simulated_bag  # noqa: E402

POLICY = ROOT / 'config/security/policy.xml'
# Of a node: ('topics', 'publish') and the like, with names. Of a process: by node. Of all: by
# enclave.
Rules = dict[tuple[str, str], set[str]]
Policy = dict[str, dict[str, Rules]]

# The nodes are looked at in a namespace: what stays outside has a full name.
SPACE = '/robot'
LIFECYCLE = 'ctc_controller', 'ddm_simulator'
# Two nodes in one process share one enclave.
COMPOSED = {'control_loop': ('ctc_controller', 'trajectory_generator')}
# What runs side by side: every node by itself, then what else the launch files start.
RUNS: tuple[dict[str, dict[str, Any]], ...] = (
    {
        'ctc_controller': {},
        'ddm_simulator': {'mode': 'plant'},
        'trajectory_generator': {},
        'data_logger': {},
        'identification_server': {},
        'online_identifier': {},
        'effort_relay': {},
    },
    {'ctc_controller': {'dry_run': True}, 'ddm_simulator': {'mode': 'closed_loop'}},
    {'control_loop': {}, 'replay': {'clock': True, 'paused': True}, 'identify_once': {}},
    {'control_loop': {'dry_run': True}},
    {'motion_player': {}},
)
CONTROLLER = 'joint_trajectory_controller'
STATES = {f'{CONTROLLER}/{topic}' for topic in ('controller_state', 'state')}
# Commands of a controller whose launch file has them relayed.
RELAYED = 'effort_relay/commands', 'effort_relay/commands/owner'
# Not seen in these runs: the logger hears while it records, the controller when it is activated,
# the simulator until it owns the clock, and a recording of a controlled robot has its commands.
AT_TIMES: dict[str, Rules] = {
    'data_logger': {
        ('topics', 'subscribe'): {'joint_states', 'reference', 'effort_commands', *STATES},
    },
    # With control_msgs and without it: by the action or by the topic.
    'motion_player': {
        ('topics', 'publish'): {f'{CONTROLLER}/joint_trajectory'},
        ('topics', 'subscribe'): STATES,
        ('actions', 'call'): {f'{CONTROLLER}/follow_joint_trajectory'},
    },
    'ctc_controller': {
        ('topics', 'subscribe'): {'effort_commands', *RELAYED},
        ('topics', 'publish'): set(RELAYED),
    },
    'ddm_simulator': {('topics', 'subscribe'): {'/clock'}},
    'replay': {('topics', 'publish'): {'effort_commands'}},
}
OPERATOR = 'operator'
# Nodes of `ros2 ...` and `ros2 launch` have the number of their process in their names.
OPERATORS_OWN = 'operator/*', '/_ros2cli_*', '/launch_ros_*'
ACTION = '/_action/'


def seen() -> Policy:
    """Return what each process does in the running graph, and the operator's part."""
    found: Policy = {}
    with tempfile.TemporaryDirectory() as folder:
        simulated_bag(Path(folder) / 'run', seconds=1.0)
        for processes in RUNS:
            _merge(found, _look(processes, Path(folder)))
    for enclave, nodes in list(found.items()):
        _merge(found, {enclave: {name: AT_TIMES.get(name, {}) for name in nodes}})
    return {**found, OPERATOR: {OPERATOR: _operator(found)}}


def _look(processes: dict[str, dict[str, Any]], folder: Path) -> Policy:
    own = {
        'data_logger': {'data_directory': str(folder)},
        'identification_server': {'robot': 'emps', 'data_directory': str(folder)},
        'replay': {'bag': str(folder / 'run'), 'use_sim_time': False},
        'identify_once': {'use_sim_time': False},
        'effort_relay': {},
        'motion_player': {'robot': 'emps', 'trajectory': 'random', 'use_sim_time': False},
    }
    with contextlib.ExitStack() as stack:
        for name, settings in processes.items():
            common = {'use_sim_time': True, **own.get(name, {'robot': 'emps'})}
            node = NodeProcess(name, parameters={**common, **settings}, namespace=SPACE)
            stack.enter_context(node)
        client = stack.enter_context(Client('policy', SPACE))
        nodes = {name: COMPOSED.get(name, (name,)) for name in processes}
        for each in (each for names in nodes.values() for each in names):
            client.wait_for_node(f'{SPACE}/{each}', START_S)
            if each in LIFECYCLE:
                configure = Transition.TRANSITION_CONFIGURE
                assert client.change_state(each, configure, START_S), each
        client.spin_for(2.0)
        return {
            name: {each: _of_node(client.node, each) for each in names}
            for name, names in nodes.items()
        }


def _of_node(node: Any, name: str) -> Rules:
    """Return what one node does; the topics and services of an action as that action."""
    asked = {
        ('topics', 'publish'): node.get_publisher_names_and_types_by_node,
        ('topics', 'subscribe'): node.get_subscriber_names_and_types_by_node,
        ('services', 'reply'): node.get_service_names_and_types_by_node,
        ('services', 'request'): node.get_client_names_and_types_by_node,
    }
    rules: Rules = {}
    for (kind, verb), ask in asked.items():
        for full, _ in ask(name, SPACE):
            plain, action, _ = full.removeprefix(f'{SPACE}/').partition(ACTION)
            if not action:
                rules.setdefault((kind, verb), set()).add(plain)
            elif kind == 'services':
                role = 'execute' if verb == 'reply' else 'call'
                rules.setdefault(('actions', role), set()).add(plain)
    return rules


def _merge(found: Policy, new: Policy) -> None:
    for enclave, nodes in new.items():
        for name, rules in nodes.items():
            known = found.setdefault(enclave, {}).setdefault(name, {})
            for rule, names in rules.items():
                known.setdefault(rule, set()).update(names)


def _operator(found: Policy) -> Rules:
    def of_all(kind: str, verb: str) -> set[str]:
        everyone = (rules for nodes in found.values() for rules in nodes.values())
        return {name for rules in everyone for name in rules.get((kind, verb), ())}

    return {
        ('topics', 'publish'): {'/parameter_events', '/rosout'},
        ('topics', 'subscribe'): of_all('topics', 'publish'),
        ('services', 'reply'): set(OPERATORS_OWN),
        ('services', 'request'): of_all('services', 'reply'),
        ('actions', 'call'): of_all('actions', 'execute'),
    }


def stated(path: Path = POLICY) -> Policy:
    """Return the same from the policy file."""
    found: Policy = {}
    for enclave in ElementTree.parse(path).iter('enclave'):
        nodes = found.setdefault(enclave.attrib['path'].rpartition('/')[2], {})
        for profile in enclave.iter('profile'):
            rules = nodes.setdefault(profile.attrib['node'], {})
            for group in profile:
                (verb,) = group.attrib
                rules[group.tag, verb] = {str(each.text) for each in group}
    return found


def write(found: Policy, path: Path = POLICY) -> None:
    """Write the policy: one enclave for each process, one profile for each node."""
    policy = ElementTree.Element('policy', version='0.2.0')
    enclaves = ElementTree.SubElement(policy, 'enclaves')
    for process, nodes in found.items():
        enclave = ElementTree.SubElement(enclaves, 'enclave', path=f'/robot_id/{process}')
        profiles = ElementTree.SubElement(enclave, 'profiles')
        for name, rules in nodes.items():
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
