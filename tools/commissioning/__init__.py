"""
The mistakes of commissioning on free-running robots, as processes on MuJoCo.

    python tools/isolated.py python -m tools.commissioning --page doc/nodes/faults.md

Each row starts a plant and a controller, makes one mistake between them and tells how it was named
and the largest torque, speed and motion that occurred.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Helpers that the tests of nodes use too: `from running.client import Client`.
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / 'tools')) if path not in sys.path]
