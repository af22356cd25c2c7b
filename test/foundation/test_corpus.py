"""Inputs that once broke something, given again to whoever reads them."""

import contextlib
import random
from pathlib import Path

import pytest

from robot_id.cli.main import VERBS
from robot_id.exceptions import RobotIdError
from robot_id.robot import load_robot
from tools.fuzz import inputs, mutate
from tools.fuzz.targets import Targets
from tools.fuzz.verbs import LEFT_OUT, Verbs

CORPUS = sorted((Path(__file__).parents[1] / 'corpus').glob('*/*'))


@pytest.fixture(scope='module')
def targets(tmp_path_factory):
    folder = tmp_path_factory.mktemp('fuzz')
    (folder / 'sound').mkdir()
    return Targets(inputs.build(folder / 'sound'), folder / 'mutant')


@pytest.mark.parametrize('path', CORPUS, ids=lambda path: f'{path.parent.name}-{path.name}')
def test_answers_in_one_line_or_reads_it(targets, path):
    with contextlib.suppress(RobotIdError):
        targets.read(path.parent.name, path.read_bytes())


def test_sound_inputs_are_read(targets):
    for name, raw in targets.inputs.items():
        targets.read(name, raw)


def test_a_number_gives_the_same_case_again(targets):
    first, second = (targets.mutate('x.mcap', random.Random('1/7'))[0] for _ in range(2))
    assert first == second
    assert first != targets.inputs['x.mcap']


@pytest.mark.parametrize('seed', range(60))
def test_some_random_cases(targets, seed):
    draw = random.Random(f'test/{seed}')
    name = draw.choice(list(targets.inputs))
    with contextlib.suppress(RobotIdError):
        targets.read(name, *targets.mutate(name, draw))


def test_changed_torques_do_not_go_unnoticed(targets):
    raw = bytearray(targets.inputs['x.mcap'])
    raw[len(raw) // 3] ^= 4
    with pytest.raises(RobotIdError):
        targets.read('x.mcap', bytes(raw), checked=True)


def test_hostile_values_reach_a_tree():
    changed = {mutate.damage_tree(b'a: 1\nb: [1, 2]\n', random.Random(k)) for k in range(20)}
    assert len(changed) > 10
    assert load_robot('emps').n == 1


def test_every_verb_is_drawn(tmp_path):
    verbs = Verbs(inputs.build(tmp_path), tmp_path, 10.0)
    drawn = {verbs.sound(random.Random(k))[0] for k in range(300)}
    assert drawn == set(VERBS) - set(LEFT_OUT)
