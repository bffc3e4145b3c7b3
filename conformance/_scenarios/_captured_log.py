"""Everything that is logged while a block runs, at the lowest level. One at a time."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator

from typing_extensions import override

_lock = threading.Lock()


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(level=logging.NOTSET)
        self.lines: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001 - why: a foreign record whose text cannot be made
            text = f"{record.msg} {record.args}"
        if record.exc_info:
            text += f" {record.exc_info[1]!r}"
        self.lines.append(f"{record.name}: {text}")


@contextlib.contextmanager
def captured_log() -> Iterator[list[str]]:
    """Yield the lines that any logger writes meanwhile; the loggers are as before afterwards."""
    root, kept = logging.getLogger(), _Kept()
    with _lock:
        level = root.level
        root.addHandler(kept)
        root.setLevel(logging.DEBUG)
        try:
            yield kept.lines
        finally:
            root.setLevel(level)
            root.removeHandler(kept)
