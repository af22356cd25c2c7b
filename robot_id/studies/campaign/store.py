"""The folder of a campaign: rows as they come in `runs/`, its file, its summary."""

from __future__ import annotations

import fcntl
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robot_id import files
from robot_id.exceptions import DataError
from robot_id.studies.campaign.cell import Row
from robot_id.studies.campaign.labels import CONDITIONS

FILE, SUMMARY, RUNS = 'campaign.yaml', 'summary.json', 'runs'
LISTS = {'truth', 'values', 'std', 'bound'}
WHOLE = ('repetition', 'seed', 'iterations', 'simulations')
NUMBERS = (
    'parameter_error_percent', 'torque_error_percent', 'fit_error_percent', 'seconds',
    'cell_seconds',
)  # fmt: skip
TEXTS = ('key', 'cell', *CONDITIONS, 'method', 'verdict', 'failure', 'versions')
# Columns that depend on the machine or the day.
TIMES = ('seconds', 'cell_seconds')


def schema() -> Any:
    """Return the columns of the table."""
    import pyarrow as pa

    columns = [(name, pa.string()) for name in TEXTS]
    columns += [(name, pa.int64()) for name in WHOLE]
    columns += [(name, pa.float64()) for name in NUMBERS]
    columns += [('names', pa.list_(pa.string()))]
    columns += [(name, pa.list_(pa.float64())) for name in sorted(LISTS)]
    return pa.schema(columns)


class Store:
    """
    A folder of a campaign, for one writer at a time.

    :param folder: made when it does not exist; refused when it holds something else.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.runs = self.folder / RUNS

    def create(self, campaign_file: Path) -> None:
        """Make the folder, with a copy of the campaign file."""
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise DataError(f'{self.folder}: it is a file, a campaign needs a folder')
        if os.path.isdir(self.folder) and any(self.folder.iterdir()) and not self.is_campaign():
            raise DataError(f'{self.folder}: it holds files that are not of a campaign')
        try:
            self.runs.mkdir(parents=True, exist_ok=True)
            target = self.folder / FILE
            text = campaign_file.read_text(encoding='utf-8')
            if not os.path.exists(target) or target.read_text(encoding='utf-8') != text:
                files.write_text(target, text, keep_previous=True)
        except OSError as error:
            raise DataError(f'{self.folder}: {error.strerror or error}') from error

    def is_campaign(self) -> bool:
        """Whether the folder is one of a campaign."""
        return os.path.isdir(self.runs)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder against other campaigns; the system unlocks it when this one ends."""
        with (self.folder / '.lock').open('w') as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise DataError(f'{self.folder}: another campaign is writing into it') from error
            # Drafts of one that was killed while it wrote.
            for draft in self.runs.glob('.*.parquet'):
                draft.unlink(missing_ok=True)
            yield

    def append(self, rows: list[Row]) -> None:
        """Write rows to a new file, completely or not at all."""
        import pyarrow as pa
        from pyarrow import parquet

        if not rows:
            return
        name = f'{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.parquet'
        with files.replacing(self.runs / name) as draft:
            parquet.write_table(pa.Table.from_pylist(rows, schema()), draft)

    def keys(self) -> set[str]:
        """Return the keys of all cells that are done."""
        return {key for part in self._parts(['key']) for key in part['key'].to_pylist()}

    def table(self, keys: Iterable[str] | None = None) -> Any:
        """
        Return the rows sorted by their key, each once.

        :param keys: of the cells that are wanted; None: all.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = pa.concat_tables([schema().empty_table(), *self._parts()])
        first: dict[str, int] = {}
        for place, key in enumerate(whole['key'].to_pylist()):
            first.setdefault(key, place)
        if keys is not None:
            first = {key: first[key] for key in keys if key in first}
        whole = whole.take(pa.array(sorted(first.values()), pa.int64()))
        return whole.take(pc.sort_indices(whole['key']))

    def rows(self) -> list[Row]:
        """Return the rows sorted by their key."""
        return self.table().to_pylist()

    def _parts(self, columns: list[str] | None = None) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import parquet

        for path in sorted(self.runs.glob('[!.]*.parquet')):
            try:
                part = parquet.read_table(os.fspath(path), columns=columns)
            except (OSError, pa.ArrowException) as error:
                raise DataError(f'{path}: not a table of runs ({error}), delete it') from error
            yield part if columns else part.select(schema().names)
