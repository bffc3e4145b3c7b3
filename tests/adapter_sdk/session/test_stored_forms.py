"""Messages and chunks go into events and come back as they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from adapter_sdk import (
    MAX_TOKENS,
    STOP,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    ImageBlock,
    LlmFailure,
    Message,
    ProviderRequestId,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    ToolCallDelta,
    ToolResultBlock,
    UsageReport,
    assistant,
    system,
    user,
)
from adapter_sdk.session import (
    chunk_from_json,
    chunk_to_json,
    finish_from_json,
    message_from_json,
    message_to_json,
    usage_from_json,
)

FAILURE: Final = LlmFailure(
    message="busy",
    code="RATE_LIMIT",
    status=429,
    provider_retry_after_ms=7,
    request_id=ProviderRequestId("r-1"),
)
IMAGE: Final = ImageBlock("image/png", "AAAA")
PNG: Final = {"type": "image", "mediaType": "image/png", "data": "AAAA"}
FAILED: Final = {
    "message": "busy",
    "code": "RATE_LIMIT",
    "status": 429,
    "providerRetryAfterMs": 7,
    "requestId": "r-1",
}


@pytest.mark.parametrize(
    ("message", "stored"),
    [
        (system("be brief"), {"role": "system", "content": [{"type": "text", "text": "be brief"}]}),
        (user("ü", IMAGE), {"role": "user", "content": [{"type": "text", "text": "ü"}, PNG]}),
        (
            user(ToolResultBlock("c1", (TextBlock("x"), IMAGE), is_error=True)),
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c1",
                        "content": [{"type": "text", "text": "x"}, PNG],
                        "isError": True,
                    }
                ],
            },
        ),
        (
            user(ToolResultBlock("c1")),
            {
                "role": "user",
                "content": [{"type": "tool-result", "toolCallId": "c1", "content": []}],
            },
        ),
        (
            Message(
                "assistant",
                (ReasoningBlock("hm"), ToolCallBlock("c1", "f", '{"a"')),
                {"blocks": [None, {"x": 1}]},
            ),
            {
                "role": "assistant",
                "content": [
                    {"type": "reasoning", "text": "hm"},
                    {"type": "tool-call", "id": "c1", "name": "f", "arguments": '{"a"'},
                ],
                "replayState": {"blocks": [None, {"x": 1}]},
            },
        ),
        (assistant(), {"role": "assistant", "content": []}),
    ],
    ids=["system", "user", "tool result", "empty tool result", "assistant", "empty"],
)
def test_a_message_is_stored_and_comes_back(message: Message, stored: dict[str, Any]) -> None:
    assert message_to_json(message) == stored
    assert message_from_json(stored) == message


@pytest.mark.parametrize(
    ("chunk", "stored"),
    [
        (BlockStart(0, "reasoning"), {"type": "block-start", "index": 0, "blockType": "reasoning"}),
        (TextDelta(1, "x"), {"type": "text-delta", "index": 1, "text": "x"}),
        (ReasoningDelta(2, ""), {"type": "reasoning-delta", "index": 2, "text": ""}),
        (
            ToolCallDelta(3, "c", "{", name="f"),
            {"type": "tool-call-delta", "index": 3, "id": "c", "name": "f", "argumentsDelta": "{"},
        ),
        (
            ToolCallDelta(3, "c"),
            {"type": "tool-call-delta", "index": 3, "id": "c", "argumentsDelta": ""},
        ),
        (
            BlockEnd(0, TextBlock("x")),
            {"type": "block-end", "index": 0, "block": {"type": "text", "text": "x"}},
        ),
        (
            UsageReport(TokenUsage(1, 2, reasoning_tokens=0)),
            {"type": "usage", "usage": {"inputTokens": 1, "outputTokens": 2, "reasoningTokens": 0}},
        ),
        (
            UsageReport(TokenUsage(1, 2, 3, 4, 5)),
            {
                "type": "usage",
                "usage": {
                    "inputTokens": 1,
                    "outputTokens": 2,
                    "cacheReadTokens": 3,
                    "cacheWriteTokens": 4,
                    "reasoningTokens": 5,
                },
            },
        ),
        (
            Finish(STOP, {"id": "x"}),
            {"type": "finish", "reason": {"kind": "stop"}, "replayState": {"id": "x"}},
        ),
        (Finish(MAX_TOKENS), {"type": "finish", "reason": {"kind": "max-tokens"}}),
        (
            Finish(FinishReason("error", FAILURE)),
            {"type": "finish", "reason": {"kind": "error", "failure": FAILED}},
        ),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_a_chunk_is_stored_and_comes_back(chunk: Chunk, stored: dict[str, Any]) -> None:
    assert chunk_to_json(chunk) == stored
    assert chunk_from_json(stored) == chunk


@pytest.mark.parametrize(
    ("read", "stored", "message"),
    [
        (message_from_json, None, "message: an object, got NoneType"),
        (message_from_json, {"content": []}, "message.role: missing"),
        (
            message_from_json,
            {"role": "tool", "content": []},
            "message.role: system, user or assistant",
        ),
        (message_from_json, {"role": "user", "content": {}}, "message.content: a list"),
        (
            message_from_json,
            {"role": "user", "content": [], "x": 1, "a": 2},
            "message: unknown fields a, x",
        ),
        (
            message_from_json,
            {"role": "user", "content": [], "replayState": 1},
            "message.replayState: an object",
        ),
        (
            message_from_json,
            {"role": "user", "content": [{"type": "audio"}]},
            "block.type: text, reasoning, tool-call, image or tool-result",
        ),
        (
            message_from_json,
            {"role": "user", "content": [{"type": "text", "text": 1}]},
            "block.text: a string",
        ),
        (
            message_from_json,
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "c",
                        "content": [{"type": "reasoning", "text": ""}],
                    }
                ],
            },
            "block.content: a tool result holds texts and images",
        ),
        (
            message_from_json,
            {
                "role": "user",
                "content": [
                    {"type": "tool-result", "toolCallId": "c", "content": [], "isError": 1}
                ],
            },
            "block.isError: true or false",
        ),
        (chunk_from_json, {"type": "pause"}, "chunk.type: none of the seven"),
        (
            chunk_from_json,
            {"type": "text-delta", "index": -1, "text": ""},
            "chunk.index: a whole number of 0 or more",
        ),
        (
            chunk_from_json,
            {"type": "block-start", "index": 0, "blockType": "image"},
            "chunk.blockType: text, reasoning or tool-call",
        ),
        (
            chunk_from_json,
            {"type": "block-end", "index": 0, "block": PNG},
            "chunk.block: a model produces text, reasoning and tool calls",
        ),
        (
            chunk_from_json,
            {"type": "finish", "reason": {"kind": "error"}},
            "FinishReason.failure: set for aborted and error, and only there",
        ),
        (
            finish_from_json,
            {"kind": "stop", "failure": FAILED},
            "FinishReason.failure: set for aborted and error, and only there",
        ),
        (
            finish_from_json,
            {"kind": "error", "failure": {"code": "SERVER"}},
            "LlmFailure.message: missing",
        ),
        (
            usage_from_json,
            {"inputTokens": 1, "outputTokens": None},
            "usage.outputTokens: a whole number of 0 or more",
        ),
    ],
)
def test_any_other_form_is_refused_by_its_field(
    read: Callable[[object], object], stored: object, message: str
) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read(stored)
    assert str(caught.value) == message
