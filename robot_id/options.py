"""
Options of a method are the fields of its dataclass; here they are listed and read from text.

A field that is itself a dataclass (such as `processing`) contributes its own fields under their
plain names, so `--set cutoff_hz=20` reaches the filter without a prefix. The help text of an
option is its `:param` line in the class docstring: it is written once.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from robot_id.exceptions import OptionError, did_you_mean, shorten
from robot_id.ranges import OutOfRange, range_of

T = TypeVar('T')
_TRUE, _FALSE = ('true', 'yes', 'on', '1'), ('false', 'no', 'off', '0')
_LISTS = (tuple, list, Sequence)
_NOTHING = ('none', 'null', '')


@dataclass(frozen=True)
class Option:
    """
    One option of a method.

    :param key: the text before the equals sign.
    :param group: name of the nested dataclass field it lives in, '' for the method itself.
    :param type: its annotation, resolved.
    :param default: its default value.
    :param help: its `:param` line.
    """

    key: str
    group: str
    type: Any
    default: Any
    help: str

    @property
    def range(self) -> str:
        """The range of its value, '' if it has none."""
        bounds = range_of(self.type)
        return '' if bounds is None else str(bounds)

    @property
    def kind(self) -> str:
        """The type in words."""
        return _describe(self.type)


def options_of(cls: type) -> dict[str, Option]:
    """Return the options of a dataclass by key, nested ones included."""
    found: dict[str, Option] = {}
    hints = typing.get_type_hints(cls, include_extras=True)
    helps = _parameter_texts(cls)
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        kind = hints[field.name]
        if dataclasses.is_dataclass(kind):
            for key, option in options_of(typing.cast(type, kind)).items():
                found[key] = dataclasses.replace(option, group=field.name)
        else:
            text = helps.get(field.name, '')
            found[field.name] = Option(field.name, '', kind, _default(field), text)
    return found


def parse(settings: Iterable[str]) -> dict[str, str]:
    """Split `key=value` texts; refuse one without an equals sign and a key that is set twice."""
    values: dict[str, str] = {}
    for setting in settings:
        key, equals, value = setting.partition('=')
        key = key.strip()
        if not equals or not key:
            raise OptionError(f"'{setting}' is not an option: write key=value")
        if key in values:
            raise OptionError(
                f"option '{key}' is set twice ({values[key]} and {value.strip()})",
                key=key,
                value=value.strip(),
            )
        values[key] = value.strip()
    return values


def build(cls: type[T], values: Mapping[str, Any] | None = None, owner: str = '') -> T:
    """
    Make a dataclass of options from values by key.

    :param cls: the dataclass.
    :param values: texts (read to the type of their field) or values that already have it.
    :param owner: name for the message about an unknown key, such as the method's name.
    """
    known = options_of(cls)
    own: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for key, value in (values or {}).items():
        if key not in known:
            who = f'{owner} has ' if owner else ''
            raise OptionError(f"{who}no option '{key}': {did_you_mean(key, known)}", key=key)
        option = known[key]
        place = nested.setdefault(option.group, {}) if option.group else own
        place[key] = convert(value, option.type, key)
    kinds = typing.get_type_hints(cls)
    for group, entries in nested.items():
        own[group] = build(kinds[group], entries, owner)
    try:
        return cls(**own)
    except (TypeError, ValueError) as error:
        raise OptionError(f'{owner or cls.__name__}: {error}') from error


def to_dict(options: Any) -> dict[str, Any]:
    """Return every option by its plain key, defaults included, in JSON-serialisable form."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if dataclasses.is_dataclass(value):
            values.update(to_dict(value))
        elif field.init:
            values[field.name] = list(value) if isinstance(value, tuple) else value
    return values


def convert(value: Any, kind: Any, key: str) -> Any:
    """Read a text as the type of its field (of other values only the type is checked)."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        made = convert(value, inner[0], key)
        bounds = range_of(kind)
        if bounds is not None:
            bounds.check(made, key, whole=inner[0] is int)
        return made
    if origin in (typing.Union, types.UnionType):
        return _convert_union(value, inner, kind, key)
    if origin is Literal:
        if value in inner:
            return value
        raise OptionError(
            f"{key}: '{value}' is not a choice, {did_you_mean(str(value), inner)}",
            key=key,
            value=value,
            bound=inner,
        )
    if origin in _LISTS:
        items = _split(value) if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not items:
            raise _wrong(value, kind, key)
        return tuple(convert(item, inner[0], key) for item in items)
    if kind is bool:
        return _to_bool(value, key)
    if kind in (int, float):
        return _to_number(value, kind, key)
    if kind is str or kind is Any:
        return value
    raise _wrong(value, kind, key)


def _convert_union(value: Any, inner: tuple[Any, ...], kind: Any, key: str) -> Any:
    words = [
        word for part in inner if typing.get_origin(part) is Literal for word in part.__args__
    ]
    if isinstance(value, str) and value in words:
        return value
    if type(None) in inner and (value is None or str(value).lower() in _NOTHING):
        return None
    # A scalar before a list: '5' is a number, '5,10' a list.
    parts = [p for p in inner if p is not type(None) and typing.get_origin(p) is not Literal]
    for part in sorted(parts, key=lambda p: typing.get_origin(p) in _LISTS):
        try:
            return convert(value, part, key)
        except OutOfRange:
            raise
        except OptionError:
            continue
    raise _wrong(value, kind, key)


def _to_bool(value: Any, key: str) -> bool:
    text = str(value).lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _wrong(value, bool, key)


def _to_number(value: Any, kind: type, key: str) -> Any:
    if isinstance(value, bool):
        raise _wrong(value, kind, key)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _wrong(value, kind, key) from None
    if math.isnan(number) or (kind is int and (math.isinf(number) or number != int(number))):
        raise _wrong(value, kind, key)
    return kind(number)


def _split(text: str) -> list[str]:
    return [item.strip() for item in text.strip('[]() ').split(',') if item.strip()]


def _wrong(value: Any, kind: Any, key: str) -> OptionError:
    return OptionError(f"{key}: '{shorten(value)}' is not {_describe(kind)}", key=key, value=value)


def _describe(kind: Any) -> str:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _describe(inner[0])
    if origin in (typing.Union, types.UnionType):
        return ' or '.join(_describe(part) for part in inner)
    if origin is Literal:
        return ' | '.join(map(str, inner))
    if origin in _LISTS:
        plural = {int: 'whole numbers', float: 'numbers', str: 'names'}
        item = typing.get_args(inner[0])[0] if range_of(inner[0]) else inner[0]
        return f'a list of {plural.get(item, "values")}'
    words = {int: 'a whole number', float: 'a number', bool: 'true or false', str: 'a text'}
    return 'none' if kind is type(None) else words.get(kind, str(kind))


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None


def _parameter_texts(cls: type) -> dict[str, str]:
    """Collect the `:param name: text` lines of a class and of its bases."""
    texts: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        doc = inspect.cleandoc(base.__doc__ or '')
        for name, text in re.findall(r':param (\w+):(.*?)(?=\n\s*:param |\n\s*\n|\Z)', doc, re.S):
            texts[name] = ' '.join(text.split())
    return texts


def value_text(value: Any) -> str:
    """Return a value as a user writes it: `none`, `true`, `1.0`, `a,b`."""
    if isinstance(value, list | tuple):
        return ','.join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return 'none' if value is None else str(value)
