"""The types: a user's script is clean under mypy --strict, and the stubs hold what is there."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import robot_id

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """\
import numpy as np

import robot_id as rid

robot = rid.load_robot('panda.urdf', lock={'finger_joint1': 0.0})
data = rid.load('run.csv', robot=robot)
t = np.arange(10.0)
q = dq = ddq = np.zeros((10, 7))
arrays: rid.Dataset = rid.Dataset.from_arrays(time=t, position=q, torque=q)
print(rid.check(robot, data))
fit = rid.identify(robot, data, method='idim_wls', friction='auto', physical=True)
reasons: tuple[str, ...] = fit.verdict.reasons
mass: float = fit.parameters['M1']
tau = fit.model.torque(q, dq, ddq) + fit.model.gravity(q)
inertia = fit.model.inertia(q)
along = fit.model.torque_along(t, q)
error: float = fit.validate(arrays).error_percent
other = rid.identify(robot, [data, arrays], method=rid.IdimWls(cutoff_hz=40.0))
print(fit.compare(other), fit.covariance.shape, fit.parameters.to_frame())
fit.plot_torques()
fit.plot_friction()
fit.report('r.html')
fit.export('arm.urdf')
fit.save('r.json')
again: rid.Fit = rid.load_fit('r.json')
load = rid.identify_payload(robot, data, arrays)
live = rid.on_line(robot, 1000.0)
live.feed(q[0], q[0])
for method in rid.methods():
    print(method.name, method.summary)
motion = rid.excite(robot, seconds=10.0)
rid.simulate(robot, motion, seed=1)
"""
WRONG = """\
import robot_id as rid

rid.IdimWls(cut=40.0)
mass: str = rid.identify('tx40', 'run.csv').parameters['M1']
rid.load_fit(3)
"""


def strict(path):
    return subprocess.run(
        [sys.executable, '-m', 'mypy', '--strict', '--follow-imports=silent', str(path)],
        capture_output=True, text=True, timeout=300, check=False, cwd=path.parent,
        env={'MYPYPATH': str(ROOT), 'PATH': '/usr/bin:/bin'},
    )  # fmt: skip


def test_a_script_is_clean_and_a_wrong_one_is_not(tmp_path):
    script, wrong = tmp_path / 'script.py', tmp_path / 'wrong.py'
    script.write_text(SCRIPT)
    wrong.write_text(WRONG)
    done = strict(script)
    assert done.returncode == 0, done.stdout
    done = strict(wrong)
    assert 'Found 3 errors' in done.stdout, done.stdout


def test_the_stub_of_the_package_has_the_public_names():
    tree = ast.parse((ROOT / 'robot_id' / '__init__.pyi').read_text())
    named = {
        alias.asname for node in tree.body if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }  # fmt: skip
    assert named | {'__version__'} == set(robot_id.__all__)


def test_the_stub_of_the_methods_is_the_registry():
    spec = importlib.util.spec_from_file_location('stubs', ROOT / 'tools' / 'method_stubs.py')
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    if stubs.STUB.read_text() != stubs.stub():
        pytest.fail('options have changed: run python tools/method_stubs.py')
