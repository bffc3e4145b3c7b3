"""Retries as plain lines, for logs, pipes and terminals without control sequences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .._terminal import shortened, withdrawn_words
from ._log import TimedEvent
from ._status import RetryFold, RetryRow

WIDTH: Final = 80


def plain_line(row: RetryRow, *, now_ms: int, width: int = WIDTH) -> str:
    """Return one row as one line of at most ``width`` characters."""
    line = f"retry {row.count} {row.provider} "
    if row.error is not None:
        line += f"gave up: {row.error}"
    else:
        line += f"{row.reason}: {state_words(row, now_ms=now_ms)}"
        if row.withdrawn_characters:
            line += f", {withdrawn_words(row.withdrawn_characters)}"
    return shortened(line, width)


def plain_lines(rows: Iterable[RetryRow], *, now_ms: int, width: int = WIDTH) -> list[str]:
    """Return one line for each row."""
    return [plain_line(row, now_ms=now_ms, width=width) for row in rows]


class RetryLines:
    """Lines of a log under way: one whenever a row changes, and none in between.

    Print what ``add`` returns for each event, as the log takes it.
    """

    def __init__(self, *, width: int = WIDTH) -> None:
        self._fold = RetryFold()
        self._shown: dict[str, RetryRow] = {}
        self._width = width

    def add(self, event: TimedEvent) -> list[str]:
        """Take the next event; return the lines that it adds."""
        self._fold.add(event)
        changed = [row for row in self._fold.rows if self._shown.get(row.retry_id) is not row]
        self._shown = {row.retry_id: row for row in self._fold.rows}
        return plain_lines(changed, now_ms=event.time_ms, width=self._width)


def state_words(row: RetryRow, *, now_ms: int) -> str:
    """Return ``in 4 s``, ``started`` or ``cancelled``."""
    left = row.seconds_left(now_ms)
    return row.state if left is None else f"in {left} s"
