"""
The mistakes of commissioning on free-running MuJoCo robots.

    python -m tools.commissioning --page doc/studies/commissioning.md
    python tools/isolated.py python -m tools.commissioning --processes --robots scara

Each row makes one mistake between a plant and its controller and tells how it was named and the
largest torque, speed and motion that occurred: in one process, where plant and controller take
turns and a busy machine changes nothing, or as two processes in real time.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Helpers that the tests of nodes use too: `from running.client import Client`.
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / 'tools')) if path not in sys.path]
