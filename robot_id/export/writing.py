"""Writing what a format made: a file with those beside it, or a folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from robot_id import files
from robot_id.exceptions import DataError, OptionError
from robot_id.export.parts import Exported

# Ending of a file -> its format; a folder is C code.
BY_ENDING = {
    '.urdf': 'urdf', '.sdf': 'sdf', '.xml': 'mjcf', '.mjcf': 'mjcf', '.yaml': 'yaml',
    '.yml': 'yaml', '.csv': 'csv', '': 'c',
}  # fmt: skip
Save = Callable[[Callable[[Path], object], Path], None]


def format_of(path: Path) -> str:
    """Return the format that the ending of a file means."""
    kind = BY_ENDING.get(path.suffix.lower())
    if kind is None:
        raise OptionError(
            f"{path}: no format for '{path.suffix}'; give one of {', '.join(BY_ENDING)[:-2]} or "
            'name the format',
            key='format',
            value=path.suffix,
        )
    return kind


def put(write: Callable[[Path], object], path: Path) -> None:
    """Write a file in one step; the previous one is kept as a backup."""
    try:
        with files.replacing(path, keep_previous=True) as draft:
            write(draft)
    except OSError as error:
        raise DataError(f'{path}: cannot write ({error.strerror or error})') from error


def write_exported(made: Exported, out: Path, save: Save = put) -> list[str]:
    """
    Write a file and those beside it, or a folder; return the lines to print about them.

    The file is read back before it is put in place: a wrong one is never left there.

    :param save: puts one file in place.
    """
    if made.folder:
        _write_folder(made.folder, out, save)
        return [*([] if made.check is None else [made.check(str(out))]), *made.notes]
    lines: list[str] = []

    def write(draft: Path) -> None:
        files.write_text(draft, made.text)
        if made.check is not None:
            lines.append(made.check(draft.read_text(encoding='utf-8')))

    save(write, out)
    for path, text in beside(made, out).items():
        if path.is_file() and path.read_bytes() == text.encode():
            lines.append(f'also there, unchanged: {path}')
            continue
        save(partial(files.write_text, text=text), path)
        lines.append(f'also written: {path}')
    return [*lines, *made.notes]


def beside(made: Exported, out: Path) -> dict[Path, str]:
    """Return the files beside a file, with their texts."""
    return {out.with_suffix(ending): text for ending, text in made.others.items()}


def _write_folder(contents: dict[str, str], folder: Path, save: Save) -> None:
    for name, content in contents.items():
        place = (folder / name).parent
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f'{place}: cannot be used as a folder: {error.strerror}') from error
        save(partial(files.write_text, text=content), folder / name)
