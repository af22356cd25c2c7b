"""All reproduced tables as one page."""

from __future__ import annotations

from collections.abc import Iterable

from robot_id.report.html.provenance import versions
from robot_id.studies.papers.comparison import Comparison

HEAD = """# The papers, rebuilt

Written by `robot-id reproduce --markdown`; every figure of ours is computed anew by that command,
the figures of the papers stand in `config/papers/figures.yaml` and beside the code. "Reproduced in
simulation" means that the paper's own recordings are not public and the claim was tested on a
simulated robot whose true parameters are known.
"""


def to_markdown(comparisons: Iterable[Comparison], seconds: float) -> str:
    """Return the page; a summary of all claims comes first."""
    comparisons = list(comparisons)
    lines = ['| table | claim | verdict |', '|---|---|---|']
    for comparison in comparisons:
        anchor = f'[{comparison.name}](#{comparison.name})'
        for claim in comparison.claims:
            lines.append(f'| {anchor} | {claim.text} | {claim.verdict} |')
    known = ', '.join(f'{name} {version}' for name, version in versions().items())
    claims = [claim for comparison in comparisons for claim in comparison.claims]
    total = (
        f'{sum(c.holds for c in claims)} of {len(claims)} claims hold here. '
        f'{seconds:.0f} s with {known}.'
    )
    parts = [HEAD, total + '\n', '\n'.join(lines) + '\n']
    parts += [comparison.to_markdown() for comparison in comparisons]
    return '\n'.join(parts)
