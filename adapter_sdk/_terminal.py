"""What the parts that show something in a terminal share: words, safe text, and a live drawing."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Self

from ._clock import wall_time_ms

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console, RenderableType
    from rich.live import Live

# A few lines of a terminal; a gateway's message can have two thousand characters.
LONGEST_REASON: Final = 160

# A countdown in whole seconds needs no more to be right.
_REFRESHES_A_SECOND: Final = 4


def shortened(text: str, most: int) -> str:
    """Return ``text`` in at most ``most`` characters, with an ellipsis where it is cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def without_controls(text: str) -> str:
    """Return ``text`` without what would move a terminal's cursor: a model may say anything."""
    return "".join(
        character if character.isprintable() or character in "\n\t" else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def withdrawn_words(characters: int) -> str:
    """Return how much text was taken back; never the text."""
    plural = "" if characters == 1 else "s"
    return f"{characters} character{plural} withdrawn"


def seconds_until(due_ms: int, now_ms: int) -> int:
    """Return whole seconds, at least 1: what is still awaited is not over."""
    return max(1, math.ceil((due_ms - now_ms) / 1000))


class LiveDrawing(ABC):
    """A picture that is redrawn in a terminal until the ``with`` block ends (needs ``rich``).

    Args:
        console: Where to draw; standard output without one.
        now_ms: Returns milliseconds since 1970, by the clock of the events; defaults to the
            wall clock.
    """

    def __init__(
        self, *, console: Console | None = None, now_ms: Callable[[], int] = wall_time_ms
    ) -> None:
        self._console = console
        self._now_ms = now_ms
        self._live: Live | None = None

    @abstractmethod
    def __rich__(self) -> RenderableType:
        """Return the picture as it is now."""

    def _redraw(self) -> None:
        """Draw at once, not a moment later."""
        if self._live is not None:
            self._live.refresh()

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
