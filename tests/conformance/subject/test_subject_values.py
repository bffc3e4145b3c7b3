"""What passes between the kit and a subject: requests and chunks as JSON, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from adapter_sdk import (
    STOP,
    BlockEnd,
    BlockStart,
    Capability,
    Chunk,
    Declaration,
    Finish,
    FinishReason,
    LlmFailure,
    ProviderRequestId,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    ToolCallBlock,
    ToolCallDelta,
    UsageReport,
)
from conformance._conversations import CONVERSATIONS
from conformance._subject._process import SubjectError
from conformance._subject._values import chunk_of, declaration_of, request_json


def test_a_request_with_tools_is_told_whole() -> None:
    told = request_json(CONVERSATIONS["tools"]("m"))

    assert told == {
        "model": "m",
        "stop": [],
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "text", "text": "What is in this folder?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {
                        "type": "tool-call",
                        "id": "call_1",
                        "name": "ls",
                        "arguments": '{"path":"."}',
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool-result",
                        "toolCallId": "call_1",
                        "isError": False,
                        "content": [{"type": "text", "text": "notes.txt"}],
                    }
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "One file."},
                    {
                        "type": "tool-call",
                        "id": "call_2",
                        "name": "ls",
                        "arguments": '{"path":"/tmp"}',
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool-result", "toolCallId": "call_2", "isError": False, "content": []}
                ],
            },
        ],
        "tools": [
            {
                "name": "ls",
                "description": "List the files of a folder.",
                "parameters": {
                    "type": "object",
                    "properties": {"path": {"type": "string", "description": "A folder."}},
                    "required": ["path"],
                },
            }
        ],
    }


def test_an_image_is_told_with_its_media_type() -> None:
    told = request_json(CONVERSATIONS["images"]("m"))["messages"][0]["content"][1]

    assert (told["type"], told["mediaType"], set(told)) == (
        "image",
        "image/png",
        {"type", "mediaType", "data"},
    )


FAILURE = {"message": "no", "code": "RATE_LIMIT", "status": 429, "providerRetryAfterMs": 7}


@pytest.mark.parametrize(
    ("told", "chunk"),
    [
        pytest.param(
            {"type": "block-start", "index": 0, "blockType": "text"},
            BlockStart(0, "text"),
            id="block-start",
        ),
        pytest.param(
            {"type": "text-delta", "index": 0, "text": "é"}, TextDelta(0, "é"), id="text-delta"
        ),
        pytest.param(
            {"type": "reasoning-delta", "index": 1, "text": "hm"},
            ReasoningDelta(1, "hm"),
            id="reasoning-delta",
        ),
        pytest.param(
            {"type": "tool-call-delta", "index": 2, "id": "c", "argumentsDelta": "{", "name": "f"},
            ToolCallDelta(2, "c", "{", "f"),
            id="tool-call-delta",
        ),
        pytest.param(
            {"type": "tool-call-delta", "index": 2, "id": "c", "name": None},
            ToolCallDelta(2, "c"),
            id="tool-call-delta-of-an-id-alone",
        ),
        pytest.param(
            {"type": "block-end", "index": 0, "block": {"type": "text", "text": "é"}},
            BlockEnd(0, TextBlock("é")),
            id="end-of-text",
        ),
        pytest.param(
            {"type": "block-end", "index": 0, "block": {"type": "reasoning", "text": ""}},
            BlockEnd(0, ReasoningBlock("")),
            id="end-of-reasoning",
        ),
        pytest.param(
            {
                "type": "block-end",
                "index": 0,
                "block": {"type": "tool-call", "id": "c", "name": "f", "arguments": "{}"},
            },
            BlockEnd(0, ToolCallBlock("c", "f", "{}")),
            id="end-of-a-call",
        ),
        pytest.param(
            {"type": "usage", "usage": {"inputTokens": 1, "outputTokens": 2, "cacheReadTokens": 3}},
            UsageReport(TokenUsage(1, 2, cache_read_tokens=3)),
            id="usage",
        ),
        pytest.param(
            {"type": "finish", "reason": {"kind": "stop"}, "replayState": None},
            Finish(STOP),
            id="good-finish",
        ),
        pytest.param(
            {"type": "finish", "reason": {"kind": "stop"}, "replayState": {"id": "r"}},
            Finish(STOP, {"id": "r"}),
            id="finish-with-replay-state",
        ),
        pytest.param(
            {
                "type": "finish",
                "reason": {"kind": "error", "failure": {**FAILURE, "requestId": "r1"}},
            },
            Finish(
                FinishReason(
                    "error",
                    LlmFailure(
                        message="no",
                        code="RATE_LIMIT",
                        status=429,
                        provider_retry_after_ms=7,
                        request_id=ProviderRequestId("r1"),
                    ),
                )
            ),
            id="failure-with-every-fact",
        ),
    ],
)
def test_a_chunk_is_read(told: dict[str, Any], chunk: Chunk) -> None:
    assert chunk_of(told) == chunk


@pytest.mark.parametrize(
    ("told", "says"),
    [
        pytest.param(None, "chunk: an object, got 'None'", id="null"),
        pytest.param({}, "chunk: type is missing", id="no-type"),
        pytest.param({"type": "telegram"}, "chunk: there is no type 'telegram'", id="no-such-type"),
        pytest.param(
            {"type": "text-delta", "index": 0}, "chunk text-delta: text is missing", id="missing"
        ),
        pytest.param(
            {"type": "text-delta", "index": True, "text": ""},
            "chunk text-delta: index: a whole number, got bool True",
            id="a-boolean-is-no-number",
        ),
        pytest.param(
            {"type": "text-delta", "index": 0, "text": "", "finish": 1},
            "chunk text-delta: unknown keys: finish",
            id="an-unknown-key",
        ),
        pytest.param(
            {"type": "block-start", "index": 0, "blockType": "image"},
            "chunk block-start: blockType: one of text, reasoning, tool-call, got 'image'",
            id="a-block-that-no-answer-has",
        ),
        pytest.param(
            {"type": "usage", "usage": {"inputTokens": 1}},
            "the counts of chunk usage: outputTokens is missing",
            id="half-a-usage",
        ),
        pytest.param(
            {"type": "usage", "usage": {"inputTokens": -1, "outputTokens": 0}},
            "chunk usage: TokenUsage.input_tokens: a whole number of 0 or more",
            id="a-negative-count",
        ),
        pytest.param(
            {"type": "finish", "reason": {"kind": "error"}},
            "chunk finish: FinishReason.failure: set for aborted and error, and only there",
            id="an-error-without-its-failure",
        ),
        pytest.param(
            {"type": "finish", "reason": {"kind": "error", "failure": {**FAILURE, "retry": True}}},
            "chunk finish: LlmFailure: unknown keys retry",
            id="policy-in-a-failure",
        ),
    ],
)
def test_what_is_no_chunk_is_refused_in_one_line(told: object, says: str) -> None:
    with pytest.raises(SubjectError) as refused:
        chunk_of(told)
    assert str(refused.value).startswith(says)


def test_a_declaration_is_read_with_its_defaults() -> None:
    declared = declaration_of(
        {"dialects": ["openai-chat"], "terminal": "done-sentinel", "capabilities": ["tools"]}
    )

    assert declared == Declaration(
        dialects=("openai-chat",),
        terminal="done-sentinel",
        capabilities=frozenset({Capability.TOOLS}),
    )


@pytest.mark.parametrize(
    ("told", "says"),
    [
        pytest.param({"terminal": "t"}, "declaration: dialects is missing", id="no-dialects"),
        pytest.param(
            {"dialects": "openai-chat", "terminal": "t"},
            "declaration: dialects: a list, got str 'openai-chat'",
            id="a-word-for-a-list",
        ),
        pytest.param(
            {"dialects": [1], "terminal": "t"},
            "declaration: dialects: a list of strings, got '[1]'",
            id="numbers",
        ),
        pytest.param(
            {"dialects": ["d"], "terminal": "t", "capabilites": []},
            "declaration: unknown keys: capabilites",
            id="a-slip-of-the-pen",
        ),
    ],
)
def test_a_declaration_that_means_nothing_is_refused(told: object, says: str) -> None:
    with pytest.raises(SubjectError) as refused:
        declaration_of(told)
    assert str(refused.value) == says
