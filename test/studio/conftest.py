"""A studio in a process of its own, and a browser of the system that looks at it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BROWSERS = ('chromium', 'chromium-browser', 'google-chrome')
# Milliseconds that a browser waits for what it expects.
PATIENCE_MS = 120_000


class Studio:
    """A running studio."""

    def __init__(self, folder):
        self.folder = folder
        command = [
            sys.executable,
            '-m',
            'robot_id.cli.main',
            'studio',
            str(folder),
            '--no-browser',
        ]
        # As a user starts it: the library serves otherwise within pytest.
        own = {key: value for key, value in os.environ.items() if not key.startswith('PYTEST')}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=own)
        self.url = ''
        while not self.url:
            line = self.process.stderr.readline()
            assert line, 'the studio ended at its start'
            if found := re.search(r'http://\S+', line):
                self.url = found[0]
        self.address, _, self.token = self.url.partition('?token=')
        os.set_blocking(self.process.stderr.fileno(), False)

    def errors(self):
        """Return what it has written to stderr since then."""
        return (self.process.stderr.buffer.read() or b'').decode()

    def end(self):
        """End it as Ctrl-C does, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


@pytest.fixture
def folder(tmp_path):
    """Return the folder of the studio."""
    made = tmp_path / 'my_robot'
    made.mkdir()
    return made


@pytest.fixture
def studio(folder):
    """Return a function that starts a studio on the folder."""
    pytest.importorskip('nicegui', reason='the studio needs nicegui')
    started = []

    def start():
        started.append(Studio(folder))
        wait_until_it_listens(started[-1].address)
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def wait_until_it_listens(address):
    import http.client

    host = address.removeprefix('http://').strip('/')
    for _ in range(600):
        try:
            connection = http.client.HTTPConnection(host, timeout=5)
            connection.request('GET', '/')
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f'nothing listens at {address}')


@pytest.fixture(scope='session')
def browser():
    """Return a headless browser."""
    sync = pytest.importorskip('playwright.sync_api', reason='playwright drives the browser')
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f'no browser of {", ".join(BROWSERS)} is installed')
    with sync.sync_playwright() as driver:
        options = ['--no-sandbox', '--enable-unsafe-swiftshader']
        found = driver.chromium.launch(executable_path=path, args=options)
        yield found
        found.close()


class Page:
    """A page of the browser, in the words of a user."""

    def __init__(self, browser, url, width=1400):
        self.page = browser.new_page(viewport={'width': width, 'height': 900})
        self.page.set_default_timeout(PATIENCE_MS)
        self.problems = []
        self.page.on('pageerror', lambda error: self.problems.append(str(error)))
        self.page.goto(url)
        self.sees('Recordings')

    def sees(self, text):
        """Wait until a text is on the page."""
        self.page.get_by_text(text).first.wait_for()

    def tab(self, name):
        self.page.locator('.q-tab', has_text=name).first.click()

    def press(self, name):
        self.page.get_by_role('button', name=name, exact=True).locator(
            'visible=true'
        ).first.click()

    def choose(self, label, option):
        """Choose an option of a field."""
        self.page.locator('label:visible', has_text=label).first.click()
        self.page.locator('.q-menu .q-item', has_text=option).first.click()
        # A menu that closes would take the next click.
        self.page.wait_for_function("!document.querySelector('.q-menu')")

    def choose_several(self, label, options):
        """Choose options of a field that takes several; its menu stays until it is left."""
        self.page.locator('label:visible', has_text=label).first.click()
        for option in options:
            self.page.locator('.q-menu .q-item', has_text=option).first.click()
        self.page.keyboard.press('Escape')
        self.page.wait_for_function("!document.querySelector('.q-menu')")

    def picture(self, name):
        """Keep a picture where STUDIO_PICTURES names a folder."""
        if folder := os.environ.get('STUDIO_PICTURES'):
            self.page.wait_for_timeout(1500)
            self.page.screenshot(path=str(Path(folder) / f'{name}.png'))


@pytest.fixture
def open_page(browser):
    """Return a function that opens an address in a new page."""
    opened = []

    def opener(url, width=1400):
        opened.append(Page(browser, url, width))
        return opened[-1]

    yield opener
    for each in opened:
        each.page.close()
