"""Names of robots and joints: bounded, of printable characters."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from robot_id.texts import LONGEST_NAME, is_line


def _name(text: str) -> str:
    if not text or not is_line(text, LONGEST_NAME):
        raise ValueError(f'must be 1 to {LONGEST_NAME} printable characters')
    return text


Name = Annotated[str, AfterValidator(_name)]
