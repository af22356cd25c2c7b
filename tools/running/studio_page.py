"""A studio in a process of its own, and a page of a browser that looks at it."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')
# Seconds that a browser waits for a state; only a machine that stalls needs so long. Nothing waits
# for a time to pass.
PATIENCE_S = 120


def browser_program() -> str | None:
    """Return the browser of this machine, None without one."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def headless() -> Iterator[Any]:
    """Run that browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        options = ['--no-sandbox', '--enable-unsafe-swiftshader']
        found = driver.chromium.launch(executable_path=browser_program(), args=options)
        yield found
        found.close()


class Studio:
    """A running studio."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        words = ['-m', 'robot_id.cli.main', 'studio', str(folder), '--no-browser']
        # As a user starts it: the library serves otherwise within pytest.
        own = {key: value for key, value in os.environ.items() if not key.startswith('PYTEST')}
        self.process = subprocess.Popen(
            [sys.executable, *words], stderr=subprocess.PIPE, text=True, env=own
        )
        assert self.process.stderr is not None
        self._log = self.process.stderr
        self.url = ''
        while not self.url:
            line = self._log.readline()
            assert line, 'the studio ended at its start'
            if found := re.search(r'http://\S+', line):
                self.url = found[0]
        self.address, _, self.token = self.url.partition('?token=')
        os.set_blocking(self._log.fileno(), False)
        self._wait_until_it_listens()

    def _wait_until_it_listens(self) -> None:
        """Return once it answers; fail where it has ended."""
        while True:
            assert self.process.poll() is None, self.errors()
            try:
                self.request()
                return
            except OSError:
                time.sleep(0.05)

    def request(self, path: str = '/', **headers: str) -> tuple[int, str, str]:
        """Return status, cookie and body of a request."""
        host = self.address.removeprefix('http://').strip('/')
        connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
        connection.request('GET', path, headers=headers)
        answer = connection.getresponse()
        cookie = answer.getheader('set-cookie') or ''
        return answer.status, cookie, answer.read().decode()

    def errors(self) -> str:
        """Return what it has written to stderr since then."""
        return (self._log.buffer.read() or b'').decode()

    def children(self, word: str) -> list[int]:
        """Return those of its processes whose command line has a word."""
        found = []
        for entry in Path('/proc').glob('[0-9]*'):
            try:
                parent = int((entry / 'stat').read_text().rpartition(')')[2].split()[1])
                line = (entry / 'cmdline').read_bytes().decode()
            except OSError:
                continue
            if parent == self.process.pid and word in line:
                found.append(int(entry.name))
        return found

    def held_worker(self) -> int:
        """Wait until a piece of work has begun and stop its process, so that it does not end."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := self.children('spawn_main')):
            assert self.process.poll() is None, self.errors()
            assert time.monotonic() < deadline, f'no work began within {PATIENCE_S} s'
            time.sleep(0.01)
        os.kill(found[0], signal.SIGSTOP)
        return found[0]

    def end(self) -> int:
        """End it as Ctrl-C does, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE_S)


class Page:
    """A page of the browser, in the words of a user."""

    def __init__(self, browser: Any, url: str, width: int = 1400) -> None:
        self.page: Any = browser.new_page(viewport={'width': width, 'height': 900})
        self.page.set_default_timeout(1000 * PATIENCE_S)
        self.problems: list[str] = []
        self.page.on('pageerror', lambda error: self.problems.append(str(error)))
        self.page.goto(url)
        self.sees('Recordings')

    def sees(self, text: str | re.Pattern[str]) -> None:
        """Wait until a text is on the page, in the tab that is looked at or above all tabs."""
        self.page.get_by_text(text).locator('visible=true').first.wait_for()

    def row(self, text: str) -> Any:
        """Return the rows of the tables that are seen with a text."""
        return self.page.locator('tr:visible', has_text=text)

    def until_gone(self, text: str, act: Callable[[], None]) -> None:
        """Act again and again until a text is no longer on the page."""
        shown = self.page.get_by_text(text, exact=True).locator('visible=true')
        shown.wait_for()
        while shown.count():
            act()

    def lose_connection(self) -> None:
        """Cut the connection to the studio, and keep it cut."""
        self.page.context.set_offline(True)
        # What is open already stays open offline.
        self.page.evaluate('window.socket.io.engine.close()')
        self.page.wait_for_function("document.getElementById('popup').ariaHidden === 'false'")

    def find_connection(self) -> None:
        """Let it be found again, and wait until it is."""
        self.page.context.set_offline(False)
        self.page.wait_for_function("document.getElementById('popup').ariaHidden === 'true'")

    def tab(self, name: str) -> None:
        """Turn to a tab of the page."""
        self.page.locator('.q-tab', has_text=name).first.click()
        # While one panel slides away, both have fields of similar names.
        panels = "[...document.querySelectorAll('.q-tab-panel')]"
        self.page.wait_for_function(f'{panels}.filter((panel) => panel.offsetParent).length === 1')

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role('button', name=name, exact=True).locator(
            'visible=true'
        ).first.click()

    def fill(self, label: str, text: str) -> None:
        """Type into a field."""
        self.page.get_by_label(label, exact=True).locator('visible=true').fill(text)

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a field."""
        self.page.locator('label:visible', has_text=label).first.click()
        self.page.locator('.q-menu .q-item', has_text=option).first.click()
        # A menu that closes would take the next click.
        self.page.wait_for_function("!document.querySelector('.q-menu')")

    def choose_several(self, label: str, options: Sequence[str]) -> None:
        """Choose options of a field that takes several; its menu stays until it is left."""
        self.page.locator('label:visible', has_text=label).first.click()
        for option in options:
            self.page.locator('.q-menu .q-item', has_text=option).first.click()
        self.page.keyboard.press('Escape')
        self.page.wait_for_function("!document.querySelector('.q-menu')")

    def picture(self, name: str) -> None:
        """Keep a picture where STUDIO_PICTURES names a folder."""
        if folder := os.environ.get('STUDIO_PICTURES'):
            self.page.wait_for_timeout(1500)
            self.page.screenshot(path=str(Path(folder) / f'{name}.png'))
