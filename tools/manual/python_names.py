"""Whether the names of a block of Python that is not run exist."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import typing
from dataclasses import dataclass
from functools import cached_property
from typing import Any


class NameOfBlockError(Exception):
    """A block uses a name that the package does not have."""


@dataclass(frozen=True)
class Of:
    """A value of which only the class is known."""

    kind: type


def check(text: str) -> int:
    """
    Check imports, attributes and keyword arguments as far as classes and annotations tell.

    Packages that are not installed are left out.

    :return: how many names were looked up.
    :raises NameOfBlockError: naming the first one that does not exist.
    """
    found = _Names()
    for statement in ast.parse(text).body:
        found.visit(statement)
    return found.looked_up


class _Names(ast.NodeVisitor):
    def __init__(self) -> None:
        self.known: dict[str, Any] = {}
        self.looked_up = 0

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if importlib.util.find_spec(alias.name.partition('.')[0]):
                module = importlib.import_module(alias.name)
                self.known[alias.asname or alias.name] = module

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module is None or not importlib.util.find_spec(node.module.partition('.')[0]):
            return
        module = importlib.import_module(node.module)
        for alias in node.names:
            self.known[alias.asname or alias.name] = self.attribute(module, alias.name)

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.known[target.id] = value
            else:
                self.visit(target)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.value(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.value(node)

    def value(self, node: ast.expr) -> Any:
        """Return what an expression is, an `Of`, or None where nothing is known."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id)
        if isinstance(node, ast.Attribute):
            return self.attribute(self.value(node.value), node.attr)
        if isinstance(node, ast.Call):
            function = self.value(node.func)
            for argument in (*node.args, *(one.value for one in node.keywords)):
                self.value(argument)
            return self.called(function, [one.arg for one in node.keywords if one.arg])
        self.generic_visit(node)
        return None

    def attribute(self, owner: Any, name: str) -> Any:
        """Return an attribute of a module, class or value."""
        if owner is None:
            return None
        self.looked_up += 1
        if not isinstance(owner, Of):
            if not hasattr(owner, name):
                raise NameOfBlockError(f'{getattr(owner, "__name__", owner)} has no {name}')
            return getattr(owner, name)
        kind = owner.kind
        found = inspect.getattr_static(kind, name, None)
        if isinstance(found, property):
            return _returned(found.fget)
        if isinstance(found, cached_property):
            return _returned(found.func)
        if found is None and not _assigned(kind, name):
            raise NameOfBlockError(f'{kind.__name__} has no {name}')
        return getattr(kind, name, None) if callable(found) else None

    def called(self, function: Any, keywords: list[str]) -> Any:
        """Return what a call gives; its keywords must be those of the function."""
        if function is None or isinstance(function, Of):
            return None
        try:
            known = inspect.signature(function).parameters
        except (TypeError, ValueError):
            return None
        if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
            for word in keywords:
                self.looked_up += 1
                if word not in known:
                    raise NameOfBlockError(f'{function.__name__} has no argument {word}')
        return Of(function) if isinstance(function, type) else _returned(function)


def _returned(function: Any) -> Of | None:
    try:
        kind = typing.get_type_hints(function).get('return')
    except (NameError, TypeError):
        return None
    return Of(kind) if isinstance(kind, type) and kind.__module__.startswith('robot_id') else None


def _assigned(kind: type, name: str) -> bool:
    """Tell whether a class of the package annotates an attribute or sets it on itself."""
    for one in kind.__mro__:
        if name in getattr(one, '__annotations__', {}):
            return True
        own = inspect.getsource(one) if one.__module__.startswith('robot_id') else ''
        if re.search(rf'\bself\.{name}\b[^=\n]*=', own):
            return True
    return False
