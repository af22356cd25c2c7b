"""The parameter file of `robot-id export` is what the controller starts with."""

import numpy as np
import pytest
from click.testing import CliRunner

from robot_id.cli.main import cli
from robot_id.methods.result import Result
from robot_id.robot import load_robot

pytestmark = [pytest.mark.ros, pytest.mark.real_processes, pytest.mark.timeout(300)]
pytest.importorskip('rclpy')


@pytest.mark.parametrize('namespace', ['', 'left'])
def test_the_controller_starts_with_the_exported_result(tmp_path, namespace):
    from lifecycle_msgs.msg import Transition
    from running.client import Client
    from running.node_process import NodeProcess
    from running.robot_graph import START_S

    from robot_id.ros.qos import LATCHED
    from robot_id_msgs.msg import DynamicParameters

    robot = load_robot('emps')
    values = robot.truth() * np.array([1.01, 0.9, 1.1, 1.0])[: len(robot.base)]
    covariance = np.diag((0.01 * values) ** 2)
    result = Result('emps', 'didim', robot.base.names, values, covariance, verdict='usable')
    result.save(tmp_path / 'r.json')
    out = tmp_path / 'ctc.yaml'
    done = CliRunner().invoke(
        cli,
        ['export', str(tmp_path / 'r.json'), '--format', 'ros-params', '--out', str(out)],
    )
    assert done.exit_code == 0, done.output
    arguments = ('--ros-args', '--params-file', str(out), '--')
    process = NodeProcess('ctc_controller', namespace=namespace, arguments=arguments)
    name = f'{namespace}/ctc_controller' if namespace else 'ctc_controller'
    with process, Client() as client:
        process.wait_for_log('ready', START_S)
        received = client.collect(DynamicParameters, f'/{name}/dynamic_parameters', LATCHED)
        assert client.change_state(f'/{name}', Transition.TRANSITION_CONFIGURE, START_S)
        client.spin_until(lambda: received, START_S, 'the parameters are published')
        assert received[0].method == 'didim'
        assert tuple(received[0].names) == robot.base.names
        assert np.array_equal(np.array(received[0].values), values)
        assert process.stop() == 0, process.log
