"""What the page works on: one folder, its robots and recordings, and the results so far."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection
from pathlib import Path
from typing import Any

import robot_id as rid
from robot_id.api.view import TABLES, Recorded, recorded, robot_files
from robot_id.exceptions import DataError
from robot_id.studio.job import Job
from robot_id.studio.live import Live

ROBOTS = ('.urdf', '.xacro', '.yaml', '.yml')
BAGS = ('.mcap', '.db3')
# What a job leaves behind is kept here, within the folder.
RESULTS, FIT = 'studio', 'identify'


class Workspace:
    """
    The folder and what was done with it; all tabs of the browser share it.

    :param folder: nothing outside it is listed or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.robot: str = ''
        self.recordings: list[tuple[str, str]] = []  # file, mapping ('' for none)
        self.jobs: list[Job] = []
        self.live: Live | None = None
        self.version = 0
        self._numbers = itertools.count(1)
        self._loaded: dict[tuple[str, str, str, float], Recorded] = {}
        self._reading = threading.Lock()
        self._robots: dict[tuple[str, float], Any] = {}

    def changed(self) -> None:
        """Let every page draw itself anew."""
        self.version += 1

    def robots(self) -> list[str]:
        """Return the files of the folder that describe robots, and the shipped names."""
        found = [path for path in self._files() if path.suffix in ROBOTS]
        own = [self.name(path) for path in found if '.mapping.' not in path.name]
        return [*own, *robot_files()]

    def tables(self) -> list[str]:
        """Return the files of the folder that can be recordings."""
        ends = (*TABLES, *BAGS)
        return [self.name(path) for path in self._files() if path.name.lower().endswith(ends)]

    def mappings(self) -> list[str]:
        """Return the mapping files of the folder."""
        return [self.name(path) for path in self._files() if '.mapping.' in path.name]

    def fits(self) -> list[str]:
        """Return the JSON files of fits in the folder, in the order of their numbers."""
        found = (self.folder / RESULTS).glob(f'{FIT}-*.json')
        return [self.name(path) for path in sorted(found, key=lambda each: (len(each.name), each))]

    def name(self, path: Path) -> str:
        """Return a file as the page shows it."""
        return str(path.relative_to(self.folder))

    def path(self, name: str) -> Path:
        """Return a file of the folder; refuse one outside it."""
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise DataError(f'{name}: not within {self.folder}')
        return path

    def robot_argument(self) -> str:
        """Return the robot as the commands take it."""
        if not self.robot:
            raise DataError('choose a robot first', key='robot')
        return self.robot if self.robot in robot_files() else str(self.path(self.robot))

    def load_robot(self) -> Any:
        """Return the robot of the page."""
        where = self.robot_argument()
        stamp = Path(where).stat().st_mtime if Path(where).exists() else 0.0
        if (where, stamp) not in self._robots:
            self._robots[where, stamp] = rid.load_robot(where)
        return self._robots[where, stamp]

    def data(self, index: int) -> Recorded:
        """Return a chosen recording as it is drawn."""
        name, mapping = self.recordings[index]
        path = self.path(name)
        key = (self.robot, name, mapping, path.stat().st_mtime)
        if (found := self._loaded.get(key)) is not None:
            return found
        # Two tabs that ask for the same hour read it once.
        with self._reading:
            if (found := self._loaded.get(key)) is None:
                # It may be a gigabyte: what it was by another robot or mapping is left behind.
                self._loaded = {each: x for each, x in self._loaded.items() if each[1] != name}
                given = str(self.path(mapping)) if mapping else None
                found = self._loaded[key] = recorded(self.load_robot(), path, given)
        return found

    def full_paths(self, names: Collection[str] | None = None) -> list[tuple[str, str]]:
        """Return recordings, None for all that are chosen, and their mappings as full paths."""
        if not self.recordings:
            raise DataError('add a recording first (Data)', key='recordings')
        return [
            (str(self.path(name)), str(self.path(mapping)) if mapping else '')
            for name, mapping in self.recordings if names is None or name in names
        ]  # fmt: skip

    def add(self, name: str, mapping: str = '') -> int:
        """
        Take a recording into the list, and return its place.

        One that is there already stays at its place, with this mapping: what another tab chooses
        in a list that it sees is what it gets.
        """
        names = [each for each, _ in self.recordings]
        place = names.index(name) if name in names else len(names)
        self.recordings[place : place + 1] = [(name, mapping)]
        self.changed()
        return place

    def remove(self, name: str) -> None:
        """Take a recording off the list; its file stays."""
        self.recordings = [each for each in self.recordings if each[0] != name]
        self._loaded = {each: x for each, x in self._loaded.items() if each[1] != name}
        self.changed()

    def start(self, verb: str, settings: dict[str, Any]) -> Job:
        """Start a piece of work in its own process; it stays in the list."""
        folder = self.folder / RESULTS
        folder.mkdir(exist_ok=True)
        number = next(self._numbers)
        while (folder / f'{verb}-{number}.json').exists():
            number = next(self._numbers)
        settings = settings | {'json': str(folder / f'{verb}-{number}.json')}
        self.jobs.append(Job(verb, number, settings))
        self.changed()
        return self.jobs[-1]

    def cancel(self, job: Job) -> None:
        """End a piece of work."""
        job.cancel()
        self.changed()

    def poll(self) -> None:
        """Take what the workers have answered."""
        for job in self.jobs:
            if job.answer is None and job.poll():
                self.changed()
        if self.live is not None:
            self.live.poll()

    def close(self) -> None:
        """End all workers."""
        for job in self.jobs:
            job.cancel()
        if self.live is not None:
            self.live.close()

    def _files(self) -> list[Path]:
        """Return the files of the folder, two levels deep, hidden ones left out."""
        found: list[Path] = []
        for pattern in ('*', '*/*'):
            found += [
                path for path in sorted(self.folder.glob(pattern))
                if not any(part.startswith('.') for part in path.relative_to(self.folder).parts)
                and path.is_file() and path.resolve().is_relative_to(self.folder)
            ]  # fmt: skip
        return found
