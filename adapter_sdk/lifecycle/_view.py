"""A call in a terminal: responses, waits, failover, and the text that stands (needs ``rich``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from .._clock import wall_time_ms
from ..retry import DelaySource
from ..retry._live_table import LONGEST_REASON
from ..retry._plain_lines import shortened
from ._events import AssistantChunk, LifecycleEvent
from ._rows import ResponseFold, ResponseRow, RowState, said

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console, RenderableType
    from rich.live import Live

_MARKS: Final[dict[RowState, tuple[str, str]]] = {
    "open": ("…", "cyan"),
    "interrupted": ("↻", "yellow"),
    "failed": ("✗", "red"),
    "committed": ("✓", "green"),
}
_WHOSE: Final[dict[DelaySource, str]] = {
    "provider": "as the provider asked",
    "provider-capped": "the cap; the provider asked for more",
    "backoff": "our own backoff",
}

# A countdown in whole seconds needs no more to be right.
_REFRESHES_A_SECOND: Final = 4


def response_view(fold: ResponseFold, *, now_ms: int) -> RenderableType:
    """Return the call as it stands: a row a response, then the text that was not withdrawn."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1), pad_edge=False)
    for _ in ("mark", "number", "route"):
        table.add_column(no_wrap=True)
    table.add_column()
    for row in fold.rows:
        mark, style = _MARKS[row.state]
        words = Text("\n".join(_lines(row, now_ms)), style=style)
        table.add_row(
            Text(mark, style=style), str(row.number), Text(row.route_id, style="bold"), words
        )
    parts: list[RenderableType] = [table]
    if fold.failure is not None and not any(row.state == "failed" for row in fold.rows):
        parts.append(Text(f"✗ {shortened(said(fold.failure), LONGEST_REASON)}", style="red"))
    if fold.text:
        parts.append(Text(_without_controls(fold.text)))
    return Group(*parts)


class LiveResponses:
    """The view of one call, redrawn in a terminal until the ``with`` block ends.

    Args:
        console: Where to draw; standard output without one.
        now_ms: Returns milliseconds since 1970; defaults to the wall clock.
    """

    def __init__(
        self, *, console: Console | None = None, now_ms: Callable[[], int] = wall_time_ms
    ) -> None:
        self._fold = ResponseFold()
        self._console = console
        self._now_ms = now_ms
        self._live: Live | None = None

    def add(self, event: LifecycleEvent) -> None:
        """Take the next event; all but text is drawn at once, text a moment later."""
        self._fold.add(event, now_ms=self._now_ms())
        if self._live is not None and not isinstance(event, AssistantChunk):
            self._live.refresh()

    def __rich__(self) -> RenderableType:
        return response_view(self._fold, now_ms=self._now_ms())

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


def _lines(row: ResponseRow, now_ms: int) -> list[str]:
    lines = [row.state if row.reason is None else shortened(row.reason, LONGEST_REASON)]
    left = row.seconds_left(now_ms)
    if left is not None and row.delay_source is not None:
        lines.append(f"next in {left} s, {_WHOSE[row.delay_source]}")
    if row.withdrawn_characters:
        plural = "" if row.withdrawn_characters == 1 else "s"
        lines.append(f"{row.withdrawn_characters} character{plural} withdrawn")
    return lines


def _without_controls(text: str) -> str:
    """Return ``text`` without what would move a terminal's cursor: a model may say anything."""
    return "".join(
        character if character.isprintable() or character in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )
