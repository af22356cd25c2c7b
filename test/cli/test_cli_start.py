"""Help and names of the verbs load no library of numbers and no ROS."""

from __future__ import annotations

import json
import subprocess
import sys

from robot_id.cli.main import VERBS

HEAVY = {'numpy', 'scipy', 'numba', 'pinocchio', 'pandas', 'pydantic', 'h5py', 'rclpy'}
# In a process of its own: what pytest has imported is not in its list of modules.
HELP = """
import contextlib, io, json, sys
from robot_id.cli.main import cli
print(json.dumps([None, len(sys.modules), sorted(sys.modules)]))
for verb in sys.argv[1:]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        cli([verb, '--help'])
    assert '--help' in said.getvalue()
    print(json.dumps([verb, len(sys.modules), sorted(sys.modules)]))
"""


def test_help_loads_no_library_of_numbers():
    command = [sys.executable, '-c', HELP, *VERBS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == [None, *VERBS]
    for verb, _, modules in rows:
        assert not HEAVY & set(modules), verb
    # Of 2000 that an identification needs: modules of all verbs together.
    assert rows[-1][1] < 400


def test_the_package_itself_loads_no_library():
    code = 'import json, sys; import robot_id; print(json.dumps(sorted(sys.modules)))'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stdout))
    assert 'robot_id' in modules
    assert not HEAVY & modules


def test_an_identification_loads_no_statistics_nor_signal_package():
    code = (
        'import sys; from robot_id.robot import load_robot; from robot_id.tasks import record; '
        'from robot_id.tasks.identify import Request, identify; robot = load_robot("scara"); '
        'identify(Request(robot, record(robot, seed=1))); '
        'print({"scipy.stats", "scipy.signal"} & set(sys.modules))'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == 'set()'
