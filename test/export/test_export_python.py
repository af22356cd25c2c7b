"""`export --format python`: needs nothing but numpy, and agrees with pinocchio."""

import json
import subprocess
import sys

import numpy as np
import pytest
from exported_folder import exported

from robot_id.robot.robot import standard_regressor

ASK = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
model = __import__(sys.argv[2])
q, dq, ddq = np.array(json.load(sys.stdin))
found = {'tau': model.inverse_dynamics(q, dq, ddq), 'M': model.inertia_matrix(q),
         'bias': model.bias(q, dq), 'friction': model.friction(dq),
         'ddq': model.direct_dynamics(q[0], dq[0], model.inverse_dynamics(q[0], dq[0], ddq[0]))}
print(json.dumps({key: value.tolist() for key, value in found.items()} | {
    'foreign': sorted(name for name in sys.modules if name in ('robot_id', 'pinocchio', 'scipy')),
    'joints': list(model.JOINTS), 'parameters': model.PARAMETERS}))
"""


@pytest.mark.parametrize('name', ['emps', 'tx40', 'urdf'])
def test_values_equal_pinocchio(tmp_path, name):
    robot, chi, out = exported(tmp_path, name, 'python')
    (package,) = (path.parent.name for path in out.glob('*/__init__.py'))
    rng = np.random.default_rng(0)
    q, dq, ddq = rng.normal(size=(3, 7, robot.n))
    words = [sys.executable, '-c', ASK, str(out), package]
    text = json.dumps([q.tolist(), dq.tolist(), ddq.tolist()])
    done = subprocess.run(words, input=text, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found['foreign'] == []
    assert found['joints'] == list(robot.joint_names)
    np.testing.assert_array_equal(list(found['parameters'].values()), chi)
    tau, M, bias, friction = (np.array(found[key]) for key in ('tau', 'M', 'bias', 'friction'))
    size = np.abs(tau).max()
    np.testing.assert_allclose(tau, bias + np.einsum('nij,nj->ni', M, ddq), atol=1e-11 * size)
    base = robot.base
    rigid = np.where(np.isin(base.columns, robot.term_index), 0.0, chi)
    W = standard_regressor(robot, q, 0.0 * dq, 0.0 * ddq)[:, :, base.columns]
    still = bias_at_rest(out, package, q)
    np.testing.assert_allclose(still, W / base.factor @ rigid, atol=1e-11 * size)
    np.testing.assert_allclose(found['ddq'], ddq[0], atol=1e-8 * np.abs(ddq).max())
    assert friction.shape == tau.shape


def bias_at_rest(out, package, q):
    """(N, n) torques of gravity, by the module."""
    ask = (
        'import json, sys; sys.path.insert(0, sys.argv[1]); model = __import__(sys.argv[2]);'
        'print(json.dumps(model.gravity(json.load(sys.stdin)).tolist()))'
    )
    done = subprocess.run(
        [sys.executable, '-c', ask, str(out), package],
        input=json.dumps(q.tolist()), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return np.array(json.loads(done.stdout))
