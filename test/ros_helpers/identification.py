"""Requests to an identification server, and the processes behind it."""

from __future__ import annotations

from pathlib import Path

SLOW = {'optimizer': 'nelder_mead', 'simulations': '1000000', 'start': 'a_priori'}


def request(kind, bag='run', method='idim_wls', robot='', **options):
    from robot_id_msgs.msg import Option

    return kind(
        robot=robot,
        bag=bag,
        method=method,
        options=[Option(key=key, value=str(value)) for key, value in options.items()],
    )


def send(client, **fields):
    from robot_id_msgs.action import Identify

    goal = request(Identify.Goal, **fields)
    return client.send_goal(Identify, 'identification_server/identify', goal)


def ask(client, **fields):
    from robot_id_msgs.srv import Identify

    return client.call(
        Identify, 'identification_server/identify', request(Identify.Request, **fields), 60.0
    )


def runs(pid):
    try:
        return Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def workers_of(server):
    task = Path(f'/proc/{server.process.pid}/task')
    return [int(pid) for file in task.glob('*/children') for pid in file.read_text().split()]
