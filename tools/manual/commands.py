"""Whether the commands that a page shows exist: programs, verbs, options, targets, files."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import click

from robot_id.cli.main import cli
from robot_id.exceptions import RobotIdError
from tools.manual.blocks import ROOT
from tools.manual.shell_words import commands_of

# Programs of others: their own manuals tell their options.
OTHERS = {
    'cat', 'cd', 'cmake', 'colcon', 'ctest', 'dask', 'docker', 'echo', 'export', 'git', 'head',
    'ln', 'ls', 'mkdir', 'rosdep', 'sed', 'source', 'sudo',
}  # fmt: skip
ASSIGNMENT = re.compile(r'\w+=')
SHIPPED = re.compile(r'^(?:\w+:=)?((?:config|launch|urdf|tools|bench|examples)/[\w./-]+)$')


class CommandError(Exception):
    """A page shows a command that does not exist."""


def check(text: str, ros: Callable[[list[str]], None]) -> int:
    """
    Check all commands of a block.

    :param ros: checks the words after `ros2`.
    :return: how many were checked by their program.
    :raises CommandError: with the command and what is wrong with it.
    """
    checked = 0
    for words in commands_of(text):
        try:
            checked += _check(words, ros)
        except CommandError as error:
            raise CommandError(f'{" ".join(words)}\n{error}') from None
    return checked


def _check(words: list[str], ros: Callable[[list[str]], None]) -> bool:
    for word in words:
        found = SHIPPED.match(word)
        if found and not (ROOT / found[1]).exists():
            raise CommandError(f'no {found[1]}')
    while words and (words[0] == 'do' or ASSIGNMENT.match(words[0])):
        words = words[1:]
    if (
        not words
        or words[0] in ('for', 'done')
        or words[0] in OTHERS
        or words[0] in '$)'
        or words[0].startswith('/')
    ):
        return False
    program, rest = Path(words[0]), words[1:]
    if program.name == 'robot-id':
        _robot_id(rest)
    elif program.name == 'ros2':
        ros(rest)
    elif program.parts[-3:-1] == ('lib', 'robot_id'):
        ros(['run', 'robot_id', program.name, *rest])
    elif program.name in RULES:
        RULES[program.name](rest)
    else:
        raise CommandError(f"no program '{program}'")
    return True


def _robot_id(words: list[str]) -> None:
    """Let click read the words, without running the verb."""
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            context = click.Context(cli, info_name='robot-id')
            name, verb, rest = cli.resolve_command(context, list(words))
            verb.make_context(name, rest, parent=context)
    except click.exceptions.Exit:
        return
    except (click.ClickException, RobotIdError) as error:
        raise CommandError(str(error)) from error


def _among(word: str, known: Collection[str], what: str) -> None:
    if word not in known:
        raise CommandError(f"no {what} '{word}', there are {', '.join(sorted(known))}")


def _make(words: list[str]) -> None:
    targets = re.findall(r'^([a-z-]+):', (ROOT / 'Makefile').read_text(), re.M)
    for word in words:
        if not ASSIGNMENT.match(word):
            _among(word, targets, 'target')


def _pixi(words: list[str]) -> None:
    tasks = re.findall(r"^(\w+) = 'make ", (ROOT / 'pixi.toml').read_text(), re.M)
    _among(words[0], ('run',), 'verb')
    _among(words[1], tasks, 'task')


def _pip(words: list[str]) -> None:
    _among(words[0], ('install',), 'verb')
    setup = (ROOT / 'setup.py').read_text()
    for extra in re.findall(r'[\w-]+', ''.join(re.findall(r'\[(.*?)\]', ' '.join(words)))):
        if not re.search(rf"'{extra}'", setup):
            raise CommandError(f"no extra '{extra}'")


def _python(words: list[str]) -> None:
    if words[0] == '-m' and words[1].startswith(('tools.', 'robot_id.')):
        home = ROOT / words[1].replace('.', '/')
        if not (home.with_suffix('.py').is_file() or (home / '__main__.py').is_file()):
            raise CommandError(f'no module {words[1]}')


RULES: dict[str, Callable[[list[str]], None]] = {
    'make': _make,
    'pixi': _pixi,
    'pip': _pip,
    'python': _python,
    'python3': _python,
}
