"""A log by the name of its file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from ._errors import LogWriteError
from ._event import Event
from ._invariants import AnyInvariant
from ._jsonl import JsonlLog
from ._jsonl_scan import scan
from ._loading import collector_paused
from ._memory import MemoryLog
from ._sqlite import SqliteLog, read_sqlite

_JSONL_SUFFIXES: Final = frozenset({".jsonl", ".ndjson"})


def open_log(
    path: str | os.PathLike[str], *, invariants: Iterable[AnyInvariant] = ()
) -> JsonlLog | SqliteLog:
    """Open a log to write: JSON lines for ``.jsonl`` and ``.ndjson``, SQLite for any other name.

    Raises:
        SessionLogError: See ``JsonlLog`` and ``SqliteLog``.
    """
    if _is_jsonl(Path(path)):
        return JsonlLog(path, invariants=invariants)
    return SqliteLog(path, invariants=invariants)


def load_events(
    path: str | os.PathLike[str], *, invariants: Iterable[AnyInvariant] = ()
) -> Sequence[Event]:
    """Return the events of a log that others may write to; nothing is changed or locked.

    What a crash has left half written is left out.

    Raises:
        SessionLogError: See ``JsonlLog`` and ``SqliteLog``.
    """
    with collector_paused():
        return _load(Path(path), invariants)


def _load(file: Path, invariants: Iterable[AnyInvariant]) -> Sequence[Event]:
    if _is_jsonl(file):
        try:
            found = scan(file.read_bytes(), str(file))
        except OSError as error:
            raise LogWriteError(f"{file}: {error.strerror}") from error
        lines = enumerate(found.events, 2)
        return MemoryLog.of(lines, name=str(file), unit="line", invariants=invariants).events
    rows = ((event.seq, event) for event in read_sqlite(file))
    return MemoryLog.of(rows, name=str(file), unit="row", invariants=invariants).events


def _is_jsonl(path: Path) -> bool:
    return path.suffix.lower() in _JSONL_SUFFIXES
