"""The event log of a conversation: what happened, in order, for good.

Three backends hold the same bytes: memory, JSON lines, SQLite. The messages of the
conversation are derived from it. Import from here; the modules are private. The SDK's core
never imports this package.
"""

from __future__ import annotations

from . import vocabulary
from ._chunk_json import (
    chunk_from_json,
    chunk_to_json,
    finish_from_json,
    finish_to_json,
    usage_from_json,
    usage_to_json,
)
from ._closing import close_turn, recover
from ._errors import (
    InvariantError,
    LogClosedError,
    LogConflictError,
    LogDamagedError,
    LogVersionError,
    LogWriteError,
    SessionLogError,
)
from ._event import Event
from ._invariants import AnyInvariant, Invariant, WholeLog, WholeLogCheck
from ._jsonl import JsonlLog
from ._log import AppendOnlyLog, SessionLog
from ._lossless import LosslessError
from ._memory import MemoryLog
from ._message_json import message_from_json, message_to_json
from ._open import load_events, open_log
from ._progress import OpenCall, Progress, progress_of
from ._reader import LogReader
from ._sqlite import SqliteLog
from ._surface import Surface, derive_messages
from .vocabulary import SurfaceOp, TurnEndReason

__all__ = [
    "AnyInvariant",
    "AppendOnlyLog",
    "Event",
    "Invariant",
    "InvariantError",
    "JsonlLog",
    "LogClosedError",
    "LogConflictError",
    "LogDamagedError",
    "LogReader",
    "LogVersionError",
    "LogWriteError",
    "LosslessError",
    "MemoryLog",
    "OpenCall",
    "Progress",
    "SessionLog",
    "SessionLogError",
    "SqliteLog",
    "Surface",
    "SurfaceOp",
    "TurnEndReason",
    "WholeLog",
    "WholeLogCheck",
    "chunk_from_json",
    "chunk_to_json",
    "close_turn",
    "derive_messages",
    "finish_from_json",
    "finish_to_json",
    "load_events",
    "message_from_json",
    "message_to_json",
    "open_log",
    "progress_of",
    "recover",
    "usage_from_json",
    "usage_to_json",
    "vocabulary",
]
