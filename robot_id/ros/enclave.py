"""The security enclave of a process (SROS 2), and what it refuses in one line."""

from __future__ import annotations

import os
from pathlib import Path

from rclpy._rclpy_pybind11 import RCLError

ENABLE = 'ROS_SECURITY_ENABLE'
KEYSTORE = 'ROS_SECURITY_KEYSTORE'
# Names the enclave of a process, before `--enclave` does.
ENCLAVE = 'ROS_SECURITY_ENCLAVE_OVERRIDE'


def refusal(error: Exception) -> str | None:
    """Return one line where security is on and ROS 2 failed, else None: it is no bug then."""
    if os.environ.get(ENABLE) != 'true' or not isinstance(error, RCLError):
        return None
    enclave = os.environ.get(ENCLAVE) or '/ (or that of --enclave)'
    reason = str(error).splitlines()[0]
    return (
        f'security: {reason}; the enclave {enclave} has no keys or may not do this, '
        'see doc/nodes/security.md'
    )


def missing_enclave(example: str) -> str | None:
    """Return one line where security is on and no enclave is named for this process, else None."""
    if os.environ.get(ENABLE) != 'true' or os.environ.get(ENCLAVE):
        return None
    if (Path(os.environ.get(KEYSTORE, '')) / 'enclaves/key.pem').is_file():
        return None
    return (
        f'security is on and this process has no enclave: export {ENCLAVE}={example}, '
        'see doc/nodes/security.md'
    )
