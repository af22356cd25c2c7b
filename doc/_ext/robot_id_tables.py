"""Directives that read the program itself, so that the reference is never older than it."""

from __future__ import annotations

import inspect
from typing import Any

import click
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList


class CommandHelp(Directive):
    """`command-help:: identify`: what `robot-id identify --help` prints; `all`: of each verb."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the help texts as blocks."""
        from robot_id.cli.main import VERBS

        found: list[nodes.Node] = []
        for verb in VERBS if self.arguments[0] == 'all' else self.arguments:
            text = _help(verb)
            block = nodes.literal_block(text, text)
            block['language'] = 'text'
            found += [nodes.rubric('', verb), block]
        return found


def _help(verb: str) -> str:
    from robot_id.cli.main import cli

    parent = click.Context(cli, info_name='robot-id')
    command = cli.get_command(parent, verb)
    context = click.Context(command, info_name=verb, parent=parent, max_content_width=88)
    return command.get_help(context)


class MethodOptions(Directive):
    """`method-options:: didim`: its own options as a table; `shared`: those of the processing."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        from robot_id.methods import registry
        from robot_id.options import options_of

        lines = ['.. list-table::', '   :header-rows: 1', '   :class: options', '']
        rows = [('option', 'value', 'default', 'meaning')]
        shared = self.arguments[0] == 'shared'
        method = registry.method_class('idim_wls' if shared else self.arguments[0])
        for name, option in options_of(method).items():
            if bool(option.group) == shared:
                rows.append((f'``{name}``', *_columns(option)))
        for row in rows:
            lines += [f'   {"* -" if i == 0 else "  -"} {cell}' for i, cell in enumerate(row)]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, source='options'), self.content_offset, holder)
        return holder.children


# Classes whose methods a user calls.
WITH_MEMBERS = ('Dataset', 'Excitation', 'Fit', 'Model', 'Parameters')


class PublicNames(Directive):
    """`public-names::`: the docstrings of all that `robot_id` offers."""

    def run(self) -> list[nodes.Node]:
        """Return a description of each name."""
        import robot_id

        lines: list[str] = []
        for name in getattr(robot_id, '__all__', ()):
            found = getattr(robot_id, name)
            # A method as an object has the options of its own page.
            if name == '__version__' or found.__module__ == 'robot_id.api.methods':
                continue
            kind = 'class' if inspect.isclass(found) else 'function'
            lines.append(f'.. auto{kind}:: robot_id.{name}')
            lines += ['   :members:', ''] if name in WITH_MEMBERS else ['']
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, source='names'), self.content_offset, holder)
        return holder.children


def _columns(option: Any) -> tuple[str, str, str]:
    """Return value, default and meaning of an option, safe in reStructuredText."""
    from robot_id.options import value_text

    return _plain(option.kind), _plain(value_text(option.default)), _plain(option.help)


def _plain(text: Any) -> str:
    quoted = str(text).translate(str.maketrans({c: f'\\{c}' for c in '*`|_\\'}))
    return ' '.join(quoted.split()) or '\\ '


EXAMPLES = (
    'first_identification', 'own_arrays_and_csv', 'friction', 'excitation', 'payload',
    'compare_methods', 'model_to_mujoco', 'on_line', 'learning_control', 'monte_carlo_on_dask',
)  # fmt: skip


def in_order_of_learning(name: str) -> int:
    """Return the place of an example; one that is not in the list comes last."""
    stem = name.removesuffix('.py')
    return EXAMPLES.index(stem) if stem in EXAMPLES else len(EXAMPLES)


def setup(app: Any) -> dict[str, bool]:
    """Register the directives."""
    app.add_directive('command-help', CommandHelp)
    app.add_directive('method-options', MethodOptions)
    app.add_directive('public-names', PublicNames)
    return {'parallel_read_safe': True}
