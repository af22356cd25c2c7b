"""`export --format c`: compiles without a warning, tests itself, and agrees with pinocchio."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from exported_folder import exported as to_folder

from robot_id.cli.main import cli
from robot_id.export.c_code import identifier
from robot_id.methods.result import Result
from robot_id.robot import load_robot
from robot_id.robot.robot import standard_regressor

PAGE = Path(__file__).resolve().parents[2] / 'doc' / 'how_to' / 'c_code.md'
STRICT = ('-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror')
SANITISED = ('-O0', '-fsanitize=address,undefined', '-fno-sanitize-recover=all')
pytestmark = pytest.mark.skipif(shutil.which('gcc') is None, reason='no gcc')


@pytest.fixture(params=['emps', 'scara', 'tx40', 'urdf'], scope='module')
def exported(request, tmp_path_factory):
    """Return robot, parameters, folder and the name in C."""
    robot, chi, out = to_folder(tmp_path_factory.mktemp('c'), request.param, 'c')
    return robot, chi, out, identifier(robot.name)


def gcc(folder, *arguments, compiler='gcc'):
    done = subprocess.run([compiler, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_self_test_and_example_are_clean(exported):
    _, _, out, prefix = exported
    model = f'{prefix}_model.c'
    assert {path.name for path in out.iterdir()} >= {
        model, f'{prefix}_model.h', 'example.c', 'self_test.c', 'CMakeLists.txt', 'README.md',
    }  # fmt: skip
    gcc(out, *STRICT, *SANITISED, '-c', model, '-o', 'model.o')
    for program in ('self_test', 'example'):
        gcc(out, *STRICT, *SANITISED, f'{program}.c', 'model.o', '-lm', '-o', program)
        done = subprocess.run([out / program], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ''), done.stdout
    for word in ('malloc', 'static', 'errno'):
        assert word not in (out / model).read_text()
    (out / 'user.cpp').write_text(f'#include "{prefix}_model.h"\nint main() {{ return 0; }}\n')
    gcc(out, '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-c', 'user.cpp', compiler='g++')


def test_what_the_how_to_page_calls_is_in_the_header(exported):
    _, _, out, prefix = exported
    header = (out / f'{prefix}_model.h').read_text()
    called = set(re.findall(r'\b(?:tx40|TX40)_(?!model)(\w+)', PAGE.read_text()))
    assert 'inverse_dynamics' in called
    for name in called:
        assert re.search(rf'\b(?:{prefix}|{prefix.upper()})_{name}\b', header), name


def test_self_test_notices_a_wrong_model(exported):
    _, _, out, prefix = exported
    model = (out / f'{prefix}_model.c').read_text()
    (out / 'wrong.c').write_text(model.replace('tau[0] = ', 'tau[0] = 1e-6 + ', 1))
    gcc(out, '-O0', 'self_test.c', 'wrong.c', '-lm', '-o', 'wrong')
    assert subprocess.run([out / 'wrong'], capture_output=True).returncode == 1


def test_values_equal_pinocchio(exported):
    robot, chi, out, prefix = exported
    gcc(out, *STRICT, '-O0', '-shared', '-fPIC', f'{prefix}_model.c', '-lm', '-o', 'model.so')
    library = ctypes.CDLL(str(out / 'model.so'))

    def call(name, size, *inputs):
        result = np.full(size, np.nan)
        keep = [np.ascontiguousarray(x) for x in inputs]
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in keep]
        getattr(library, f'{prefix}_{name}')(*pointers, ctypes.c_void_p(result.ctypes.data))
        return result

    n, base, rng = robot.n, robot.base, np.random.default_rng(0)
    rigid = np.where(np.isin(base.columns, robot.term_index), 0.0, chi)
    for q, dq, ddq in rng.normal(size=(20, 3, n)):
        W = standard_regressor(robot, q[None], dq[None], ddq[None])[0][:, base.columns]
        tau = W / base.factor @ rigid
        found = call('inverse_dynamics_with', n, rigid, q, dq, ddq)
        np.testing.assert_allclose(found, tau, rtol=0, atol=1e-11 * (1 + np.abs(tau).max()))
        friction = smooth_friction(robot, chi, dq)
        found = call('friction', n, dq)
        np.testing.assert_allclose(found, friction, rtol=0, atol=1e-11)
        whole = call('inverse_dynamics', n, q, dq, ddq)
        M = call('inertia_matrix', n * n, q).reshape(n, n)
        parts = call('bias', n, q, dq) + M @ ddq
        np.testing.assert_allclose(whole, parts, rtol=0, atol=1e-11 * (1 + np.abs(whole).max()))
        without = call('inverse_dynamics_with', n, np.where(rigid == 0.0, 0.0, chi), q, dq, ddq)
        rotors = call('inertia_matrix_with', n * n, chi - rigid, q).reshape(n, n) @ ddq
        np.testing.assert_allclose(whole, without + friction + rotors, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(call('parameters', len(chi)), chi)


def smooth_friction(robot, chi, dq):
    """(n,) viscous, Coulomb and offset torques from the atoms of the terms."""
    terms, slope = robot.terms, robot.description.coulomb_slope
    values = robot.base.to_standard(chi)[robot.term_index]
    tau = np.zeros(robot.n)
    for k, p in enumerate(terms.parameter):
        x, stem = terms.direction[k] @ dq, terms.names[p][:2]
        shape = {'Fv': x, 'Fc': 2 / np.pi * np.arctan(slope * x), 'Of': 1.0, 'Ia': 0.0}[stem]
        tau[terms.row[k]] += values[p] * terms.gain[k] * shape
    return tau


@pytest.mark.skipif(shutil.which('cmake') is None, reason='no cmake')
def test_cmake_and_ctest(exported):
    _, _, out, prefix = exported
    if prefix != 'scara':
        pytest.skip('one robot will do')
    for words in (['-S', '.', '-B', 'build'], ['--build', 'build']):
        gcc(out, *words, compiler='cmake')
    gcc(out / 'build', compiler='ctest')


def test_refusals(tmp_path):
    robot = load_robot('scara')
    fields = {'relative_error_percent': 2.0, 'condition_number': 30.0, 'verdict': 'usable'}
    chi = robot.truth()
    result = Result('scara', 'didim', robot.base.names, chi, np.eye(8), converged=False, **fields)
    result.save(tmp_path / 'r.json')
    words = ['export', str(tmp_path / 'r.json'), '--format', 'c', '--out', str(tmp_path / 'c')]
    run = CliRunner().invoke(cli, words)
    assert not (tmp_path / 'c').exists()
    assert 'did not converge' in str(run.exception or run.output)
    assert identifier('7 axis/robot') == 'robot_7_axis_robot'
    assert identifier('*') == 'robot'
