"""What a person sees of a turn: in a terminal as it happens, in a pipe once it stands."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol

from .._clock import wall_time_ms
from .._terminal import without_controls
from ..retry import RetryFold, RetryLines, retry_table
from ..session import Event, message_from_json
from ..session import vocabulary as words

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# A countdown in whole seconds needs no more to be right; text that grows reads well at ten.
_REFRESHES_A_SECOND: Final = 10


# After these the text of an attempt is a message, or nothing.
_ENDS_OF_TEXT: Final = frozenset({words.REQUEST_HEADER, words.ASSISTANT_MESSAGE, words.TURN_END})


class Screen(Protocol):
    """Shows the events of turns."""

    def turn(self) -> AbstractContextManager[object]:
        """Return what spans one turn."""
        ...

    def show(self, event: Event) -> None:
        """Take the next event."""
        ...

    def say(self, line: str) -> None:
        """Show a line of the program's own."""
        ...


class PlainScreen:
    """Lines for pipes and files: only what was committed, so nothing has to be taken back."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._retries = RetryLines()

    def turn(self) -> AbstractContextManager[object]:
        """See ``Screen``."""
        return nullcontext()

    def show(self, event: Event) -> None:
        """See ``Screen``."""
        for line in (*self._retries.add(event), *lines_of(event)):
            self._write(line)

    def say(self, line: str) -> None:
        """See ``Screen``."""
        self._write(line)


class LiveScreen:
    """A terminal: text as it arrives, withdrawn where its attempt fails, and a countdown."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._fold = RetryFold()
        self._lines: list[str] = []
        self._text: list[str] = []

    def turn(self) -> AbstractContextManager[object]:
        """See ``Screen``."""
        from rich.live import Live

        self._fold, self._lines, self._text = RetryFold(), [], []
        return Live(
            console=self._console,
            refresh_per_second=_REFRESHES_A_SECOND,
            get_renderable=self._picture,
        )

    def show(self, event: Event) -> None:
        """See ``Screen``."""
        self._fold.add(event)
        # Part of the picture, for what is printed beside it would stand above the retries.
        self._lines += lines_of(event)
        if event.type == words.ASSISTANT_CHUNK:
            self._take(event.data["chunk"])
        elif event.type in _ENDS_OF_TEXT:
            self._text.clear()

    def _take(self, chunk: dict[str, Any]) -> None:
        if chunk["type"] in ("text-delta", "reasoning-delta"):
            self._text.append(chunk["text"])
        elif chunk["type"] == "finish" and chunk["reason"]["kind"] == "error":
            self._text.clear()  # withdrawn, whoever recovers from it and how

    def say(self, line: str) -> None:
        """See ``Screen``."""
        self._console.print(line, markup=False, highlight=False)

    def _picture(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        parts: list[Any] = []
        if self._fold.rows:
            parts.append(retry_table(self._fold.rows, now_ms=wall_time_ms()))
        parts += [Text(line) for line in self._lines]
        if self._text:
            parts.append(Text(without_controls("".join(self._text)), style="dim"))
        return Group(*parts)


def lines_of(event: Event) -> list[str]:
    """Return the lines that an event adds to what stands."""
    data = event.data
    match event.type:
        case words.ASSISTANT_MESSAGE:
            text = message_from_json(data["message"]).text
            return [without_controls(text)] if text else []
        case words.TOOL_START:
            return [f"[runs {without_controls(data['name'])}]"]
        case words.CONTEXT_SUMMARY:
            return ["[the context was full: the conversation so far was summed up]"]
        case words.TURN_END if data["reason"] != "complete":
            error = data.get("error")
            what = f": {error['code']}: {error['message']}" if error else ""
            return [f"[{data['reason']}{what}]"]
        case _:
            return []
