"""A conversation to write into any log, and the ways to open one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from adapter_sdk import (
    STOP,
    TOOL_CALLS,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    Message,
    TextBlock,
    TextDelta,
    ToolCallBlock,
    ToolResultBlock,
    assistant,
    user,
)
from adapter_sdk.session import (
    AppendOnlyLog,
    Event,
    JsonlLog,
    MemoryLog,
    SessionLog,
    SqliteLog,
    chunk_to_json,
    message_to_json,
)

CALL: Final = ToolCallBlock("c1", "clock", "{}")
RESULT: Final = ToolResultBlock("c1", (TextBlock("noon"),))
FAILURE: Final = LlmFailure(message="busy", code="SERVER", status=503)
FAILED: Final = Finish(FinishReason("error", FAILURE))
HALF: Final = (BlockStart(0, "text"), TextDelta(0, "It is"))
WHOLE: Final = (*HALF, TextDelta(0, " noon"), BlockEnd(0, TextBlock("It is noon")), Finish(STOP))
CALLING: Final = (BlockStart(0, "tool-call"), BlockEnd(0, CALL), Finish(TOOL_CALLS))

# What the whole of ``talk`` amounts to.
TALKED: Final[tuple[Message, ...]] = (
    user("What time is it?"),
    assistant(CALL),
    user(RESULT),
    assistant("It is noon"),
)


def ticking() -> Callable[[], int]:
    """Return a wall clock that moves on by 1 ms whenever it is read."""
    numbers = itertools.count(1_790_000_000_000)
    return lambda: next(numbers)


class Talk:
    """Writes a conversation, event by event."""

    def __init__(self, log: SessionLog) -> None:
        self.log = log
        self.turn = 0
        self.step = 0
        self.chunk_seqs: list[int] = []

    @property
    def place(self) -> dict[str, Any]:
        return {"turn": self.turn, "step": self.step}

    def begin(self, text: str = "What time is it?") -> None:
        self.turn, self.step = self.turn + 1, 0
        self.log.append("turn/start", {"turn": self.turn})
        data = {"turn": self.turn, "message": message_to_json(user(text))}
        self.log.append("user/message", data, surface_op="append")

    def begin_step(self) -> None:
        self.step += 1
        self.log.append("step/start", {**self.place, "provider": "example", "model": "m"})
        self.request(1)

    def request(self, attempt: int) -> None:
        self.log.append("request/header", {**self.place, "attempt": attempt})
        self.chunk_seqs = []

    def chunks(self, *chunks: Chunk) -> None:
        for chunk in chunks:
            event = self.log.append(
                "assistant/chunk", {**self.place, "chunk": chunk_to_json(chunk)}
            )
            self.chunk_seqs.append(event.seq)

    def commit(self, *blocks: str | ToolCallBlock, **data: Any) -> Event:
        message = message_to_json(assistant(*blocks))
        return self.log.append(
            "assistant/message",
            {**self.place, "message": message, **data},
            surface_op="append" if blocks else None,
            source_event_seqs=self.chunk_seqs,
        )

    def result(self, block: ToolResultBlock = RESULT) -> Event:
        data = {**self.place, "message": message_to_json(user(block))}
        return self.log.append("tool/result", data, surface_op="append")

    def end_step(self) -> None:
        self.log.append("step/end", self.place)

    def end(self, reason: str = "complete") -> None:
        self.log.append("turn/end", {"turn": self.turn, "reason": reason})

    def whole_turn(self) -> None:
        """A failed attempt, a retry, a tool call, its result, an answer."""
        self.begin()
        self.begin_step()
        self.chunks(*HALF, FAILED)
        self.log.append("llm/retry", {"retryId": "r", **self.place, "retry": 1})
        self.request(2)
        self.chunks(*CALLING)
        self.commit(CALL)
        self.log.append("tool/start", {**self.place, "toolCallId": "c1", "name": "clock"})
        self.result()
        self.end_step()
        self.begin_step()
        self.chunks(*WHOLE)
        self.commit("It is noon")
        self.end_step()
        self.end()


def in_memory(_: Path, **options: Any) -> MemoryLog:
    return MemoryLog(**options)


def in_jsonl(folder: Path, **options: Any) -> JsonlLog:
    return JsonlLog(folder / "log.jsonl", **options)


def in_sqlite(folder: Path, **options: Any) -> SqliteLog:
    return SqliteLog(folder / "log.db", **options)


Opening = Callable[..., AppendOnlyLog]
STORED: Final[dict[str, Opening]] = {"jsonl": in_jsonl, "sqlite": in_sqlite}
BACKENDS: Final[dict[str, Opening]] = {"memory": in_memory, **STORED}


def lines_of(log: SessionLog) -> list[str]:
    return [event.line() for event in log.events]
