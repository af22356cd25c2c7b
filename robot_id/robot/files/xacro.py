"""A xacro, expanded into a URDF beside the compiled code of this user."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path

from robot_id import files, user_cache
from robot_id.exceptions import DescriptionError
from robot_id.extras import MissingExtra
from robot_id.texts import one_line

ENDINGS = ('.xacro', '.urdf.xacro')


def is_xacro(path: Path) -> bool:
    """Whether a file is a xacro by its ending."""
    return path.name.lower().endswith(ENDINGS)


def expand(path: Path, arguments: Mapping[str, str]) -> Path:
    """
    Return the URDF of a xacro, in a file named by its content.

    :param arguments: of its `xacro:arg` tags.
    :raises DescriptionError: with the reason of the expansion's failure.
    """
    if not path.is_file():
        raise DescriptionError(f'{path}: no such file')
    try:
        import xacro
    except ModuleNotFoundError as error:
        raise MissingExtra('xacro') from error
    try:
        document = xacro.process_file(
            str(path), mappings={key: str(value) for key, value in arguments.items()}
        )
    # Expressions of the file raise whatever Python raises.
    except Exception as error:
        reason = one_line(error) or type(error).__name__
        raise DescriptionError(f'{path}: xacro cannot expand it ({reason})') from error
    text = document.toprettyxml(indent='  ')
    name = f'{path.name.split(".")[0]}_{hashlib.sha256(text.encode()).hexdigest()[:16]}.urdf'
    try:
        folder = user_cache.folder() / 'xacro'
        folder.mkdir(exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix='robot_id_xacro_'))
    if not (folder / name).is_file():
        files.write_text(folder / name, text)
    return folder / name
