"""Options: dataclass fields from text, unknown keys and wrong values refused in one line."""

from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_id import options
from robot_id.data.signals.processing import Processing
from robot_id.exceptions import OptionError
from robot_id.methods import registry


@dataclass(frozen=True)
class Inner:
    """
    Filter.

    :param cutoff_hz: where the filter cuts,
        per joint.
    """

    cutoff_hz: float | tuple[float, ...] | None = None
    factor: int = 1


@dataclass(frozen=True)
class Outer:
    """
    Method.

    :param loss: which loss.
    """

    inner: Inner = field(default_factory=Inner)
    loss: Literal['huber', 'bisquare'] = 'huber'
    essential: bool = False
    level: float = 0.95
    exact: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 < self.level < 1.0:
            raise OptionError(f'level: {self.level} is not between 0 and 1')


def make(*settings):
    return options.build(Outer, options.parse(settings), owner='outer')


def test_text_becomes_the_type_of_its_field():
    made = make('cutoff_hz=5,10', 'factor=3', 'essential=yes', 'loss=bisquare', 'exact=Off1,Fc1')
    assert made == Outer(Inner((5.0, 10.0), 3), 'bisquare', True, 0.95, ('Off1', 'Fc1'))
    assert make('cutoff_hz=5').inner.cutoff_hz == 5.0
    assert make('cutoff_hz=none').inner.cutoff_hz is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_the_way_through_text(number):
    assert make(f'cutoff_hz={number!r}').inner.cutoff_hz == number


@pytest.mark.parametrize(
    ('setting', 'words'),
    [
        ('cutof_hz=5', ["no option 'cutof_hz'", "'cutoff_hz'"]),
        ('factor=2.5', ['factor', '2.5', 'whole number']),
        ('factor=', ['factor', 'whole number']),
        ('cutoff_hz=fast', ['cutoff_hz', 'fast', 'number']),
        ('level=nan', ['level', 'nan']),
        ('level=2', ['level', '2.0', 'between']),
        ('loss=hubber', ["'hubber'", "'huber'"]),
        ('essential=maybe', ['essential', 'maybe', 'true or false']),
        ('exact=', ['exact', 'list']),
        ('level', ['level', 'key=value']),
        ('=3', ['key=value']),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(setting, words):
    with pytest.raises(OptionError) as caught:
        make(setting)
    message = str(caught.value)
    assert '\n' not in message
    assert all(word in message for word in words), message


def test_a_key_that_is_set_twice_is_refused():
    with pytest.raises(OptionError, match='twice'):
        options.parse(['a=1', 'a=2'])


def test_typed_values_pass_and_come_back_flat():
    made = options.build(Outer, {'cutoff_hz': (1.0, 2.0), 'essential': True})
    flat = options.to_dict(made)
    assert flat['cutoff_hz'] == [1.0, 2.0]
    assert flat['factor'] == 1
    assert 'inner' not in flat
    assert options.build(Outer, flat | {'exact': ('Off1',)}) == options.build(
        Outer, {'cutoff_hz': (1.0, 2.0), 'essential': True, 'exact': ('Off1',)}
    )


def test_help_is_taken_from_the_docstring():
    listed = options.options_of(Outer)
    assert listed['cutoff_hz'].help == 'where the filter cuts, per joint.'
    assert listed['cutoff_hz'].group == 'inner'
    assert listed['loss'].kind == 'huber | bisquare'


def test_every_registered_method_explains_itself_and_all_its_options():
    for name in registry.names():
        assert registry.summary(name)
        for option in options.options_of(registry.method_class(name)).values():
            assert option.help, f'{name}: {option.key} has no help'
            assert option.kind


def test_an_unknown_method_names_the_nearest():
    with pytest.raises(OptionError, match="no method 'idim_wsl': did you mean 'idim_wls'"):
        registry.create('idim_wsl')


HOSTILE = (
    ('idim_wls', 'cutoff_hz', 5e-324), ('idim_wls', 'decimation', 1e308),
    ('idim_wls', 'border_s', 1e308), ('idim_wls', 'order', 13), ('idim_wls', 'rest_band', '1,nan'),
    ('didim', 'bandwidth_factor', 5e-324), ('didim', 'iterations', 10**9),
    ('ekf', 'passes', 100_000), ('ekf', 'parameter_std', [1.0, 1e300]),
    ('rls', 'supervision_s', 'inf'), ('rls', 'memory_s', 1e-300), ('idim_irls', 'tuning', 'inf'),
)  # fmt: skip


@pytest.mark.parametrize(('method', 'key', 'value'), HOSTILE)
def test_numbers_beyond_their_range_are_refused(method, key, value):
    with pytest.raises(OptionError, match=key):
        registry.create(method, {key: value})


def test_a_range_holds_for_whoever_makes_the_object():
    with pytest.raises(OptionError, match='1 to 12'):
        Processing(order=40)
    listed = options.options_of(registry.method_class('ekf'))
    assert listed['passes'].range == '1 to 100'
    assert listed['passes'].kind == 'a whole number'
