"""Whole commands on poor machines: no cache yet, no home, full or read-only disks, limits."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

# A process that compiles may take longer than a case: the command ends itself before.
PATIENCE_S = 20
FULL = 'mount -t tmpfs -o size=16k tmpfs "{0}" && head -c 16384 /dev/zero > "{0}/fill" ; '
READ_ONLY = 'mount --bind "{0}" "{0}" && mount -o remount,ro,bind "{0}" ; '
MAIN = 'from robot_id.cli.main import main; main()'
# What the shell does before; of the folders, one is the cache and the other that of the output.
STATES = {
    'cold cache': '',
    'cold kernels': '',
    'no home': '',
    'full cache': FULL.format('{cache}'),
    'full disk': FULL.format('{out}'),
    'read-only cache': READ_ONLY.format('{cache}'),
    'read-only disk': READ_ONLY.format('{out}'),
    'small files': 'ulimit -f {draw} ; ',
    'few open files': 'ulimit -n {draw} ; ',
}
# Without these, of the output, "cannot be written" is a wrong word about the cache.
OUTPUT = ('full disk', 'read-only disk', 'small files', 'few open files')
COUNTS = {'small files': (0, 1, 4, 64), 'few open files': (16, 24, 40)}


class Broken(Exception):
    """A command that ended by a signal, with a traceback, or blamed the wrong file."""


class Machines:
    """
    Runs commands in processes of their own.

    :param folder: where a case may write.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        mounts = os.geteuid() == 0 and shutil.which('unshare') is not None
        self._states = [state for state, line in STATES.items() if mounts or 'mount' not in line]

    def run(self, draw: random.Random, words: list[str]) -> str:
        """
        Run one command line.

        :param words: verb and options; `{out}` stands for the folder of its output.
        :return: the state of the machine.
        """
        state = draw.choice(self._states)
        cache, out = self._folder / 'cache', self._folder / 'out'
        for each in (cache, out):
            each.mkdir()
        count = draw.choice(COUNTS.get(state, (0,)))
        before = STATES[state].format(cache=cache, out=out, draw=count)
        words = [word.replace('{out}', str(out)) for word in words]
        command = ['sh', '-c', f'{before} exec "$0" "$@"', sys.executable, '-c', MAIN]
        if 'mount' in before:
            command = ['unshare', '-m', *command]
        home = '/dev/null/home' if state == 'no home' else str(cache)
        surroundings = {**os.environ, 'HOME': home, 'XDG_CACHE_HOME': home}
        if state == 'cold kernels':
            surroundings['NUMBA_CACHE_DIR'] = str(cache / 'kernels')
        done = subprocess.run(
            [*command, *words, '--time-limit', str(PATIENCE_S)],
            env=surroundings, capture_output=True, text=True, errors='replace', check=False,
        )  # fmt: skip
        said = f'{state} {count}: {" ".join(words)}: {done.returncode}: {done.stderr[-300:]}'
        if not 0 <= done.returncode < 100 or 'Traceback' in done.stderr:
            raise Broken(said)
        if state not in OUTPUT and 'output cannot be written' in done.stderr:
            raise Broken(said)
        return state
