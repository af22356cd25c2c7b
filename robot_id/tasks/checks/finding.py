"""A finding: what was seen, its most likely cause, its fix, and its certainty."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from robot_id.plain_table import html_lines, html_table, text_table

SCHEMA = 1
_HEADS = ('finding', 'joint', 'certainty')


@dataclass(frozen=True)
class Interval:
    """
    Where in a recording a finding was made.

    :param run: index of the run.
    :param first_s: seconds since the run began.
    :param last_s: the same; equal to `first_s` for an instant.
    """

    run: int
    first_s: float
    last_s: float


@dataclass(frozen=True)
class Finding:
    """
    One thing that is wrong with a recording or with the robot file it is read with.

    :param code: which kind of mistake, see doc/check.md.
    :param joint: name of the joint, None if it does not concern a single joint.
    :param certainty: 0 to 1.
    :param message: what was seen (a figure) and its most likely cause.
    :param fix: the exact key or option that corrects it.
    :param remedy: how `--fix` corrects it, None if only a person can.
    :param intervals: where it is; empty where it concerns all of the recording.
    """

    code: str
    joint: str | None
    certainty: float
    message: str
    fix: str
    remedy: Remedy | None = None
    intervals: tuple[Interval, ...] = ()

    def line(self) -> str:
        """Return the finding as one line for people."""
        where = f" of joint '{self.joint}'" if self.joint else ''
        return (
            f'{self.code}{where} ({100 * self.certainty:.0f} % sure): {self.message}; '
            f'fix: {self.fix}'
        )

    def cells(self) -> tuple[str, str, str]:
        """Return code, joint and certainty for a table."""
        return self.code, self.joint or 'all', f'{100 * self.certainty:.0f} %'

    def as_dict(self) -> dict[str, Any]:
        """Return the entry of the JSON file."""
        content = asdict(self)
        del content['remedy']
        content['certainty'] = round(self.certainty, 3)
        content['intervals'] = [asdict(each) for each in self.intervals]
        return content


@dataclass(frozen=True)
class Remedy:
    """
    What a correction changes, in the order: time, columns, scale, offset, delay, gravity.

    Columns and factors are those of all n joints, None where nothing changes.

    :param time_scale: factor on the time.
    :param position_columns: (n,) which recorded column is the position of joint j.
    :param torque_columns: (n,) which recorded column is the torque of joint j.
    :param position_scale: (n,) factors.
    :param torque_scale: (n,) factors.
    :param position_offset: (n,) added, rad or m.
    :param torque_delay: seconds by which the torque was recorded late.
    :param gravity: (3,) m/s^2 in the base frame, a change of the robot file.
    """

    time_scale: float = 1.0
    position_columns: tuple[int, ...] | None = None
    torque_columns: tuple[int, ...] | None = None
    position_scale: tuple[float, ...] | None = None
    torque_scale: tuple[float, ...] | None = None
    position_offset: tuple[float, ...] | None = None
    torque_delay: float = 0.0
    gravity: tuple[float, float, float] | None = None


@dataclass(frozen=True, repr=False)
class Findings:
    """All findings of one recording, the gravest first."""

    findings: tuple[Finding, ...] = ()
    source: str = field(default='', compare=False)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __repr__(self) -> str:
        if not self.findings:
            return 'no findings'
        table = text_table(_HEADS, [one.cells() for one in self.findings], left=2)
        told = (f'{one.code}: {one.message}\n  fix: {one.fix}' for one in self.findings)
        return '\n'.join([table, '', *told])

    def _repr_html_(self) -> str:
        if not self.findings:
            return html_lines(['no findings'])
        rows = [(*one.cells(), one.message, one.fix) for one in self.findings]
        return html_table((*_HEADS, 'what was seen', 'fix'), rows, left=5)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the findings, in their order."""
        return tuple(finding.code for finding in self.findings)

    def as_list(self) -> list[dict[str, Any]]:
        """Return the findings as the JSON files hold them."""
        return [finding.as_dict() for finding in self.findings]

    def save(self, path: str | Path) -> None:
        """Write the JSON file of the check."""
        content = {'schema': SCHEMA, 'findings': self.as_list()}
        Path(path).write_text(json.dumps(content, indent=2) + '\n')
