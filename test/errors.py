"""What an error says as data: tests ask for its fields, so that its sentence can be improved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from robot_id.exceptions import RobotIdError


@contextmanager
def refused(kind: type[RobotIdError], **fields: Any) -> Iterator[pytest.ExceptionInfo[Any]]:
    """
    Expect an error of a kind with these fields, in one line.

    :param fields: `code`, `joint`, `key`, `value` or `bound` and what each must be.
    """
    with pytest.raises(kind) as caught:
        yield caught
    found = {name: getattr(caught.value, name) for name in fields}
    assert found == fields, f'{caught.value}'
    assert str(caught.value).isprintable()
