"""Verb `methods`: the identification methods and their options."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.table import Table

from robot_id import files
from robot_id.cli.console import check_writable, output, save


@click.command()
@click.argument('name', required=False)
@click.option('--json', 'json_file', metavar='FILE', help='Also write the list to a JSON file.')
def command(name: str | None, json_file: str | None) -> None:
    """List the identification methods, or the options of the method NAME."""
    from robot_id.methods import registry
    from robot_id.options import value_text

    check_writable(json_file)
    console = output()
    chosen = [name] if name else registry.names()
    listed = {method: _describe(method) for method in chosen}
    if name:
        console.print(f'{name}: {registry.summary(name)}', markup=False)
        table = Table(
            'option', 'value', 'default', 'meaning', title=f'--set option=value of {name}'
        )
        for key, option in listed[name]['options'].items():
            default = value_text(option['default'])
            table.add_row(key, option['type'], default, option['help'])
    else:
        table = Table('method', 'summary', title='robot-id methods NAME lists the options')
        for method, entry in listed.items():
            table.add_row(method, entry['summary'])
    console.print(table)
    if json_file:
        save(lambda path: files.write_text(path, json.dumps(listed, indent=1) + '\n'), json_file)


def _describe(method: str) -> dict[str, Any]:
    from robot_id import options
    from robot_id.methods import registry

    return {
        'summary': registry.summary(method),
        'options': {
            key: {
                'type': option.kind,
                'range': option.range,
                'default': list(option.default)
                if isinstance(option.default, tuple)
                else option.default,
                'help': option.help,
            }
            for key, option in options.options_of(registry.method_class(method)).items()
        },
    }
