"""Command lines of every verb: right ones, of which a word or two is hostile."""

from __future__ import annotations

import random
from pathlib import Path

from robot_id.cli.main import VERBS, cli
from robot_id.export import FORMATS
from tools.fuzz import mutate

# Too long for a case, the start of nodes or a server: their parts are tried by themselves.
LEFT_OUT = ('bench', 'play', 'reproduce', 'studio')
# Endings of files that a verb writes.
_WRITTEN = ('', '.json', '.csv', '.png', '.html', '.urdf', '.xml', '/x/y', '.pdf')


class Verbs:
    """
    Draws command lines over sound files and one mutant.

    :param files: sound inputs by name.
    :param folder: where a case may write.
    :param patience_s: time limit given to each.
    """

    def __init__(self, files: dict[str, Path], folder: Path, patience_s: float) -> None:
        self._files, self._folder, self._patience_s = files, folder, patience_s

    def run(self, draw: random.Random, mutant: tuple[str, Path]) -> None:
        """
        Run one command line.

        :param mutant: name of the sound input it came from, and its file.
        """
        verb = draw.choice([each for each in VERBS if each not in LEFT_OUT])
        words = self._words(verb, draw)
        name, path = mutant
        if draw.random() < 0.5 and str(self._files[name]) in words:
            words[words.index(str(self._files[name]))] = str(path)
        command = cli.get_command(None, verb)  # type: ignore[arg-type]
        assert command is not None
        flags = [each.opts[0] for each in command.params if each.opts[0].startswith('-')]
        for _ in range(draw.choice((0, 1, 1, 2, 3))):
            value = str(draw.choice((*mutate.VALUES, *mutate.OBJECTS, str(path))))
            words += [draw.choice(flags), value.replace('\x00', '')]
        if words and draw.random() < 0.1:
            words.pop(draw.randrange(len(words)))
        cli([verb, '-q', *words, '--time-limit', str(self._patience_s)], standalone_mode=False)

    def sound(self, draw: random.Random) -> list[str]:
        """Return the words of a command line without anything hostile, writing into {out}."""
        verb = draw.choice([each for each in VERBS if each not in LEFT_OUT])
        return [verb, '-q', *self._words(verb, draw, '{out}/')]

    def _words(self, verb: str, draw: random.Random, folder: str = '') -> list[str]:
        file = {name: str(path) for name, path in self._files.items()}
        folder = folder or f'{self._folder}/'
        out = f'{folder}out{draw.randrange(3)}' + draw.choice(_WRITTEN)
        robot = ['--robot', draw.choice(('emps', file['emps.yaml'], file['emps.urdf']))]
        recording = draw.choice(
            [file[k] for k in ('x.csv', 'x.npz', 'x.csv.gz', 'x.mcap', 'x.db3', 'hdf.mat')]
        )
        params = draw.choice(
            (file['result.json'], file['physical.json'], file['model.urdf'], 'urdf')
        )
        known = draw.choice(([], ['--known', file['known.json']], ['--known', '0.1,0,0,0.05']))
        json = ['--json', out] if draw.random() < 0.5 else []
        return {
            'robots': [draw.choice(('emps', file['scara.yaml'], file['tx40.urdf']))],
            'methods': ['idim_wls'],
            'simulate': [*robot, '--out', out, '--seconds', '0.5', *json],
            'check': [*robot, '--data', recording, *draw.choice(([], ['--fix', out])), *json],
            'identify': [*robot, '--data', recording, '--set', 'cutoff_hz=20', *json],
            'excite': [*robot, '--budget', '0.5', '--seconds', '2', '--workers', '1', *json],
            'validate': [*robot, '--params', params, '--data', recording, *json],
            'payload': ['--robot', 'emps', '--loaded', recording, '--params', params, *known,
                        *json],
            'drive-gains': [*robot, '--loaded', recording, '--unloaded', file['x.csv'],
                            '--mass', '3', *json],
            'compare': [file['result.json'], file['other.json'], *json],
            'export': [file['result.json'], '--format', draw.choice(list(FORMATS)), '--out', out,
                       '--force'],
            'campaign': ['report', str(self._folder)],
            'init': [*robot[1:], recording, '--out', out, '--force'],
        }[verb]  # fmt: skip
