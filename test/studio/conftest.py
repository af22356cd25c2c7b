"""A studio in a process of its own, and a browser of the system that looks at it."""

import pytest
from running.studio_page import BROWSERS, Page, Studio, browser_program, headless


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
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


@pytest.fixture(scope='session')
def browser():
    """Return a headless browser."""
    pytest.importorskip('playwright.sync_api', reason='playwright drives the browser')
    if browser_program() is None:
        pytest.skip(f'no browser of {", ".join(BROWSERS)} is installed')
    with headless() as found:
        yield found


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
