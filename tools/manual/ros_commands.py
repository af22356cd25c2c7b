"""Whether the `ros2` commands that a page shows name what the project has."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import yaml

from robot_id.nodes.tables import TABLES
from tools.manual.blocks import ROOT
from tools.manual.commands import CommandError

PACKAGE = 'robot_id'
LIFECYCLE = 'ctc_controller', 'ddm_simulator'
TRANSITIONS = 'configure', 'activate', 'deactivate', 'cleanup', 'shutdown'
COMPOSED = {'control_loop': ('ctc_controller', 'trajectory_generator')}
# Tools of ROS 2 itself that pages mention.
UPSTREAM = {
    'security': ('create_keystore', 'generate_artifacts'),
    'control': ('switch_controllers', 'list_controllers', 'list_hardware_interfaces'),
    'pkg': ('prefix',),
}
# Options that take a word.
VALUED = {
    '--filter', '--qos-durability', '--qos-reliability', '-s', '-o', '-r', '-n', '--times',
}  # fmt: skip
BARE = {'--once', '--no-arr', '--feedback', '--ros-args', '--activate', '--deactivate'}
# What declares an argument of a launch file, and the values it may have; () for any.
DECLARES: dict[str, tuple[str, ...]] = {
    'switch': ('true', 'false', ''),
    'argument': (),
    'DeclareLaunchArgument': (),
}
ARGUMENT = re.compile(r'^(\w+):=(.*)$', re.S)


def checker(foreign: Collection[str] = ()) -> Any:
    """
    Return a function that checks the words after `ros2`.

    :param foreign: packages and nodes of others that a page names as such.
    """

    def check(words: list[str]) -> None:
        verb, rest = words[0], words[1:]
        if verb in UPSTREAM:
            _among(rest[0], UPSTREAM[verb], 'verb')
        elif verb in ('launch', 'run'):
            if rest[0] not in foreign:
                _among(rest[0], (PACKAGE,), 'package')
                {'launch': _launch, 'run': _run}[verb](rest[1:])
        elif (verb, rest[0]) in CHECKS:
            named = _plain(rest[1:])
            if named[0].strip('/').partition('/')[0] not in foreign:
                CHECKS[verb, rest[0]](named)
        else:
            raise CommandError(f'no ros2 {verb} {rest[0]}')

    return check


def _among(word: str, known: Collection[str], what: str) -> None:
    if word not in known:
        raise CommandError(f"no {what} '{word}', there are {', '.join(sorted(known))}")


def _plain(words: list[str]) -> list[str]:
    """Return the words without options."""
    found: list[str] = []
    left = iter(words)
    for word in left:
        if word in VALUED:
            next(left)
        elif word.startswith('-') and word != '-':
            _among(word, BARE, 'option')
        else:
            found.append(word)
    return found


@lru_cache
def launch_arguments(file: str) -> dict[str, tuple[str, ...]]:
    """Return the arguments that a launch file declares, with the values a switch may have."""
    path = ROOT / 'launch' / file
    if not path.is_file():
        raise CommandError(f'no launch file {file}')
    support = ast.parse((ROOT / PACKAGE / 'ros' / 'launch_support.py').read_text())
    shared = {node.name: node for node in support.body if isinstance(node, ast.FunctionDef)}
    tree = ast.parse(path.read_text())
    found = _declared(tree)
    for call in _calls(tree):
        if isinstance(call.func, ast.Name) and call.func.id in shared:
            found |= _declared(shared[call.func.id])
    return found


def _calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _declared(tree: ast.AST) -> dict[str, tuple[str, ...]]:
    found = {}
    for call in _calls(tree):
        made = call.func.id if isinstance(call.func, ast.Name) else ''
        if made in DECLARES and call.args and isinstance(call.args[0], ast.Constant):
            found[call.args[0].value] = DECLARES[made]
    return found


def _launch(words: list[str]) -> None:
    declared = launch_arguments(words[0])
    for word in words[1:]:
        found = ARGUMENT.match(word)
        if found is None:
            raise CommandError(f"'{word}' is no argument NAME:=VALUE")
        _among(found[1], declared, f'argument of {words[0]}')
        if declared[found[1]]:
            _among(found[2], declared[found[1]], f'value of {found[1]}')


@lru_cache
def executables() -> tuple[str, ...]:
    """Return the nodes that setup.py installs."""
    for node in ast.parse((ROOT / 'setup.py').read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == 'NODES':
            return tuple(ast.literal_eval(node.value))
    raise CommandError('setup.py has no NODES')


def parameters_of(node: str) -> set[str]:
    """Return the names of the parameters of an executable."""
    return {row.name for one in COMPOSED.get(node, (node,)) for row in TABLES[one]}


def _run(words: list[str]) -> None:
    node = words[0]
    _among(node, executables(), 'executable')
    left = iter(words[1:])
    for word in left:
        if word == '-p':
            found = ARGUMENT.match(next(left))
            _among(found[1] if found else '', parameters_of(node), f'parameter of {node}')
        elif word in ('-r', '--params-file'):
            next(left)
        elif word != '--ros-args':
            raise CommandError(f"no option '{word}'")


@lru_cache
def graph(kind: str) -> frozenset[str]:
    """Return the names that running nodes have: 'topic', 'service' or 'action'."""
    tree = ElementTree.parse(ROOT / 'config' / 'security' / 'policy.xml')
    return frozenset(
        one.text.strip('/') for one in tree.iter(kind) if one.text and '*' not in one.text
    )


@lru_cache
def _offered() -> dict[str, set[str]]:
    """Return the types that stand beside the name of a service or action in the sources."""
    found: dict[str, set[str]] = {}
    for folder in ('nodes', 'ros'):
        for path in sorted((ROOT / PACKAGE / folder).glob('*.py')):
            _offers(ast.parse(path.read_text()), found)
    return found


def _offers(tree: ast.Module, found: dict[str, set[str]]) -> None:
    types = {
        alias.asname or alias.name: f'{node.module.replace(".", "/")}/{alias.name}'
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if node.module.endswith(('.srv', '.action'))
    }
    for node in ast.walk(tree):
        parts = node.args if isinstance(node, ast.Call) else getattr(node, 'elts', [])
        names = [one.value for one in parts if isinstance(one, ast.Constant)]
        kinds = [types[one.id] for one in parts if isinstance(one, ast.Name) and one.id in types]
        for name in names:
            if isinstance(name, str) and name.startswith('~/'):
                found.setdefault(name[2:], set()).update(kinds)


def _asked(words: list[str], kind: str) -> None:
    """Check name, type and fields of a service call or of a goal."""
    name, typed, request = words[0].strip('/'), words[1], words[2] if len(words) > 2 else '{}'
    _among(name, graph(kind), kind)
    offered = _offered().get(name.partition('/')[2], set())
    if offered and typed not in offered:
        raise CommandError(f'{name} is of type {" or ".join(sorted(offered))}, not {typed}')
    whole = _interface(typed)
    message = whole.Request() if kind == 'service' else whole.Goal()
    try:
        _fill(message, yaml.safe_load(request))
    except (AttributeError, KeyError, TypeError, ValueError, AssertionError) as error:
        raise CommandError(f'{typed}: {error}') from error


def _interface(typed: str) -> Any:
    """Return the class of `package/kind/Name`."""
    package, kind, name = typed.split('/')
    try:
        return getattr(importlib.import_module(f'{package}.{kind}'), name)
    except (ImportError, AttributeError) as error:
        raise CommandError(f'no type {typed}') from error


def _fill(message: Any, values: dict[str, Any]) -> None:
    """Set fields as `ros2` does; the setters refuse values of another type."""
    message._check_fields = True
    fields = message.get_fields_and_field_types()
    for name, value in values.items():
        _among(name, fields, 'field')
        kind = re.sub(r'sequence<(.*?)(?:, \d+)?>', r'\1', fields[name])
        if isinstance(value, dict):
            _fill(getattr(message, name), value)
        elif isinstance(value, list) and '/' in kind:
            package, _, part = kind.partition('/')
            for one in value:
                _fill(_interface(f'{package}/msg/{part}')(), one)
        else:
            float_wanted = kind in ('double', 'float') and type(value) is int
            setattr(message, name, float(value) if float_wanted else value)


def _topics(words: list[str]) -> None:
    for word in words:
        if '/' in word.strip('/') and '/msg/' in word:
            _interface(word)
        else:
            _among(word.strip('/'), graph('topic'), 'topic')


def _lifecycle(words: list[str]) -> None:
    _among(words[0].strip('/'), LIFECYCLE, 'lifecycle node')
    if len(words) > 1:
        _among(words[1], TRANSITIONS, 'transition')


def _parameter(words: list[str]) -> None:
    node = words[0].strip('/')
    _among(node, TABLES, 'node')
    _among(words[1], parameters_of(node), f'parameter of {node}')


CHECKS = {
    ('service', 'call'): lambda words: _asked(words, 'service'),
    ('action', 'send_goal'): lambda words: _asked(words, 'action'),
    ('topic', 'echo'): _topics,
    ('bag', 'record'): _topics,
    ('lifecycle', 'set'): _lifecycle,
    ('lifecycle', 'get'): _lifecycle,
    ('param', 'set'): _parameter,
}


def check_parameter_file(content: dict[str, Any]) -> None:
    """Check the parameters of nodes: each belongs to its node, those of `/**` to any."""
    for node, inside in content.items():
        name = node.strip('/')
        every = TABLES if name == '**' else [name]
        known = set().union(*(parameters_of(one) for one in every))
        for key in inside['ros__parameters']:
            _among(key, known, f'parameter of {node}')
