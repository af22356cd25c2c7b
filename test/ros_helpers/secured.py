"""Processes and clients in the enclaves of real keystores (SROS 2)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running.client import Client
from running.node_process import NodeProcess

from robot_id.ros.enclave import ENABLE, ENCLAVE

# Fast DDS, of a topic that the permissions do not name.
REFUSED = 'not found in allow rule'
TRY = "import rclpy; rclpy.init(); rclpy.create_node('operator')"


def make_keys(folder: Path, policy: Path) -> Path:
    """Make a keystore as `ros2 security` does, for the domain of this process."""
    from sros2.api._artifact_generation import generate_artifacts
    from sros2.keystore import create_keystore

    create_keystore(folder)
    generate_artifacts(folder, policy_files=[policy])
    return folder


def keys_or_skip(folder: Path, policy: Path) -> Path:
    """Make a keystore; skip the test where the DDS cannot use one."""
    keys = make_keys(folder, policy)
    reason = why_not(keys)
    if reason:
        pytest.skip(f'the DDS has no security: {reason}')
    return keys


def environment(keys: Path, enclave: str, parent: str = '/robot_id') -> dict[str, str]:
    """Return the variables of a process in an enclave."""
    return {
        'ROS_SECURITY_KEYSTORE': str(keys),
        'ROS_SECURITY_STRATEGY': 'Enforce',
        ENABLE: 'true',
        ENCLAVE: f'{parent}/{enclave}',
    }


STRANGER = {ENABLE: 'false'}


def why_not(keys: Path) -> str | None:
    """Return why the DDS here cannot do it, or None; it is tried."""
    tried = subprocess.run(
        [sys.executable, '-c', TRY],
        env={**os.environ, **environment(keys, 'operator')},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if tried.returncode == 0:
        return None
    lines = [line.strip() for line in tried.stderr.splitlines()]
    return next((line for line in lines if 'security libraries' in line), lines[-1])


@contextlib.contextmanager
def variables(values: dict[str, str]) -> Iterator[None]:
    """Set variables of this process for a while; contexts of rclpy read them when they begin."""
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def client(values: dict[str, str], name: str = 'operator', namespace: str = '') -> Client:
    """Return a node of this process in an enclave, or a stranger's."""
    with variables(values):
        return Client(name, namespace)


def process(keys: Path, name: str, **parameters: Any) -> NodeProcess:
    """Return a node in its own enclave."""
    return NodeProcess(name, parameters=parameters, environment=environment(keys, name))
