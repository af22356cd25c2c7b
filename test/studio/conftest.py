"""A studio in a process of its own, and a browser of the system that looks at it."""

import http.client
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
# Seconds that a browser waits for a state; only a machine that stalls needs so long. Nothing waits
# for a time to pass.
PATIENCE_S = 120


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

    def request(self, path='/', **headers):
        """Return status, cookie and body of a request."""
        host = self.address.removeprefix('http://').strip('/')
        connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
        connection.request('GET', path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.getheader('set-cookie', ''), answer.read().decode()

    def errors(self):
        """Return what it has written to stderr since then."""
        return (self.process.stderr.buffer.read() or b'').decode()

    def kill(self, word):
        """Kill those of its processes whose command line has a word."""
        for entry in Path('/proc').glob('[0-9]*'):
            try:
                parent = int((entry / 'stat').read_text().rpartition(')')[2].split()[1])
                line = (entry / 'cmdline').read_bytes().decode()
            except OSError:
                continue
            if parent == self.process.pid and word in line:
                os.kill(int(entry.name), signal.SIGKILL)

    def end(self):
        """End it as Ctrl-C does, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=PATIENCE_S)


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
        wait_until_it_listens(started[-1])
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def wait_until_it_listens(studio):
    """Return once it answers; fail where it has ended."""
    while True:
        assert studio.process.poll() is None, studio.errors()
        try:
            studio.request()
            return
        except OSError:
            time.sleep(0.05)


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
        self.page.set_default_timeout(1000 * PATIENCE_S)
        self.problems = []
        self.page.on('pageerror', lambda error: self.problems.append(str(error)))
        self.page.goto(url)
        self.sees('Recordings')

    def sees(self, text):
        """Wait until a text is on the page."""
        self.page.get_by_text(text).first.wait_for()

    def until_gone(self, text, act):
        """Act again and again until a text is no longer on the page."""
        shown = self.page.get_by_text(text, exact=True).locator('visible=true')
        shown.wait_for()
        while shown.count():
            act()

    def lose_connection(self):
        """Cut the connection to the studio, and keep it cut."""
        self.page.context.set_offline(True)
        # What is open already stays open offline.
        self.page.evaluate('window.socket.io.engine.close()')
        self.page.wait_for_function("document.getElementById('popup').ariaHidden === 'false'")

    def find_connection(self):
        """Let it be found again, and wait until it is."""
        self.page.context.set_offline(False)
        self.page.wait_for_function("document.getElementById('popup').ariaHidden === 'true'")

    def tab(self, name):
        self.page.locator('.q-tab', has_text=name).first.click()

    def press(self, name):
        self.page.get_by_role('button', name=name, exact=True).locator(
            'visible=true'
        ).first.click()

    def fill(self, label, text):
        """Type into a field."""
        self.page.get_by_label(label, exact=True).locator('visible=true').fill(text)

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
