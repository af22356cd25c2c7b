"""
numba's `njit` with machine code on the disk that may be missing, damaged or impossible to write.

A kernel is known by the text of its file and of the files of all functions that are compiled into
it, so a change in any of them compiles it again; nothing that others keep in the same folder is
touched. Code is loaded only if it is whole (SHA-256), from the folder of the source
(`__pycache__`, also where that is read-only) or from the user's folder; with `NUMBA_CACHE_DIR`
from there alone.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import inspect
import os
import pickle
import sys
import tempfile
import types
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, compiler
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

from robot_id import user_cache

PACKAGE = 'robot_id'
DIGEST_BYTES = hashlib.sha256().digest_size
# Function that is only a name for others, by type of its arguments -> the files of these.
_OVERLOADED: dict[Any, tuple[Path, ...]] = {}


def njit(
    function: Callable[..., Any] | None = None, *, cache: bool = False, **options: Any
) -> Any:
    """
    Compile a function on its first call, as `numba.njit`.

    :param cache: keep the machine code on the disk.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        if cache and isinstance(dispatcher, Dispatcher):
            dispatcher._cache = KernelCache(function)  # type: ignore[attr-defined]
        return dispatcher

    return compiled if function is None else compiled(function)


def made_of(function: Any, sources: Iterable[Path]) -> None:
    """Name the files whose functions stand in kernels for an overloaded one."""
    _OVERLOADED[function] = tuple(sorted(sources))


def kinds_on_disk(dispatcher: Any) -> int:
    """Return for how many types of arguments a kernel is on the disk."""
    return max((len(place.index()) for place in dispatcher._cache.places), default=0)


class KernelCache(caching.FunctionCache):
    """The machine code of one function; the disk is looked at when it is first called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func, self._name = function, repr(function)
        self.enable()

    @cached_property
    def places(self) -> list[_Place]:
        """The folders of this function: it is read from all, and written to the first that can."""
        file = Path(inspect.getfile(self._py_func))
        code = self._py_func.__code__
        name = f'{file.stem}.{self._py_func.__qualname__}'.replace('<', '').replace('>', '')
        base = f'{name}-{code.co_firstlineno}.{sys.implementation.cache_tag}'
        stamp = f'{numba.__version__} {_stamp(self._py_func)}'
        own = hashlib.sha256(str(file.parent).encode()).hexdigest()[:12]
        shared = numba.config.CACHE_DIR  # type: ignore[attr-defined]
        if shared:
            return [_Place(lambda: Path(shared, f'{PACKAGE}_{own}'), base, stamp)]
        return [
            _Place(lambda: file.parent / '__pycache__', base, stamp),
            _Place(lambda: user_cache.folder() / 'kernels', f'{own}.{base}', stamp),
        ]

    @property
    def cache_path(self) -> str:
        """The first folder."""
        return str(self.places[0].folder())

    def flush(self) -> None:
        """Forget this function."""
        for place in self.places:
            with contextlib.suppress(OSError):
                place.clear()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for a signature, None where it is not there or not whole."""
        target_context.refresh()
        if not self._enabled:
            return None
        key = self._index_key(sig, target_context.codegen())
        for place in self.places:
            payload = place.load(key)
            if payload is not None:
                return compiler.CompileResult._rebuild(target_context, *payload)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel where that is possible."""
        lifted = any(not each.can_cache for each in data.lifted)
        if not self._enabled or lifted or data.library.has_dynamic_globals:
            return
        key, payload = self._index_key(sig, data.codegen), dumps(data._reduce())
        failed = None
        for place in self.places:
            try:
                return place.save(key, payload)
            except OSError as error:
                failed = error
        if failed is not None:
            user_cache.not_kept(failed)


class _Place:
    """
    The kernels of one function in one folder: an index, and a file for each signature.

    :param folder: may raise OSError.
    :param base: start of the names of its files.
    :param stamp: of the sources; an index with another one counts as empty.
    """

    def __init__(self, folder: Callable[[], Path], base: str, stamp: str) -> None:
        self.folder, self._base, self._stamp = folder, base, stamp

    def index(self) -> dict[Any, str]:
        """Return key -> name of the file; a damaged or older index is empty."""
        try:
            content = (self.folder() / f'{self._base}.index').read_bytes()
            digest, text = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
            if hashlib.sha256(self._stamp.encode() + text).digest() != digest:
                return {}
            return dict(pickle.loads(text))
        except Exception:
            # The types of a key may be gone with their module, which raises anything.
            return {}

    def load(self, key: Any) -> Any:
        """Return the payload of a key, None where it is not there or not whole."""
        name = self.index().get(key)
        if name is None:
            return None
        try:
            content = (self.folder() / name).read_bytes()
            return pickle.loads(content) if _name(self._base, content) == name else None
        except Exception:
            return None

    def save(self, key: Any, content: bytes) -> None:
        """
        Write the payload, then the index that names it, each in one step.

        :raises OSError: where the folder cannot be written.
        """
        folder = self.folder()
        folder.mkdir(parents=True, exist_ok=True)
        index = self.index() | {key: _name(self._base, content)}
        _replace(folder / index[key], content)
        text = dumps(index)
        digest = hashlib.sha256(self._stamp.encode() + text).digest()
        _replace(folder / f'{self._base}.index', digest + text)
        self.clear(set(index.values()))

    def clear(self, keep: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        """Delete the code of older sources."""
        folder = self.folder()
        for file in list(folder.glob(f'{glob.escape(self._base)}-*.code')):
            if file.name not in keep:
                file.unlink(missing_ok=True)
        if not keep:
            (folder / f'{self._base}.index').unlink(missing_ok=True)


def _name(base: str, content: bytes) -> str:
    return f'{base}-{hashlib.sha256(content).hexdigest()[:32]}.code'


def _replace(path: Path, content: bytes) -> None:
    handle, draft = tempfile.mkstemp(prefix='.', suffix='.draft', dir=path.parent)
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(content)
        os.chmod(draft, 0o644)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def _stamp(function: Callable[..., Any]) -> str:
    """Return the digest of everything that a function is compiled from."""
    parts: set[str] = set()
    _collect(function, parts, set())
    return hashlib.sha256('\n'.join(sorted(parts)).encode()).hexdigest()


def _collect(value: Any, parts: set[str], seen: set[int]) -> None:
    """Add the text of the files, and the constants, that a compiled function rests on."""
    function = getattr(value, 'py_func', None) or getattr(value, '_defn', None) or value
    for path in _OVERLOADED.get(value, ()) if isinstance(value, types.FunctionType) else ():
        parts.add(_text(str(path)))
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return
    if not function.__module__.startswith(PACKAGE):
        return
    seen.add(id(function))
    parts.add(_text(inspect.getfile(function)))
    for name, used in _used(function):
        if _plain(used):
            parts.add(f'{name} = {used!r}')
        else:
            _collect(used, parts, seen)


def _plain(value: Any) -> bool:
    """Whether a value is compiled in as a constant."""
    if isinstance(value, tuple):
        return all(map(_plain, value))
    return isinstance(value, bool | int | float | str)


def _used(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield what a function takes from outside, by name."""
    codes = [function.__code__]
    for code in codes:
        codes += [each for each in code.co_consts if isinstance(each, types.CodeType)]
        for name in code.co_names:
            if name in function.__globals__:
                yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        with contextlib.suppress(ValueError):  # not filled yet
            yield name, cell.cell_contents


@cache
def _text(path: str) -> str:
    """Return the name and the digest of a file."""
    content = Path(path).read_bytes()
    return f'{os.path.basename(path)} {hashlib.sha256(content).hexdigest()}'
