"""
All methods by name, and as a table with their options.

A new method is one file in this room and one line in `METHODS`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from robot_id import options
from robot_id.data.dataset import Dataset
from robot_id.exceptions import OptionError, did_you_mean
from robot_id.methods import registry
from robot_id.methods.result import Result
from robot_id.methods.torque_free import TORQUE_FREE
from robot_id.plain_table import html_table, text_table
from robot_id.progress import Progress, silent
from robot_id.robot import Robot

__all__ = ['METHODS', 'TORQUE_FREE', 'Method', 'create', 'full_name', 'method_class', 'names',
           'summary', 'with_torques']  # fmt: skip
# name: 'module:class', imported only when it is used.
METHODS: dict[str, str] = {
    'idim_ols': 'robot_id.methods.idim.idim_ols:IdimOls',
    'idim_wls': 'robot_id.methods.idim.idim_wls:IdimWls',
    'idim_irls': 'robot_id.methods.idim.idim_irls:IdimIrls',
    'idim_tls': 'robot_id.methods.idim.idim_tls:IdimTls',
    'idim_ml': 'robot_id.methods.idim.idim_ml:IdimMl',
    'idim_iv': 'robot_id.methods.closed_loop.idim_iv:IdimIv',
    'didim': 'robot_id.methods.closed_loop.didim:Didim',
    'cloe': 'robot_id.methods.closed_loop.cloe:Cloe',
    'clie': 'robot_id.methods.closed_loop.cloe:Clie',
    'ekf': 'robot_id.methods.kalman.ekf:Ekf',
    'sr_ekf': 'robot_id.methods.kalman.sr_ekf:SrEkf',
    'ukf': 'robot_id.methods.kalman.ukf:Ukf',
    'cdkf': 'robot_id.methods.kalman.cdkf:Cdkf',
    'ckf': 'robot_id.methods.kalman.ckf:Ckf',
    'rls': 'robot_id.methods.recursive.rls:Rls',
    'riv': 'robot_id.methods.recursive.riv:Riv',
    'integral': 'robot_id.methods.recursive.integral:Integral',
    'servo_oe': 'robot_id.methods.torque_free.servo_oe:ServoOe',
}


class Method(Protocol):
    """A dataclass of options that can estimate."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def name(self) -> str:
        """How users call it."""
        ...

    def estimate(self, robot: Robot, dataset: Dataset, progress: Progress = silent) -> Result:
        """Identify the base parameters of a robot from a data set."""
        ...


def names() -> list[str]:
    """Return the names of all methods."""
    return list(METHODS)


def with_torques() -> list[str]:
    """Return the names of the methods that identify base parameters from torques."""
    return [name for name in METHODS if name not in TORQUE_FREE]


def full_name(name: str) -> str:
    """
    Return the name of a method; `wls` and `IDIM-WLS` are idim_wls too.

    :raises OptionError: with the nearest known name.
    """
    plain = name.strip().lower().replace('-', '_')
    if plain in METHODS:
        return plain
    endings = [known for known in METHODS if known.endswith(f'_{plain}')]
    if len(endings) == 1:
        return endings[0]
    raise OptionError(
        f"no method '{name}': {did_you_mean(plain, METHODS)}", key='method', value=name
    )


def method_class(name: str) -> type[Any]:
    """Return the class of a method; an unknown name is refused with the nearest known one."""
    module, _, attribute = METHODS[full_name(name)].partition(':')
    return getattr(importlib.import_module(module), attribute)


def create(name: str, values: Mapping[str, Any] | None = None) -> Method:
    """Make a method with its options by key, texts or typed values; the rest are defaults."""
    return options.build(method_class(name), values, owner=name)


def summary(name: str) -> str:
    """Return the first line of a method's docstring."""
    return inspect.cleandoc(method_class(name).__doc__ or '').partition('\n')[0]


@dataclass(frozen=True)
class MethodInfo:
    """
    What a method is.

    :param name: for `identify(method=name)`.
    :param summary: one line.
    :param options: by key, with type, default and meaning.
    """

    name: str
    summary: str
    options: dict[str, options.Option]


class MethodList(Sequence[MethodInfo]):
    """All methods; prints as a table."""

    def __init__(self) -> None:
        self._all = [
            MethodInfo(
                name, registry.summary(name), options.options_of(registry.method_class(name))
            )
            for name in registry.names()
        ]

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[MethodInfo]:
        return iter(self._all)

    def _rows(self) -> list[tuple[str, str]]:
        return [(one.name, one.summary) for one in self._all]

    def __repr__(self) -> str:
        return text_table(('method', 'what it does'), self._rows(), left=2)

    def _repr_html_(self) -> str:
        return html_table(('method', 'what it does'), self._rows(), left=2)


def methods() -> MethodList:
    """Return all methods with their options."""
    return MethodList()
