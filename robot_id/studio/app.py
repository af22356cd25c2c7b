"""The server of the page: on this machine only, until Ctrl-C."""

from __future__ import annotations

import logging
import secrets
import socket
from collections.abc import Callable
from pathlib import Path

from nicegui import app, ui

from robot_id.exceptions import OptionError
from robot_id.studio.guard import HOSTS, Guard
from robot_id.studio.page import MISTAKES, build
from robot_id.studio.workspace import Workspace


def free_port(wanted: int = 0) -> int:
    """Return a port of this machine that no one listens on: the wanted one, 0 for any."""
    with socket.socket() as probe:
        # As the server does: connections that have just ended do not hold a port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOSTS[0], wanted))
        except OSError as error:
            raise OptionError(
                f'--port {wanted}: {error.strerror}; leave it out for a free one'
            ) from error
        return int(probe.getsockname()[1])


def _is_no_mistake(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], MISTAKES))


def serve(folder: Path, port: int, browser: bool, tell: Callable[[str], object]) -> None:
    """
    Serve the page until the process is interrupted.

    :param folder: whose robots and recordings are shown; everything that is written goes there.
    :param browser: open the address, too.
    :param tell: takes the address, whose token no one can guess.
    """
    token = secrets.token_urlsafe(24)
    address = f'http://{HOSTS[0]}:{port}/?token={token}'
    tell(address)
    workspace = Workspace(folder)
    # The page tells a mistake in one line; the terminal is for bugs.
    logging.getLogger('nicegui').addFilter(_is_no_mistake)
    app.add_middleware(Guard, token=token, port=port)
    app.on_shutdown(workspace.close)

    @ui.page('/', title=f'robot-id studio: {folder.resolve().name}')
    def page() -> None:
        build(workspace)

    ui.run(
        host=HOSTS[0], port=port, show=address if browser else False, reload=False,
        show_welcome_message=False, favicon='⚙', reconnect_timeout=20.0,
    )  # fmt: skip
