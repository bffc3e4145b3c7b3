"""Retries in a terminal, with a countdown that runs by itself (needs ``rich``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Self

from .._clock import wall_time_ms
from ._log import ASSISTANT_CHUNK, TimedEvent
from ._plain_lines import shortened, state_words, withdrawn_words
from ._status import RetryFold, RetryRow, State

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console, RenderableType
    from rich.live import Live

_MARKS: Final[dict[State, tuple[str, str]]] = {
    "scheduled": ("◷", "yellow"),
    "started": ("↻", "cyan"),
    "cancelled": ("⊘", "dim"),
}
_GAVE_UP: Final = ("✗", "red")

# A countdown in whole seconds needs no more to be right.
_REFRESHES_A_SECOND: Final = 4

# A few lines of a terminal; a gateway's message can have two thousand characters.
LONGEST_REASON: Final = 160


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
            words += f" · {withdrawn_words(row)}"
        text = Text(words, style=style)
        if row.error is not None:
            text.append(f"\ngave up: {shortened(row.error, LONGEST_REASON)}", style="red")
        table.add_row(Text(mark, style=style), row.count, Text(row.provider, style="bold"), text)
    return table


class LiveRetries:
    """A table that counts down in a terminal until the ``with`` block ends.

    Args:
        console: Where to draw; standard output without one.
        now_ms: Returns milliseconds since 1970, by the clock of the log; defaults to the wall
            clock.
    """

    def __init__(
        self, *, console: Console | None = None, now_ms: Callable[[], int] = wall_time_ms
    ) -> None:
        self._fold = RetryFold()
        self._console = console
        self._now_ms = now_ms
        self._live: Live | None = None

    def add(self, event: TimedEvent) -> None:
        """Take the next event; whatever changes a row is drawn at once."""
        self._fold.add(event)
        if self._live is not None and event.type != ASSISTANT_CHUNK:
            self._live.refresh()

    def __rich__(self) -> RenderableType:
        return retry_table(self._fold.rows, now_ms=self._now_ms())

    def __enter__(self) -> Self:
        from rich.live import Live

        self._live = Live(
            console=self._console,
            refresh_per_second=_REFRESHES_A_SECOND,
            get_renderable=self.__rich__,
        )
        self._live.start(refresh=True)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.refresh()
            live.stop()
