"""The built manual: no warning, readable at 1400 and 400 px, on a light and a dark screen."""

import json
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROWSER = shutil.which('chromium') or shutil.which('chromium-browser')
PAGES = ('tutorials/first_steps', 'explanation/bias', 'methods/didim')
WIDTHS = (1400, 400)
# A frame of the asked width around the page: a browser window may refuse to be so narrow.
FRAME = """<!doctype html><body style="margin:0"><iframe src="{page}" width="{width}" height="900"
style="border:0"></iframe><pre id="found"></pre><script>
onload = () => setTimeout(() => {{
  const page = document.querySelector('iframe').contentDocument;
  const cut = [...page.querySelectorAll('div.highlight pre')].filter(
    e => e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX === 'hidden');
  document.querySelector('#found').textContent = JSON.stringify({{
    width: page.documentElement.scrollWidth, cut: cut.length,
    wide: [...page.querySelectorAll('.table-wrapper')].filter(
      e => e.scrollWidth > e.clientWidth + 1).length,
    math: page.querySelectorAll('mjx-container').length,
    formulas: page.querySelectorAll('.math').length}});
}}, 1500);
</script>"""


@pytest.fixture(scope='module')
def manual(tmp_path_factory):
    """Build the manual from a copy, the pages of the examples without running them."""
    for package in ('furo', 'sphinx_gallery'):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp('manual')
    for path in ROOT.iterdir():
        if path.name != 'doc':
            (folder / path.name).symlink_to(path)
    leave = shutil.ignore_patterns('examples')
    shutil.copytree(ROOT / 'doc', folder / 'doc', ignore=leave)
    html = folder / 'html'
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-q', '-E', '-W', '--keep-going', '-b', 'html', '-D',
         'plot_gallery=0', '-d', str(folder / 'trees'), str(folder / 'doc'), str(html)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return html


def test_every_example_has_its_page(manual):
    index = (manual / 'examples' / 'index.html').read_text()
    for path in (ROOT / 'examples').glob('*.py'):
        assert f'href="{path.stem}.html"' in index
        assert (manual / 'examples' / f'{path.stem}.html').is_file()


def chromium(*arguments):
    command = [BROWSER, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars']
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_it_has_a_search_and_a_dark_mode(manual):
    text = (manual / 'index.html').read_text()
    assert 'search.html' in text
    assert 'prefers-color-scheme' in (manual / '_static/styles/furo.css').read_text()


@pytest.mark.skipif(BROWSER is None, reason='no chromium on this machine')
@pytest.mark.parametrize('width', WIDTHS)
@pytest.mark.parametrize('page', PAGES)
def test_pages_fit_their_screen_and_can_be_photographed(manual, tmp_path, page, width):
    frame = manual / f'frame_{width}_{page.replace("/", "_")}.html'
    frame.write_text(FRAME.format(page=f'{page}.html', width=width))
    done = chromium(
        '--allow-file-access-from-files', '--virtual-time-budget=15000', '--dump-dom',
        f'--window-size={max(width, 600)},1000', frame.as_uri(),
    )  # fmt: skip
    found = json.loads(re.search(r'<pre id="found">(\{.*?\})</pre>', done.stdout)[1])
    assert found['width'] <= width, 'the page scrolls sideways'
    assert found['cut'] == 0, 'code is cut'
    assert found['wide'] == 0, 'a table is wider than the page'
    assert (found['math'] > 0) == (found['formulas'] > 0), 'equations are not typeset'
    picture = tmp_path / 'page.png'
    chromium(
        '--allow-file-access-from-files', '--virtual-time-budget=15000',
        f'--screenshot={picture}', f'--window-size={max(width, 600)},1000', frame.as_uri(),
    )  # fmt: skip
    head = picture.read_bytes()[:24]
    assert head.startswith(b'\x89PNG')
    assert struct.unpack('>I', head[16:20])[0] >= width
    assert picture.stat().st_size > 20_000, 'an empty page'
