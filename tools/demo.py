"""The first demo: one node process publishes dynamic parameters, another receives them."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

NODES = Path(sys.prefix) / 'lib/robot_id'


def main() -> None:
    """Start both nodes, wait until three messages have arrived, stop the talker."""
    count = 3
    print('demo: starting demo_talker and demo_listener, two processes on a domain of their own')
    talker = subprocess.Popen([NODES / 'demo_talker'])
    try:
        listener = [NODES / 'demo_listener', '--ros-args', '-p', f'count:={count}']
        code = subprocess.run(listener, timeout=60, check=False).returncode
    except subprocess.TimeoutExpired:
        sys.exit(f'demo: the listener did not receive {count} messages within 60 s')
    finally:
        talker.send_signal(signal.SIGINT)
        talker_code = talker.wait(10)
    if code or talker_code:
        sys.exit(f'demo: a node failed (listener exit {code}, talker exit {talker_code})')
    print(f'demo: {count} messages received, both nodes ended cleanly')


if __name__ == '__main__':
    main()
