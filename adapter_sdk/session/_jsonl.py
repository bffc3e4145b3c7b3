"""A log in a file of JSON lines: one header, then one event a line, each on the disk at once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from typing_extensions import override

from .._clock import wall_time_ms
from ._errors import LogConflictError, LogWriteError
from ._event import Event
from ._invariants import AnyInvariant
from ._jsonl_scan import FIRST_LINE, scan
from ._loading import collector_paused
from ._log import AppendOnlyLog

# A conversation is nobody else's.
_MODE = 0o600


class JsonlLog(AppendOnlyLog):
    """A ``SessionLog`` in a file. The file is made where there is none.

    Lines end in LF alone and are synced one by one. The file is locked while it is open.

    Attributes:
        trimmed: Bytes that a crash had left half written, and that were cut off on opening.

    Args:
        path: The file; its folder exists.
        invariants: See ``AppendOnlyLog``.
        now_ms: See ``AppendOnlyLog``.

    Raises:
        LogConflictError: Another log has the file open.
        LogVersionError: The file is of another program or version; it was not changed.
        LogDamagedError: A line before the last ``turn/end`` cannot be read, a number is missing
            or there twice, an invariant does not hold. The message names the line.
        LogWriteError: The file cannot be opened or written.
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
        self.trimmed = b""
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(self._path, flags, _MODE)
        except OSError as error:
            raise LogWriteError(f"{self._path}: {error.strerror}") from error
        try:
            self._lock()
            with collector_paused():
                self._read()
        except BaseException:  # why: damage, a foreign version, Ctrl-C; the file is let go of
            os.close(self._file)
            raise

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LogConflictError(f"{self._path}: another log has this file open") from error
        except OSError as error:  # a file system without locks
            raise LogWriteError(f"{self._path}: {error.strerror}") from error

    def _read(self) -> None:
        with open(self._file, "rb", closefd=False) as stored:
            data = stored.read()
        found = scan(data, str(self._path))
        where = f"{self._path}, line"
        for number, event in enumerate(found.events, 2):
            self._load(event, where, number)
        self._loaded(str(self._path))
        try:
            if found.torn:
                os.ftruncate(self._file, found.end)
                os.fsync(self._file)
            if not found.end:
                self._write(FIRST_LINE)
                _sync_folder(self._path.parent)
        except OSError as error:
            raise LogWriteError(f"{self._path}: {error.strerror}") from error
        self.trimmed = found.torn

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._file, rest) :]
        os.fsync(self._file)

    @override
    def _store(self, event: Event) -> None:
        try:
            self._write(event.line().encode() + b"\n")
        except OSError as error:  # full, read-only, failing
            raise LogWriteError(f"{self._path}: {error.strerror}") from error

    @override
    def _release(self) -> None:
        os.close(self._file)


def _sync_folder(folder: Path) -> None:
    """Make a new file's name as durable as its bytes."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
