"""The documents: links lead somewhere, every method has a page, marked commands run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_id.cli.main import VERBS
from robot_id.methods import registry
from robot_id.methods.result import Result
from robot_id.robot import load_robot

ROOT = Path(__file__).resolve().parents[2]
PAPERS = [ROOT / f'{name}.md' for name in ('CONTRIBUTING', 'QUALITY_DECLARATION', 'SECURITY')]
DOCUMENTS = [ROOT / 'README.md', *PAPERS, *sorted((ROOT / 'doc').rglob('*.md'))]
# `<!-- run -->` before a block: it is run; in the README every block of sh is, unless
# `<!-- not run -->` stands before it. `<!-- file: NAME -->`: the block becomes that file. The
# blocks of a document share one folder, in their order.
BLOCK = re.compile(
    r'^(?:<!-- (?P<what>run|not run|file: (?P<name>[\w.]+)) -->\n)?'
    r'```(?P<kind>\w*)\n(?P<text>.*?)^```',
    re.M | re.S,
)
PLACEHOLDERS = {'key', 'option'}


def blocks_of(document):
    """Return (file name or None, text) of the blocks to write or run."""
    found = []
    for block in BLOCK.finditer(document.read_text()):
        everything = document.name == 'README.md' and document.parent == ROOT
        shown = block['kind'] == 'sh' and everything and block['what'] != 'not run'
        if block['name'] or block['what'] == 'run' or shown:
            found.append((block['name'], block['text']))
    return found


def name_of(path):
    return str(path.relative_to(ROOT))


def anchors(text):
    """Return the anchors that headings get on common forges."""
    heads = re.findall(r'^#+ (.*)$', re.sub(r'```.*?```', '', text, flags=re.S), re.M)
    return {re.sub(r'[^\w\- ]', '', head.lower()).replace(' ', '-') for head in heads}


@pytest.mark.parametrize('document', DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document):
    text = document.read_text()
    plain = re.sub(r'`[^`\n]*`', '', re.sub(r'```.*?```', '', text, flags=re.S))
    for target in re.findall(r'\]\(([^)\s]+)\)', plain):
        if re.match(r'(https?|mailto):', target):
            continue
        path, _, anchor = target.partition('#')
        file = (document.parent / path).resolve() if path else document
        assert file.exists(), f'{name_of(document)}: no {target}'
        assert ROOT in (file, *file.parents), f'{name_of(document)}: {target} leaves the project'
        if anchor and file.suffix == '.md':
            assert anchor in anchors(file.read_text()), f'{name_of(document)}: no {target}'


@pytest.mark.parametrize('method', registry.names())
def test_every_method_has_a_page_and_stands_in_the_list(method):
    page = ROOT / 'doc' / 'methods' / f'{method}.md'
    assert page.read_text().startswith(f'# {method}')
    assert f'({method}.md)' in (ROOT / 'doc' / 'methods' / 'README.md').read_text()


def test_every_verb_is_listed():
    text = (ROOT / 'doc' / 'command_line.md').read_text()
    for verb in VERBS:
        assert f'| `{verb}` |' in text, verb


@pytest.mark.parametrize('document', DOCUMENTS, ids=name_of)
def test_options_that_pages_name_exist(document):
    """`--set key=value` in a document is an option of some method."""
    from robot_id.options import options_of

    known = {key for name in registry.names() for key in options_of(registry.method_class(name))}
    for key in re.findall(r'--set (\w+)=', document.read_text()):
        assert key in known | PLACEHOLDERS, f'{name_of(document)}: --set {key}='


WITH_COMMANDS = [document for document in DOCUMENTS if blocks_of(document)]


@pytest.fixture
def folder(tmp_path):
    """Return a folder that looks like the repository with its command, and nothing else."""
    script = tmp_path / '.venv' / 'bin' / 'robot-id'
    script.parent.mkdir(parents=True)
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m robot_id.cli.main "$@"\n')
    script.chmod(0o755)
    for name in ('config', 'urdf'):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def run(text, folder):
    paths = [str(ROOT), *filter(None, [os.environ.get('PYTHONPATH')])]
    environment = os.environ | {
        'PATH': f'{folder / ".venv" / "bin"}{os.pathsep}{os.environ["PATH"]}',
        'PYTHONPATH': os.pathsep.join(paths),
    }
    return subprocess.run(
        ['sh', '-e', '-c', text], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize('document', WITH_COMMANDS, ids=name_of)
def test_commands_run(document, folder):
    for name, text in blocks_of(document):
        if name:
            (folder / name).write_text(text)
            continue
        done = run(text, folder)
        assert done.returncode == 0, f'{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}'
    if document.name == 'tutorial.md':
        check_tutorial(folder)


def check_tutorial(folder):
    """What the tutorial identifies is the robot it describes."""
    robot = load_robot(folder / 'my_arm.yaml')
    for name, limit in (('wls.json', 15.0), ('didim.json', 3.0)):
        result = Result.load(folder / name)
        percent = 100.0 * np.abs(result.values / robot.truth() - 1.0)
        assert percent.max() < limit, dict(zip(result.names, percent))
    assert (folder / 'wls.html').stat().st_size > 30_000
    assert (folder / 'compare.png').read_bytes().startswith(b'\x89PNG')
    settings = yaml.safe_load((folder / 'ctc.yaml').read_text())
    assert str(folder / 'didim.json') in str(settings)


def test_a_broken_command_would_be_noticed(folder):
    done = run('robot-id identify --robot no_such_robot --data x\necho after', folder)
    assert done.returncode == 2
    assert 'after' not in done.stdout


def test_what_contributing_names_is_there():
    table = (ROOT / 'CONTRIBUTING.md').read_text().partition('| thing |')[2].partition('\n\n')[0]
    for row in table.splitlines()[2:]:
        _, _, file, line, example, _ = row.split('|')
        home = re.search(r'`([\w/]+?)(?:/NAME)?(?:\.\w+)?`', file)[1]
        here = ROOT / home if (ROOT / home).is_dir() else (ROOT / f'{home}.py').parent
        assert here.is_dir(), row
        for named in re.findall(r'`([\w/]+\.(?:py|yaml))`', example):
            assert (here / named).is_file(), f'{row}: no {named}'
        registry_file = re.search(r'(\w[\w/]*\.py)', line)
        for place in [registry_file[1]] if registry_file else []:
            found = [ROOT / place, ROOT / 'robot_id' / place, here / place]
            text = ''.join(path.read_text() for path in found if path.is_file())
            assert text, f'{row}: no {place}'
            lists = re.findall(r'`(_?[A-Z]\w+)`', line)
            assert not lists or lists[0] in text, f'{row}: no {lists[0]} in {place}'
