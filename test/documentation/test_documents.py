"""The documents: links lead somewhere, every method has a page, marked commands run."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_id.cli.main import VERBS
from robot_id.methods import registry
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from tools.manual.blocks import DONE, blocks_of
from tools.manual.output import same, shown
from tools.manual.run import prepare, run_page, shell

ROOT = Path(__file__).resolve().parents[2]
PAPERS = [ROOT / f'{name}.md' for name in ('CONTRIBUTING', 'QUALITY_DECLARATION', 'SECURITY')]
DOCUMENTS = [ROOT / 'README.md', *PAPERS, *sorted((ROOT / 'doc').rglob('*.md'))]
PLACEHOLDERS = {'key', 'option'}


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
    text = (ROOT / 'doc' / 'reference' / 'commands.md').read_text()
    for verb in VERBS:
        assert f'| `{verb}` |' in text, verb


@pytest.mark.parametrize('document', DOCUMENTS, ids=name_of)
def test_options_that_pages_name_exist(document):
    """`--set key=value` in a document is an option of some method."""
    from robot_id.options import options_of

    known = {key for name in registry.names() for key in options_of(registry.method_class(name))}
    for key in re.findall(r'--set (\w+)=', document.read_text()):
        assert key in known | PLACEHOLDERS, f'{name_of(document)}: --set {key}='


WITH_COMMANDS = [
    document for document in DOCUMENTS if any(block.what in DONE for block in blocks_of(document))
]


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path)


@pytest.mark.parametrize('document', WITH_COMMANDS, ids=name_of)
def test_commands_run_and_print_what_the_page_shows(document, folder):
    for block, printed in run_page(document, folder):
        assert same(block.text, printed), f'python -m tools.manual {name_of(document)}\n{printed}'
    if document.name == 'your_own_arm.md':
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
    done = shell('robot-id identify --robot no_such_robot --data x\necho after', folder)
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


def test_a_wrong_output_would_be_noticed():
    printed = (
        'scara: 8 parameters\n│ ZZ1R │ 3.4507 │ yes │\n│ Fv1 │ 0.0383 │ yes │\nverdict: usable\n'
    )
    assert same(shown(printed, ''), printed)
    assert same(shown(printed, 'head 2'), printed)
    assert same(shown(printed, 'tail 1'), printed)
    assert same(printed.replace('3.4507', '3.4511'), printed)
    assert same('differ by 3.9e-15', 'differ by 4.4e-15')
    assert not same('differ by 3.9e-15', 'differ by 4.4e-09')
    for old, new in (('3.4507', '3.8'), ('usable', 'caution'), ('8 p', '9 p'), ('Fv1', 'Fc1')):
        assert not same(printed.replace(old, new), printed), old
    assert not same(shown(printed, 'tail 1'), printed.replace('usable', 'caution'))
    assert not same('scara: ...', 'tx40: 60 parameters')


# Words of a page that a user reads in one sitting; reference and studies are looked up.
MOST_WORDS, MOST_WORDS_OF_ALL = 1500, 36_000
LOOKED_UP = ('doc/reference', 'doc/nodes', 'doc/studies')
INSIDE = ('doc/studies', 'doc/architecture.md', 'doc/robustness.md')


def words(document):
    """Count words of prose and tables: no code, no marks, no parameter tables that code writes."""
    text = re.sub(r'```.*?```|<!--.*?-->', '', document.read_text(), flags=re.S)
    text = re.sub(r'^\| parameter \|(?:.*\n\|)+.*\n', '', text, flags=re.M)
    return len(re.findall(r'[^\W\d_][\w\'-]*', re.sub(r'\]\([^)]*\)', ']', text)))


MANUAL = [*sorted((ROOT / 'doc').rglob('*.md')), ROOT / 'README.md']


@pytest.mark.parametrize('document', MANUAL, ids=name_of)
def test_no_page_is_too_long(document):
    if not name_of(document).startswith(LOOKED_UP + INSIDE):
        assert words(document) <= MOST_WORDS


def test_the_manual_can_be_read():
    pages = [page for page in MANUAL if not name_of(page).startswith(INSIDE)]
    assert sum(map(words, pages)) <= MOST_WORDS_OF_ALL


@pytest.mark.parametrize('document', MANUAL, ids=name_of)
def test_user_pages_hold_no_seeds_and_no_history(document):
    name = name_of(document)
    if name.startswith((*INSIDE, 'doc/nodes')):
        pytest.skip('a study, or the record of one')
    prose = re.sub(r'```.*?```|`[^`\n]*`', '', document.read_text(), flags=re.S)
    found = re.findall(r'\bseeds? \d+|not used before|earlier trial|was taken back', prose)
    assert not found, found
