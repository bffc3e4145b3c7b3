"""A log in a SQLite database: one row an event, each in a transaction of its own."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from typing_extensions import override

from .._clock import wall_time_ms
from ._errors import LogConflictError, LogDamagedError, LogVersionError, LogWriteError
from ._event import Event
from ._invariants import AnyInvariant
from ._loading import collector_paused
from ._log import AppendOnlyLog

# "dshl" in ASCII: how ``file`` and we tell this database from others.
APPLICATION_ID: Final = 0x6473686C
VERSION: Final = 1

# Section E of the systems.
BUSY_TIMEOUT_S: Final = 5.0

_CREATE: Final = "CREATE TABLE event (seq INTEGER PRIMARY KEY, line TEXT NOT NULL)"
_TAIL: Final = "SELECT coalesce(max(seq), -1) FROM event"


class SqliteLog(AppendOnlyLog):
    """A ``SessionLog`` in a SQLite database. The database is made where there is none.

    WAL, ``synchronous=FULL``. Others may read at any time. Each append checks in its own
    immediate transaction that the log still ends where this object thinks it does.

    Args:
        path: The file; its folder exists and can hold a write-ahead log (no network share).
        invariants: See ``AppendOnlyLog``.
        now_ms: See ``AppendOnlyLog``.

    Raises:
        LogVersionError: The file is of another program or version; it was not changed.
        LogDamagedError: A row cannot be read, is missing, or breaks an invariant. The message
            names the row.
        LogWriteError: The file cannot be opened or written, or is locked for 5 s.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        invariants: Iterable[AnyInvariant] = (),
        now_ms: Callable[[], int] = wall_time_ms,
    ) -> None:
        super().__init__(invariants=invariants, now_ms=now_ms)
        self._path = Path(path)
        try:
            self._database = _connect(self._path)
        except sqlite3.Error as error:
            raise LogWriteError(f"{self._path}: {error}") from error
        try:
            with collector_paused():
                self._open()
        except BaseException:  # why: damage, a foreign version, Ctrl-C; the file is let go of
            self._database.close()
            raise

    def _open(self) -> None:
        try:
            if _check_version(self._database, self._path):
                self._create()
            self._set_durable()
            where = f"{self._path}, row"
            for event in _rows(self._database, self._path):
                self._load(event, where, event.seq)
        except sqlite3.Error as error:
            raise _translated(error, self._path) from error
        self._loaded(str(self._path))

    def _create(self) -> None:
        self._set_durable()
        with _immediate(self._database):
            # Two may have found it empty; the second one finds it made.
            if _check_version(self._database, self._path):
                self._database.execute(_CREATE)
                self._database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._database.execute(f"PRAGMA user_version = {VERSION}")

    def _set_durable(self) -> None:
        (mode,) = self._database.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != b"wal":
            raise LogWriteError(f"{self._path}: no write-ahead log is possible here")
        self._database.execute("PRAGMA synchronous = FULL")

    @override
    def _store(self, event: Event) -> None:
        try:
            with _immediate(self._database):
                (tail,) = self._database.execute(_TAIL).fetchone()
                if tail != event.seq - 1:
                    raise LogConflictError(
                        f"{self._path}: somebody else has written: the log ends with event {tail}, "
                        f"not with {event.seq - 1}"
                    )
                self._database.execute("INSERT INTO event VALUES (?, ?)", (event.seq, event.line()))
        except sqlite3.Error as error:  # full, read-only, failing, locked for too long
            raise _translated(error, self._path) from error

    @override
    def _release(self) -> None:
        self._database.close()


class _immediate:  # noqa: N801 - why: reads as the transaction that it is
    """A transaction that takes the writer's place at once, and is rolled back on any error."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(self, exc_type: object, *_: object) -> None:
        try:
            if exc_type is None:
                self._database.execute("COMMIT")
        finally:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")


def read_sqlite(path: Path) -> Iterator[Event]:
    """Yield the events of a database without taking the writer's place.

    Raises:
        LogVersionError: The file is of another program or version.
        LogDamagedError: It is no database, or a row cannot be read.
        LogWriteError: It cannot be opened.
    """
    try:
        with closing(_connect(path, mode="ro")) as database:
            if not _check_version(database, path):
                yield from _rows(database, path)
    except sqlite3.Error as error:
        raise _translated(error, path) from error


def _connect(path: Path, *, mode: str = "rwc") -> sqlite3.Connection:
    # A URI, so that a name such as ``file:x`` or ``:memory:`` is a file like any other.
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    database = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    database.text_factory = bytes
    return database


def _check_version(database: sqlite3.Connection, path: Path) -> bool:
    """Return whether the database is empty, and refuse one that is not ours."""
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return True
    if application != APPLICATION_ID:
        raise LogVersionError(f"{path}: a database of another program")
    if version != VERSION:
        raise LogVersionError(f"{path}: version {version}; this program reads {VERSION}")
    return False


def _rows(database: sqlite3.Connection, path: Path) -> Iterator[Event]:
    for seq, line in database.execute("SELECT seq, line FROM event ORDER BY seq"):
        try:
            event = Event.from_line(line)
        except (ValueError, TypeError) as error:  # TypeError: a number in place of a line
            raise LogDamagedError(f"{path}, row {seq}: {error}") from error
        if event.seq != seq:
            raise LogDamagedError(f"{path}, row {seq}: it holds event {event.seq}")
        yield event


def _translated(error: sqlite3.Error, path: Path) -> LogDamagedError | LogWriteError:
    # What is no database at all is a DatabaseError itself; what cannot be done now, a subclass.
    if type(error) is sqlite3.DatabaseError:
        return LogDamagedError(f"{path}: {error}")
    return LogWriteError(f"{path}: {error}")
