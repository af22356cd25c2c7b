"""The panel 'Live' in a real browser, on real nodes: states, estimates, the logger."""

import os
import re
import signal

import pytest

pytestmark = [pytest.mark.ros, pytest.mark.real_processes]
NAMESPACE = 'shown'


@pytest.fixture
def bag(tmp_path):
    from running.simulated_bag import simulated_bag

    path = tmp_path / 'source' / 'run'
    simulated_bag(path, seconds=6.0)
    return path


def commands_of(node):
    """Return the topics on which a node publishes, but for those of every node of ours."""
    from running.client import Client

    with Client() as client:
        client.wait_for_node(f'{NAMESPACE}/{node}')
        ask = client.node.get_publisher_names_and_types_by_node
        found = client.spin_until(lambda: ask(node, f'/{NAMESPACE}'))
    return {topic for topic, _ in found} - {'/rosout', '/parameter_events', '/diagnostics'}


def test_a_robot_its_estimates_and_a_recording(studio, open_page, folder, bag, tmp_path):
    """A bag that is played is seen, estimated and recorded; nothing but listening is done."""
    from running.robot_graph import graph

    played = {'bag': str(bag), 'loop': True, 'wait_for_subscribers': 3, 'wait_timeout_s': 300.0}
    nodes = (
        ('online_identifier', NAMESPACE, {'robot': 'emps', 'publish_period_s': 0.2}),
        ('data_logger', NAMESPACE, {'data_directory': str(tmp_path / 'bags')}),
    )
    with graph(*nodes), graph(('replay', NAMESPACE, played)):
        running = studio()
        page = open_page(running.url)
        page.tab('Live')
        page.press('Start recording')
        page.sees('listen to the robot first')
        page.press('Listen')
        page.sees('choose a robot first')
        page.tab('Data')
        page.choose('URDF or robot file', 'emps')
        page.sees('1 joints')
        page.tab('Live')
        page.fill('namespace', NAMESPACE)
        page.fill('bag', 'heard')
        page.press('Listen')
        page.sees('nothing heard yet')
        page.press('Start recording')
        page.sees('recording heard')
        page.sees(re.compile('/shown/joint_states: [1-9][0-9]* Hz'))
        for canvas in ('.nicegui-echart canvas', '.nicegui-scene canvas'):
            page.page.locator(canvas).locator('visible=true').first.wait_for()
        row = page.page.locator('tr:visible', has_text='M1').filter(has_text='live')
        row.filter(has_text=' to ').first.wait_for()
        page.sees('samples used')
        page.picture('live')
        page.press('Stop recording')
        page.sees(re.compile('last recording heard: [1-9]'))
        page.press('Stop recording')
        page.page.locator('.q-notification', has_text='nothing is being recorded').first.wait_for()
        assert commands_of('studio_feed') == set()
        (feed,) = running.children('studio_feed')
        os.kill(feed, signal.SIGKILL)
        page.sees('the listening process has ended')
        page.press('End listening')
        page.page.get_by_text('the listening process has ended').wait_for(state='hidden')
        assert not page.problems
    assert 'Traceback' not in running.errors()
    (recorded,) = (tmp_path / 'bags/heard').glob('*.mcap')
    assert recorded.stat().st_size > 0
