"""Verb `studio`: the page in the browser."""

from __future__ import annotations

import os
from pathlib import Path

import click

from robot_id.cli.console import messages
from robot_id.exceptions import DataError


@click.command()
@click.argument('folder', default='.')
@click.option('--port', type=click.IntRange(1024, 65535), help='Port; default: a free one.')
@click.option('--browser/--no-browser', default=True, show_default=True, help='Open it.')
def command(folder: str, port: int | None, browser: bool) -> None:
    """
    Open a local page for the robots and recordings of FOLDER; Ctrl-C ends it.

    Only this machine, and only with the token of the printed address, can use it.
    """
    if not os.path.isdir(folder):
        raise DataError(f'{folder}: no such folder')
    from robot_id.studio.app import free_port, serve

    console = messages()

    def tell(address: str) -> None:
        console.print(f'robot-id studio: {address}', markup=False, soft_wrap=True)
        console.print('Ctrl-C ends it', markup=False)

    serve(Path(folder), free_port(port or 0), browser, tell)
