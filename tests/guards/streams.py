"""Streams of any size, and the parts that read them, without a socket."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from adapter_sdk import BlockAssembler, ResponseHead
from adapter_sdk._stream_core import StreamCore
from adapter_sdk.dialects import OpenAIChat

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
HEAD: Final = ResponseHead(200, [("content-type", "text/event-stream")])
DONE: Final = b"data: [DONE]\n\n"
# Small, for a copy at each read of what came before shows in their number.
READ_BYTES: Final = 1 << 10


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    payload = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(payload, separators=(",", ":")).encode() + b"\n\n"


def texts(count: int) -> Iterator[bytes]:
    """An answer of ``count`` short words, an event each."""
    for number in range(count):
        yield event({"content": f" word{number % 10}"})
    yield event({}, "stop") + DONE


def one_large_event(size: int) -> Iterator[bytes]:
    """An answer in one event of ``size`` characters, as it comes from a socket."""
    body = event({"content": "x" * size}) + event({}, "stop") + DONE
    for at in range(0, len(body), READ_BYTES):
        yield body[at : at + READ_BYTES]


def tool_fragments(count: int) -> Iterator[bytes]:
    """One tool call whose arguments come in ``count`` fragments."""
    entry: dict[str, Any] = {
        "index": 0,
        "id": "c1",
        "function": {"name": "f", "arguments": '{"a":"'},
    }
    yield event({"tool_calls": [entry]})
    for _ in range(count):
        yield event({"tool_calls": [{"index": 0, "function": {"arguments": "abcd"}}]})
    entry = {"index": 0, "function": {"arguments": '"}'}}
    yield event({"tool_calls": [entry]}) + event({}, "tool_calls") + DONE


def new_core(*, event_limit_bytes: int = 1 << 28) -> StreamCore:
    core = StreamCore(
        OpenAIChat(terminal="done-sentinel").translator(),
        request_id_headers=(),
        event_limit_bytes=event_limit_bytes,
    )
    core.head(HEAD, received_at=NOW)
    return core


def read(body: Iterable[bytes], assembler: BlockAssembler | None = None) -> int:
    """Read a body to its end as an adapter does; return how many chunks it gave."""
    core, count = new_core(), 0
    for data in body:
        core.data(data)
        while core.out:
            chunk = core.out.popleft()
            count += 1
            if assembler is not None:
                assembler.add(chunk)
    core.end()
    assert core.finished
    return count
