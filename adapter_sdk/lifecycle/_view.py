"""A call in a terminal: responses, waits, failover, and the text that stands (needs ``rich``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from .._clock import wall_time_ms
from .._terminal import LONGEST_REASON, LiveDrawing, shortened, withdrawn_words, without_controls
from ..retry import DelaySource
from ._events import AssistantChunk, LifecycleEvent
from ._rows import ResponseFold, ResponseRow, RowState, said

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

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
        parts.append(Text(without_controls(fold.text)))
    return Group(*parts)


class LiveResponses(LiveDrawing):
    """The view of one call, redrawn in a terminal until the ``with`` block ends.

    Args:
        console: Where to draw; standard output without one.
        now_ms: Returns milliseconds since 1970; defaults to the wall clock.
    """

    def __init__(
        self, *, console: Console | None = None, now_ms: Callable[[], int] = wall_time_ms
    ) -> None:
        super().__init__(console=console, now_ms=now_ms)
        self._fold = ResponseFold()

    def add(self, event: LifecycleEvent) -> None:
        """Take the next event; all but text is drawn at once, text a moment later."""
        self._fold.add(event, now_ms=self._now_ms())
        if not isinstance(event, AssistantChunk):
            self._redraw()

    @override
    def __rich__(self) -> RenderableType:
        return response_view(self._fold, now_ms=self._now_ms())


def _lines(row: ResponseRow, now_ms: int) -> list[str]:
    lines = [row.state if row.reason is None else shortened(row.reason, LONGEST_REASON)]
    left = row.seconds_left(now_ms)
    if left is not None and row.delay_source is not None:
        lines.append(f"next in {left} s, {_WHOSE[row.delay_source]}")
    if row.withdrawn_characters:
        lines.append(withdrawn_words(row.withdrawn_characters))
    return lines
