"""Every name of an earlier version is refused at every door, and the new one is named."""

import pytest
from click.testing import CliRunner

from robot_id import options
from robot_id.cli.main import cli
from robot_id.exceptions import DataError, OptionError, RobotIdError, TrajectoryError, did_you_mean
from robot_id.methods import registry
from robot_id.methods.result_form import parse_form
from robot_id.renamed import RENAMED
from robot_id.robot import load_robot
from robot_id.studies.campaign import entries
from robot_id.tasks.payload import PayloadRequest
from robot_id.trajectory.default import motion_of

RESULT = {'schema': 1, 'parameters': [{'name': 'Fv1', 'value': 1.0}]}


def of_kind(*kinds):
    return pytest.mark.parametrize(
        'name', [each for each in RENAMED if each.kind in kinds], ids=lambda each: each.old
    )


def test_no_new_name_is_an_old_one():
    old = [each.old for each in RENAMED]
    assert len(set(old)) == len(old)
    assert not set(old) & {each.new for each in RENAMED}


@pytest.mark.parametrize('name', RENAMED, ids=lambda each: each.old)
def test_the_hint_names_the_new_one_only_where_it_exists(name):
    assert f"'{name.new}'" in did_you_mean(name.old, ['other', name.new])
    assert f"'{name.new}'" not in did_you_mean(name.old, ['other'])


@of_kind('option')
@pytest.mark.parametrize('method', ['idim_wls', 'rls'])
def test_options_of_methods(name, method):
    assert name.new in options.options_of(registry.method_class(method))
    with pytest.raises(OptionError, match=f"'{name.new}'") as refused:
        options.build(registry.method_class(method), options.parse([f'{name.old}=1']), method)
    assert refused.value.key == name.old


@of_kind('value')
def test_values_of_options(name):
    if name.of.startswith('--'):
        with pytest.raises(OptionError, match=f"'{name.new}'") as refused:
            PayloadRequest(load_robot('scara'), (), unloaded=object(), strategy=name.old)
        assert refused.value.key == name.of.removeprefix('--')
    else:
        with pytest.raises(OptionError, match=f"'{name.new}'") as refused:
            options.build(registry.method_class('idim_wls'), {name.of: name.old})
        assert refused.value.key == name.of
    assert refused.value.value == name.old


@of_kind('flag')
def test_flags_of_the_command_line(name):
    said = CliRunner().invoke(cli, ['payload', name.old, 'x'])
    assert said.exit_code == 2
    assert f"'{name.new}'" in said.output
    other = CliRunner().invoke(cli, ['payload', '--nonsense', 'x'])
    assert other.exit_code == 2
    assert '--nonsense' in other.output


@of_kind('motion')
def test_motions_by_name_and_in_a_campaign(name, tmp_path):
    with pytest.raises(TrajectoryError, match=f"'{name.new}'") as refused:
        motion_of(load_robot('scara'), name.old)
    assert refused.value.key == name.old
    with pytest.raises(OptionError, match=f"'{name.new}'"):
        entries.motions({name.old: 4}, 'motions.0', tmp_path)


@pytest.mark.parametrize(
    'name',
    [each for each in RENAMED if each.kind in ('verdict', 'option') or each.of == 'reversals'],
    ids=lambda each: each.old,
)
def test_result_files(name):
    place = name.of or name.old
    content = {'verdict': name.old} if name.kind == 'verdict' else {'options': {place: name.old}}
    key = 'verdict' if name.kind == 'verdict' else f'options.{place}'
    assert parse_form(RESULT, 'r.json').parameters
    with pytest.raises(DataError) as refused:
        parse_form(RESULT | content, 'r.json')
    found = refused.value
    assert (found.key, found.value, found.bound) == (key, name.old, name.new)
    assert isinstance(found, RobotIdError)
