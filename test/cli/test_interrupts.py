"""Ctrl-C that arrives in a callback of C code is neither lost nor printed as a traceback."""

import signal
import subprocess
import sys

# qsort of the C library compares by a callback, which says when it is inside.
SORT = """
import ctypes, time
from robot_id import interrupts
interrupts.keep()
Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

@Compare
def compare(a, b):
    print('inside', flush=True)
    time.sleep(0.3)
    return 0

values = (ctypes.c_int * 2)(3, 1)
try:
    for _ in range(20):
        ctypes.CDLL(None).qsort(values, 2, ctypes.sizeof(ctypes.c_int), compare)
        time.sleep(0.3)
except KeyboardInterrupt:
    print('interrupted')
"""


def test_ctrl_c_in_a_callback_arrives_outside_of_it():
    process = subprocess.Popen(
        [sys.executable, '-c', SORT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert process.stdout.readline() == 'inside\n'
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert said.splitlines()[-1] == 'interrupted'
    assert 'Traceback' not in errors


def test_other_exceptions_of_callbacks_are_still_printed():
    code = SORT.replace('time.sleep(0.3)', "raise ValueError('wrong')").replace('20', '1')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60)
    assert 'ValueError: wrong' in done.stderr
