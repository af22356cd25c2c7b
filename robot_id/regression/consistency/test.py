"""
Whether data and a physically consistent robot agree: the chi-square test of the step to the
physically consistent set.

Were the model right, the true parameters would be consistent, and the nearest physically
consistent ones no farther from the estimate than they are: D = (chi* - chi)' C^-1 (chi* - chi)
stays below a chi-square variable with as many degrees of freedom as there are parameters. One
drive that is negative beyond chance hardly shows among so many: rotors and frictions are also
judged one by one, chi_k / sigma_k against the normal distribution, with Bonferroni's factor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr

from robot_id.regression.consistency.constraints import not_negative
from robot_id.regression.consistency.fit import whitened

Array = NDArray[np.float64]
LEVEL = 0.01
_MEANING = (
    (
        r'Ia|ZZ\dR',
        'rotor inertia: the torque may be measured behind the gear, where no rotor is felt '
        '(rotor_inertia: none)',
    ),
    (
        r'Fv|Fc',
        'negative friction: a wrong sign of torque or velocity, a delay between them, or a torque '
        'measured behind the gear',
    ),
    (
        r'M[XYZ]',
        'first moments: wrong gravity or mounting, a wrong sign, or a spring or counterweight '
        'that is not in the model',
    ),
    (
        r'[XYZ][XYZ]',
        'inertias: too little acceleration, a wrong drive gain or gear ratio, or friction that is '
        'not in the model',
    ),
)


@dataclass(frozen=True)
class Verdict:
    """
    The test.

    :param statistic: D.
    :param degrees_of_freedom: of the chi-square distribution.
    :param p_value: chance of a D this large, or of a drive this negative, were the model right.
    :param pulls: (b,) (chi* - chi) / sigma.
    :param names: (b,) parameter names.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    pulls: Array
    names: tuple[str, ...]

    @property
    def consistent(self) -> bool:
        """Whether nothing speaks against a physically consistent robot."""
        return self.p_value >= LEVEL

    @property
    def pulling(self) -> list[tuple[str, float]]:
        """The parameters that moved by more than two deviations, the farthest first, six."""
        order = np.argsort(-np.abs(np.nan_to_num(self.pulls)))[:6]
        return [(self.names[k], float(self.pulls[k])) for k in order if abs(self.pulls[k]) > 2.0]

    @property
    def meaning(self) -> str:
        """What it usually means, in words."""
        if self.consistent:
            return 'the data agree with a physically consistent robot'
        # What brakes or drives a joint tells more than an inertia that moved along with it.
        names = [name for name, _ in self.pulling]
        names = [n for n in names if re.match('F[vc]', n)][:1] + names[:3]
        kinds = []
        for name in names:
            kinds += [text for pattern, text in _MEANING if re.match(pattern, name)][:1]
        reasons = '; '.join(dict.fromkeys(kinds)) or 'the model lacks something'
        return f'no physically consistent robot explains the data within their noise: {reasons}'

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            'consistent': self.consistent,
            'statistic': self.statistic,
            'degrees_of_freedom': self.degrees_of_freedom,
            'p_value': self.p_value,
            'pulling': [{'name': name, 'deviations': pull} for name, pull in self.pulling],
            'meaning': self.meaning,
        }


def judge(names: Sequence[str], chi: Array, covariance: Array, consistent: Array) -> Verdict:
    """
    Test the step from an estimate to the nearest physically consistent parameters.

    :param chi: (b,) estimate, covariance (b, b).
    :param consistent: (b,).
    """
    R, z = whitened(chi, covariance)
    statistic = float(np.sum((R @ consistent - z) ** 2))
    freedom = len(z)
    p = float(chdtrc(freedom, max(statistic, 0.0)))
    with np.errstate(invalid='ignore', divide='ignore'):
        sigma = np.sqrt(np.diag(covariance))
        pulls, heights = (consistent - chi) / sigma, chi / sigma
    drives = heights[[not_negative(name) for name in names]]
    drives = drives[np.isfinite(drives)]
    lowest = float(drives.min(initial=0.0))
    single = min(len(drives) * float(ndtr(lowest)), 1.0)
    both = min(2.0 * min(p, single), 1.0) if len(drives) else p
    return Verdict(statistic, freedom, both, pulls, tuple(names))
