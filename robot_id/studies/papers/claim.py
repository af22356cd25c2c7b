"""A claim of a paper and whether our figures agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Ground = Literal['simulation', 'measurements']


@dataclass(frozen=True)
class Claim:
    """
    One claim.

    :param text: what the paper says.
    :param holds: whether our figures agree.
    :param evidence: these figures, and why when they do not.
    :param ground: their basis.
    """

    text: str
    holds: bool
    evidence: str
    ground: Ground = 'simulation'

    def __post_init__(self) -> None:
        # A comparison of arrays gives a bool of numpy, which JSON does not know.
        object.__setattr__(self, 'holds', bool(self.holds))

    @property
    def verdict(self) -> str:
        """The judgement in words."""
        if not self.holds:
            return 'not reproduced'
        return 'reproduced' if self.ground == 'measurements' else 'reproduced in simulation'
