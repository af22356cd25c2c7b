"""Who may use the page: requests of this machine, of this page, with the token."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
HOSTS = ('127.0.0.1', 'localhost')


class Guard:
    """
    ASGI middleware that refuses every request without the token, or of another origin.

    The address that is printed carries the token; the answer to it sets a cookie (HttpOnly,
    SameSite=Strict, one per port) and leads to the address without it. A request from another
    page names that page as its Origin and is refused with or without the cookie; a Host that is
    not this machine's is refused too, so that no foreign name can stand for it.

    :param app: what is guarded.
    :param token: of the address.
    :param port: of the server.
    """

    def __init__(self, app: App, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = {f'{host}:{port}' for host in HOSTS}
        self.cookie = f'robot_id_studio_{port}'

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Answer, refuse, or pass on."""
        if scope['type'] not in ('http', 'websocket'):
            await self.app(scope, receive, send)
            return
        headers = {
            key.decode('latin-1'): value.decode('latin-1') for key, value in scope['headers']
        }
        origin = headers.get('origin', '')
        if headers.get('host', '') not in self.hosts:
            await _refuse(scope, send, 'this page is for the machine it runs on')
        elif origin and origin not in {f'http://{host}' for host in self.hosts}:
            await _refuse(scope, send, f'requests of {origin} are refused')
        elif self._same(_cookie(headers.get('cookie', ''), self.cookie)):
            await self.app(scope, receive, send)
        elif scope['type'] == 'http' and self._same(_in_query(scope)):
            await self._let_in(scope, send)
        else:
            await _refuse(scope, send, 'the address needs the token that robot-id studio printed')

    def _same(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())

    async def _let_in(self, scope: Scope, send: Any) -> None:
        cookie = f'{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/'
        await _answer(send, 303, '', {
            'location': scope['path'], 'set-cookie': cookie, 'cache-control': 'no-store',
            'referrer-policy': 'no-referrer',
        })  # fmt: skip


def _cookie(header: str, name: str) -> str:
    found = SimpleCookie(header).get(name)
    return found.value if found is not None else ''


def _in_query(scope: Scope) -> str:
    return parse_qs(scope.get('query_string', b'').decode('latin-1')).get('token', [''])[0]


async def _refuse(scope: Scope, send: Any, why: str) -> None:
    if scope['type'] == 'websocket':
        await send({'type': 'websocket.close', 'code': 1008})
        return
    kind = {'content-type': 'text/plain; charset=utf-8'}
    await _answer(send, 403, f'robot-id studio: {why}\n', kind)


async def _answer(send: Any, status: int, body: str, headers: dict[str, str]) -> None:
    pairs = [(key.encode(), value.encode()) for key, value in headers.items()]
    await send({'type': 'http.response.start', 'status': status, 'headers': pairs})
    await send({'type': 'http.response.body', 'body': body.encode()})
