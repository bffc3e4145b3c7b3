"""What a person sees of a call: a pure fold over its events, and nothing of withdrawn text."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .. import LlmFailure, ReasoningDelta, TextDelta
from .._terminal import seconds_until
from ..retry import DelaySource
from ._events import (
    AssistantChunk,
    LifecycleEvent,
    ResponseCommitted,
    ResponseFailed,
    ResponseInterrupted,
    ResponseStart,
)

RowState: TypeAlias = Literal["open", "interrupted", "failed", "committed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRow:
    """One response.

    Attributes:
        response_id: Its id.
        number: From 1, for people.
        route_id: The route that was asked.
        state: ``open`` while it runs.
        reason: Code, status and message of its failure, or None.
        due_ms: When the wait after it is over, by the clock of whoever feeds the fold; None
            where nothing is waited for.
        delay_source: Whose delay that is, or None.
        withdrawn_characters: How much of its text and reasoning was taken back.
    """

    response_id: str
    number: int
    route_id: str
    state: RowState = "open"
    reason: str | None = None
    due_ms: int | None = None
    delay_source: DelaySource | None = None
    withdrawn_characters: int = 0

    def seconds_left(self, now_ms: int) -> int | None:
        """Return whole seconds until the next response, at least 1; None: nothing is awaited."""
        return None if self.due_ms is None else seconds_until(self.due_ms, now_ms)

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """Return the row for machines: camelCase, absent fields left out, no text of an answer."""
        row: dict[str, Any] = {
            "responseId": self.response_id,
            "number": self.number,
            "routeId": self.route_id,
            "state": self.state,
            "reason": self.reason,
            "secondsLeft": self.seconds_left(now_ms),
            "delaySource": self.delay_source,
            "withdrawnCharacters": self.withdrawn_characters,
        }
        return {name: value for name, value in row.items() if value is not None}


class ResponseFold:
    """The fold, event by event; it works on the events of ``LlmClient.stream`` alone."""

    def __init__(self) -> None:
        self._rows: list[ResponseRow] = []
        self._fragments: list[str] = []
        self.failure: LlmFailure | None = None
        """What ended the call, or None."""

    @property
    def rows(self) -> tuple[ResponseRow, ...]:
        """The responses so far, oldest first."""
        return tuple(self._rows)

    @property
    def text(self) -> str:
        """Text and reasoning of the response under way or committed; nothing withdrawn."""
        return "".join(self._fragments)

    def add(self, event: LifecycleEvent, *, now_ms: int) -> None:
        """Take the next event, which was seen at ``now_ms``."""
        match event:
            case ResponseStart():
                if self._rows:
                    self._change(due_ms=None)
                self._rows.append(
                    ResponseRow(
                        response_id=event.response_id,
                        number=event.response_index + 1,
                        route_id=event.route_id,
                    )
                )
            case AssistantChunk(chunk=TextDelta(text=text) | ReasoningDelta(text=text)):
                self._fragments.append(text)
            case AssistantChunk():
                pass
            case ResponseInterrupted():
                wait_ms = event.scheduled_retry_ms
                self._withdraw()
                self._change(
                    state="interrupted",
                    reason=said(event.failure),
                    due_ms=None if wait_ms is None else now_ms + wait_ms,
                    delay_source=event.delay_source,
                )
            case ResponseFailed():
                self.failure = event.failure
                if event.response_id is not None:
                    self._withdraw()
                    self._change(state="failed", reason=said(event.failure))
                elif self._rows:
                    self._change(due_ms=None)
            case ResponseCommitted():
                self._change(state="committed")

    def _withdraw(self) -> None:
        self._change(withdrawn_characters=len(self.text))
        self._fragments.clear()

    def _change(self, **changes: Any) -> None:
        self._rows[-1] = dataclasses.replace(self._rows[-1], **changes)


def said(failure: LlmFailure) -> str:
    """Return code, status and message on one line."""
    status = "" if failure.status is None else f" {failure.status}"
    return f"{failure.code}{status}: {failure.message}"
