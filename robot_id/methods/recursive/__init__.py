"""
On-line identification: recursive LS and IV, Kalman filters, supervision.

All estimators are incremental objects: `update` (or `feed`) takes one sample or a block, and
`estimate`, `covariance` and `status()` answer at any time.
"""

from robot_id.methods.recursive.memory import Memory
from robot_id.methods.recursive.recursive_iv import RecursiveInstrumentalVariables
from robot_id.methods.recursive.recursive_ls import RecursiveLeastSquares
from robot_id.methods.recursive.status import ParameterStatus, Status
from robot_id.methods.recursive.supervision import CheapRule, EigenvalueRule, Verdict

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
