"""
`make soak MINUTES=60`: the whole graph with faults drawn at random, and rules that always hold.

Simulator, generator, controller, logger, identification server and on-line identifier run as
processes in real time on the EMPS. Every few seconds a fault is drawn; the report names each one
and what followed.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Helpers that the tests of nodes use too: `from running.client import Client`.
sys.path[:0] = [str(ROOT), str(ROOT / 'tools')]
