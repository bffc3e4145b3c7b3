"""What a person sees of retries: a pure fold over the log, the same for live and replayed events.

Rows hold no text of an answer, only which chunks were taken back and how many characters that
was: withdrawn text has no way out through here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from .. import codes
from .._terminal import seconds_until
from ._log import (
    ASSISTANT_CHUNK,
    ASSISTANT_MESSAGE,
    REQUEST_HEADER,
    RETRY,
    RETRY_STARTED,
    STEP_END,
    STEP_START,
    TURN_END,
    TURN_START,
    TimedEvent,
)

State: TypeAlias = Literal["scheduled", "started", "cancelled"]

# The chunks whose text a person watches grow.
_SHOWN_CHUNKS: Final = frozenset({"text-delta", "reasoning-delta"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRow:
    """One chain of retries, at the place of its first.

    Attributes:
        retry_id: The chain's id.
        seq: The number of its first ``llm/retry`` in the log.
        turn: The turn.
        step: The step.
        provider: The provider's name.
        state: ``scheduled``: a wait runs; ``started``: the attempt was sent; ``cancelled``: the
            wait was broken off.
        retry: The number of the latest retry, from 1.
        max_retries: The limit, or None where there is none.
        reason: Code and status of the failure that it answers, ``RATE_LIMIT 429``.
        due_ms: When the wait is over, milliseconds since 1970, by the log's own clock.
        withdrawn_seqs: The chunks of the discarded attempts.
        withdrawn_characters: How much text and reasoning they held.
        error: Code, status and message of the failure that ended an exhausted chain, or None.
    """

    retry_id: str
    seq: int
    turn: int
    step: int
    provider: str
    state: State
    retry: int
    max_retries: int | None
    reason: str
    due_ms: int
    withdrawn_seqs: tuple[int, ...] = ()
    withdrawn_characters: int = 0
    error: str | None = None

    @property
    def count(self) -> str:
        """``2/5``, or ``2/∞`` where there is no limit."""
        return f"{self.retry}/{'∞' if self.max_retries is None else self.max_retries}"

    def seconds_left(self, now_ms: int) -> int | None:
        """Return whole seconds until the attempt, at least 1; None where nothing is awaited."""
        return None if self.state != "scheduled" else seconds_until(self.due_ms, now_ms)

    def to_json(self, now_ms: int) -> dict[str, Any]:
        """Return the row for machines: camelCase, absent fields left out, no text of an answer."""
        row: dict[str, Any] = {
            "retryId": self.retry_id,
            "turn": self.turn,
            "step": self.step,
            "provider": self.provider,
            "state": self.state,
            "retry": self.retry,
            "maxRetries": self.max_retries,
            "reason": self.reason,
            "secondsLeft": self.seconds_left(now_ms),
            "withdrawnSeqs": list(self.withdrawn_seqs),
            "withdrawnCharacters": self.withdrawn_characters,
            "error": self.error,
        }
        return {name: value for name, value in row.items() if value is not None}


class RetryFold:
    """The fold, event by event: each costs the same, however long the log."""

    def __init__(self) -> None:
        self._rows: dict[str, RetryRow] = {}
        # Ids of the step under way, and the chunks of its attempt under way: seq and text.
        self._own: list[str] = []
        self._attempt: list[tuple[int, str]] = []

    @property
    def rows(self) -> tuple[RetryRow, ...]:
        """The rows so far, oldest chain first."""
        return tuple(self._rows.values())

    @property
    def text(self) -> str:
        """Text and reasoning of the attempt under way, for a screen; nothing withdrawn."""
        return "".join(text for _, text in self._attempt)

    def add(self, event: TimedEvent) -> None:
        """Take the next event."""
        take = _TAKE.get(event.type)
        if take is not None:
            take(self, event)

    def _chunk(self, event: TimedEvent) -> None:
        chunk = event.data["chunk"]
        text = chunk.get("text", "") if chunk.get("type") in _SHOWN_CHUNKS else ""
        self._attempt.append((event.seq, text))

    def _attempt_begins(self, _: TimedEvent) -> None:
        # Whoever recovers from a failure, its text is not the beginning of the next attempt's.
        self._attempt.clear()

    def _retry_started(self, event: TimedEvent) -> None:
        self._change(event.data["retryId"], state="started")

    def _message(self, _: TimedEvent) -> None:
        self._own.clear()
        self._attempt.clear()

    def _start(self, _: TimedEvent) -> None:
        self._cancel()
        self._own.clear()
        self._attempt.clear()

    def _step_end(self, _: TimedEvent) -> None:
        self._cancel()

    def _retry(self, event: TimedEvent) -> None:
        data = event.data
        retry_id: str = data["retryId"]
        row = self._rows.get(retry_id) or RetryRow(
            retry_id=retry_id,
            seq=event.seq,
            turn=data["turn"],
            step=data["step"],
            provider=data["provider"],
            state="scheduled",
            retry=0,
            max_retries=data.get("maxRetries"),
            reason="",
            due_ms=0,
        )
        self._rows[retry_id] = dataclasses.replace(
            row,
            state="scheduled",
            retry=data["retry"],
            reason=_reason(data["failure"]),
            due_ms=event.time_ms + data["delayMs"],
        )
        if retry_id not in self._own:
            self._own.append(retry_id)
        self._withdraw(retry_id)

    def _turn_end(self, event: TimedEvent) -> None:
        error: Mapping[str, Any] | None = event.data.get("error")
        self._cancel()
        if error is not None and error["code"] != codes.ABORTED and self._own:
            last = self._own[-1]
            if self._rows[last].state == "started":
                self._withdraw(last)
                self._change(last, error=f"{_reason(error)}: {error['message']}")
        self._own.clear()
        self._attempt.clear()

    def _withdraw(self, retry_id: str) -> None:
        row = self._rows[retry_id]
        self._change(
            retry_id,
            withdrawn_seqs=row.withdrawn_seqs + tuple(seq for seq, _ in self._attempt),
            withdrawn_characters=row.withdrawn_characters + len(self.text),
        )
        self._attempt.clear()

    def _cancel(self) -> None:
        for retry_id in self._own:
            if self._rows[retry_id].state == "scheduled":
                self._change(retry_id, state="cancelled")

    def _change(self, retry_id: str, **changes: Any) -> None:
        row = self._rows.get(retry_id)
        if row is not None:  # a log that begins in the middle may start what it never scheduled
            self._rows[retry_id] = dataclasses.replace(row, **changes)


_TAKE: Final[dict[str, Callable[[RetryFold, TimedEvent], None]]] = {
    ASSISTANT_CHUNK: RetryFold._chunk,
    ASSISTANT_MESSAGE: RetryFold._message,
    REQUEST_HEADER: RetryFold._attempt_begins,
    RETRY: RetryFold._retry,
    RETRY_STARTED: RetryFold._retry_started,
    STEP_START: RetryFold._start,
    TURN_START: RetryFold._start,
    STEP_END: RetryFold._step_end,
    TURN_END: RetryFold._turn_end,
}


def retry_status(events: Iterable[TimedEvent]) -> tuple[RetryRow, ...]:
    """Return one row for each retry id of a log, oldest chain first.

    Args:
        events: A log that ``check_retry_events`` has nothing against, or its tail.

    Source: section G of the systems.
    """
    fold = RetryFold()
    for event in events:
        fold.add(event)
    return fold.rows


def _reason(failure: Mapping[str, Any]) -> str:
    status = failure.get("status")
    return str(failure["code"]) if status is None else f"{failure['code']} {status}"
