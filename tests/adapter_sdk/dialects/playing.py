"""Play an answer to a dialect, as the transport would deliver it, and say what its caller saw."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Final

import pytest

from adapter_sdk import (
    BlockAssembler,
    Chunk,
    Dialect,
    Finish,
    FinishReason,
    Message,
    ReasoningBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    UsageReport,
)
from adapter_sdk._http import ResponseHead
from adapter_sdk._stream_core import StreamCore
from adapter_sdk.dialects._payload import event_payload
from adapter_sdk.testing import Split, byte_by_byte, seeded, whole
from conformance._grammar import grammar_errors

EVENT_STREAM: Final = "text/event-stream"
JSON: Final = "application/json"

SPLITS: Final[Sequence[Split]] = (whole, byte_by_byte, seeded(1), seeded(2), seeded(3, longest=9))

_NEVER: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Good:
    """What a caller saw of a call that ended well."""

    finish: str = "stop"
    text: str = ""
    reasoning: tuple[str, ...] = ()
    tools: tuple[tuple[str, str, str], ...] = ()
    usage: TokenUsage | None = None


@dataclass(frozen=True, kw_only=True)
class Bad:
    """What a caller saw of a call that failed."""

    code: str
    text: str = ""
    usage: TokenUsage | None = None
    status: int | None = 200


def sse(*payloads: Any, named: bool = True) -> bytes:
    """Return one event a payload; bytes are taken as they are.

    Args:
        payloads: Objects with a ``type``, which names the event.
        named: Whether events have names: gateways drop them.
    """
    return b"".join(_event(payload, named=named) for payload in payloads)


def _event(payload: Any, *, named: bool) -> bytes:
    if isinstance(payload, bytes):
        return payload
    name = f"event: {payload['type']}\n" if named and "type" in payload else ""
    return f"{name}data: {json.dumps(payload)}\n\n".encode()


def chunks_of(
    dialect: Dialect, body: bytes, *, split: Split = whole, media_type: str = EVENT_STREAM
) -> list[Chunk]:
    """Return the chunks of a call whose answer is ``body`` with status 200 and a clean end."""
    core = StreamCore(dialect.translator(), request_id_headers=())
    core.head(ResponseHead(200, [("content-type", media_type)]), received_at=_NEVER)
    for piece in split(body):
        core.data(piece)
    core.end()
    return list(core.out)


def parsed_payloads(monkeypatch: pytest.MonkeyPatch, translator: ModuleType) -> list[bytes]:
    """Return a list that gets each payload which ``translator`` parses from now on."""
    parsed: list[bytes] = []

    def counted(name: str, data: bytes) -> Any:
        parsed.append(data)
        return event_payload(name, data)

    monkeypatch.setattr(translator, "event_payload", counted)
    return parsed


def seen(chunks: Iterable[Chunk]) -> Good | Bad:
    """Return what a caller saw; the chunks keep the grammar."""
    chunks = list(chunks)
    assert grammar_errors(chunks, ended=True) == []
    usages = [chunk.usage for chunk in chunks if isinstance(chunk, UsageReport)]
    usage = usages[0] if usages else None
    failure = finish_of(chunks).failure
    if failure is not None:
        text = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextDelta))
        return Bad(code=failure.code, text=text, usage=usage, status=failure.status)
    message = message_of(chunks)
    blocks = message.content
    return Good(
        finish=finish_reason(chunks).kind,
        text=message.text,
        reasoning=tuple(block.text for block in blocks if isinstance(block, ReasoningBlock)),
        tools=tuple(
            (block.id, block.name, block.arguments)
            for block in blocks
            if isinstance(block, ToolCallBlock)
        ),
        usage=usage,
    )


def finish_of(chunks: Sequence[Chunk]) -> Finish:
    """Return the last chunk."""
    last = chunks[-1]
    assert isinstance(last, Finish)
    return last


def finish_reason(chunks: Sequence[Chunk]) -> FinishReason:
    """Return why the stream ended."""
    return finish_of(chunks).reason


def message_of(chunks: Iterable[Chunk]) -> Message:
    """Return the assistant's message."""
    assembler = BlockAssembler()
    for chunk in chunks:
        assembler.add(chunk)
    return assembler.message()
