"""
On-line identification: recursive LS and IV, Kalman filters, supervision.

All estimators are incremental objects: `update` (or `feed`) takes one sample or a block, and
`estimate`, `covariance` and `status()` answer at any time.
"""

from robot_id.online.memory import Memory
from robot_id.online.recursive_iv import RecursiveInstrumentalVariables
from robot_id.online.recursive_ls import RecursiveLeastSquares
from robot_id.online.status import ParameterStatus, Status
from robot_id.online.supervision import CheapRule, EigenvalueRule, Verdict

__all__ = [
    'CheapRule',
    'EigenvalueRule',
    'Memory',
    'ParameterStatus',
    'RecursiveInstrumentalVariables',
    'RecursiveLeastSquares',
    'Status',
    'Verdict',
]
