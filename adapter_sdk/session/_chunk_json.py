"""Chunks in their stored form: camelCase, absent fields left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args

from .._chunks import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    TokenUsage,
    ToolCallDelta,
    UsageReport,
)
from .._content import BlockType, ReasoningBlock, TextBlock, ToolCallBlock
from .._failure import LlmFailure
from ._message_json import block_from_json, block_to_json
from ._stored import Fields, StoredFormError

_BLOCK_TYPES: Final = frozenset(get_args(BlockType))

_USAGE_NAMES: Final = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_tokens": "cacheReadTokens",
    "cache_write_tokens": "cacheWriteTokens",
    "reasoning_tokens": "reasoningTokens",
}


def chunk_to_json(chunk: Chunk) -> dict[str, Any]:
    """Return the chunk with its ``type`` first."""
    match chunk:
        case TextDelta(index=index, text=text) | ReasoningDelta(index=index, text=text):
            return {"type": chunk.type, "index": index, "text": text}
        case ToolCallDelta():
            stored = {"type": chunk.type, "index": chunk.index, "id": chunk.id}
            if chunk.name is not None:
                stored["name"] = chunk.name
            return {**stored, "argumentsDelta": chunk.arguments_delta}
        case BlockStart():
            return {"type": chunk.type, "index": chunk.index, "blockType": chunk.block_type}
        case BlockEnd():
            return {"type": chunk.type, "index": chunk.index, "block": block_to_json(chunk.block)}
        case UsageReport():
            return {"type": chunk.type, "usage": usage_to_json(chunk.usage)}
        case Finish():
            finish = {"type": chunk.type, "reason": finish_to_json(chunk.reason)}
            if chunk.replay_state is None:
                return finish
            return {**finish, "replayState": dict(chunk.replay_state)}


def chunk_from_json(stored: object) -> Chunk:
    """Read what ``chunk_to_json`` wrote.

    Raises:
        ValueError: Anything else; the message names the field.
    """
    # Nearly every chunk is one of these two, and a log is read as a whole.
    if isinstance(stored, dict) and len(stored) == 3:
        delta, index, text = (
            _DELTAS.get(stored.get("type")),
            stored.get("index"),
            stored.get("text"),
        )
        if delta is not None and type(index) is int and index >= 0 and type(text) is str:
            return delta(index, text)
    fields = Fields(stored, "chunk")
    read = _CHUNKS.get(fields.text("type"))
    if read is None:
        raise StoredFormError("chunk.type: none of the seven")
    chunk = read(fields)
    fields.end()
    return chunk


def usage_to_json(usage: TokenUsage) -> dict[str, Any]:
    """Return ``{inputTokens, outputTokens, cacheReadTokens?, …}``."""
    counts = {stored: getattr(usage, name) for name, stored in _USAGE_NAMES.items()}
    return {name: count for name, count in counts.items() if count is not None}


def usage_from_json(stored: object) -> TokenUsage:
    """Read what ``usage_to_json`` wrote.

    Raises:
        ValueError: Anything else; the message names the field.
    """
    fields = Fields(stored, "usage")
    usage = TokenUsage(
        fields.count("inputTokens"),
        fields.count("outputTokens"),
        fields.optional_count("cacheReadTokens"),
        fields.optional_count("cacheWriteTokens"),
        fields.optional_count("reasoningTokens"),
    )
    fields.end()
    return usage


def finish_to_json(reason: FinishReason) -> dict[str, Any]:
    """Return ``{kind, failure?}``."""
    if reason.failure is None:
        return {"kind": reason.kind}
    return {"kind": reason.kind, "failure": reason.failure.to_json()}


def finish_from_json(stored: object) -> FinishReason:
    """Read what ``finish_to_json`` wrote.

    Raises:
        ValueError: Anything else; the message names the field.
    """
    fields = Fields(stored, "reason")
    failure = fields.optional_object("failure")
    reason = FinishReason(
        fields.text("kind"), None if failure is None else LlmFailure.from_json(failure)
    )
    fields.end()
    return reason


def _block_start(fields: Fields) -> BlockStart:
    block_type = fields.text("blockType")
    if block_type not in _BLOCK_TYPES:
        raise StoredFormError("chunk.blockType: text, reasoning or tool-call")
    return BlockStart(fields.count("index"), block_type)  # type: ignore[arg-type]  # why: checked


def _block_end(fields: Fields) -> BlockEnd:
    block = block_from_json(fields.object("block"))
    if not isinstance(block, (TextBlock, ReasoningBlock, ToolCallBlock)):
        raise StoredFormError("chunk.block: a model produces text, reasoning and tool calls")
    return BlockEnd(fields.count("index"), block)


def _tool_call_delta(fields: Fields) -> ToolCallDelta:
    return ToolCallDelta(
        fields.count("index"),
        fields.text("id"),
        fields.text("argumentsDelta"),
        fields.optional_text("name"),
    )


_DELTAS: Final[dict[object, type[TextDelta | ReasoningDelta]]] = {
    "text-delta": TextDelta,
    "reasoning-delta": ReasoningDelta,
}

_CHUNKS: Final[dict[str, Callable[[Fields], Chunk]]] = {
    "block-start": _block_start,
    "text-delta": lambda fields: TextDelta(fields.count("index"), fields.text("text")),
    "reasoning-delta": lambda fields: ReasoningDelta(fields.count("index"), fields.text("text")),
    "tool-call-delta": _tool_call_delta,
    "block-end": _block_end,
    "usage": lambda fields: UsageReport(usage_from_json(fields.object("usage"))),
    "finish": lambda fields: Finish(
        finish_from_json(fields.object("reason")), fields.optional_object("replayState")
    ),
}
