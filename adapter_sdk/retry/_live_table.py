"""Retries in a terminal, with a countdown that runs by itself (needs ``rich``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from .._clock import wall_time_ms
from .._terminal import LONGEST_REASON, LiveDrawing, shortened, withdrawn_words
from ._log import ASSISTANT_CHUNK, TimedEvent
from ._plain_lines import state_words
from ._status import RetryFold, RetryRow, State

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_MARKS: Final[dict[State, tuple[str, str]]] = {
    "scheduled": ("◷", "yellow"),
    "started": ("↻", "cyan"),
    "cancelled": ("⊘", "dim"),
}
_GAVE_UP: Final = ("✗", "red")


def retry_table(rows: Iterable[RetryRow], *, now_ms: int) -> RenderableType:
    """Return the rows as a ``rich`` table without lines, as wide as the terminal."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1), pad_edge=False)
    for _ in ("mark", "count", "provider"):
        table.add_column(no_wrap=True)
    table.add_column()
    for row in rows:
        mark, style = _MARKS[row.state] if row.error is None else _GAVE_UP
        words = f"{row.reason} · {state_words(row, now_ms=now_ms)}"
        if row.withdrawn_characters:
            words += f" · {withdrawn_words(row.withdrawn_characters)}"
        text = Text(words, style=style)
        if row.error is not None:
            text.append(f"\ngave up: {shortened(row.error, LONGEST_REASON)}", style="red")
        table.add_row(Text(mark, style=style), row.count, Text(row.provider, style="bold"), text)
    return table


class LiveRetries(LiveDrawing):
    """A table that counts down in a terminal until the ``with`` block ends.

    Args:
        console: Where to draw; standard output without one.
        now_ms: Returns milliseconds since 1970, by the clock of the log; defaults to the wall
            clock.
    """

    def __init__(
        self, *, console: Console | None = None, now_ms: Callable[[], int] = wall_time_ms
    ) -> None:
        super().__init__(console=console, now_ms=now_ms)
        self._fold = RetryFold()

    def add(self, event: TimedEvent) -> None:
        """Take the next event; whatever changes a row is drawn at once."""
        self._fold.add(event)
        if event.type != ASSISTANT_CHUNK:
            self._redraw()

    @override
    def __rich__(self) -> RenderableType:
        return retry_table(self._fold.rows, now_ms=self._now_ms())
