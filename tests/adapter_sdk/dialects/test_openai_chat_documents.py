"""Whole chat completions in answer to a request for a stream."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from adapter_sdk import TokenUsage
from adapter_sdk.dialects import OpenAIChat

from .playing import EVENT_STREAM, JSON, SPLITS, Bad, Good, chunks_of, seen

CALL: Final = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}


def completion(message: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    return {"id": "1", "object": "chat.completion", "choices": [choice], **more}


def said(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


COUNTS: Final = {"usage": {"prompt_tokens": 4, "completion_tokens": 1}}
USED: Final = TokenUsage(4, 1)


@pytest.mark.parametrize("terminal", ["done-sentinel", "finish-reason"])
@pytest.mark.parametrize("media_type", [JSON, EVENT_STREAM])
@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        pytest.param(completion(said("Hi"), **COUNTS), Good(text="Hi", usage=USED), id="text"),
        pytest.param(
            completion(said("Hi", reasoning_content="hm")),
            Good(text="Hi", reasoning=("hm",)),
            id="reasoning",
        ),
        pytest.param(
            completion(said(None, tool_calls=[CALL]), "tool_calls"),
            Good(finish="tool-calls", tools=(("c1", "ls", '{"a": 1}'),)),
            id="call",
        ),
        pytest.param(
            completion(said(None, tool_calls=[CALL])),
            Good(finish="tool-calls", tools=(("c1", "ls", '{"a": 1}'),)),
            id="stop-after-a-call",
        ),
        pytest.param(
            completion(said("Hi", tool_calls=[CALL]), "length"),
            Good(finish="max-tokens", text="Hi"),
            id="length-drops-the-call",
        ),
        pytest.param(completion(said(""), "length"), Good(finish="max-tokens"), id="length-empty"),
        pytest.param(completion(said(" ")), Good(text=" "), id="white-space"),
        pytest.param(
            completion(said([{"type": "text", "text": "Hi"}])), Good(text="Hi"), id="content-list"
        ),
        pytest.param(
            {
                "choices": [
                    {"index": 1, "message": said("X"), "finish_reason": "length"},
                    {"index": 0, "message": said("Hi"), "finish_reason": "stop"},
                ]
            },
            Good(text="Hi"),
            id="two-choices",
        ),
        pytest.param(
            completion(said("Hi"), error=None, service_tier="x"),
            Good(text="Hi"),
            id="unknown-fields",
        ),
        pytest.param(completion(said(None)), Bad(code="EMPTY_RESPONSE"), id="empty"),
        pytest.param(
            completion(said(None), **COUNTS),
            Bad(code="EMPTY_RESPONSE", usage=USED),
            id="empty-with-usage",
        ),
        pytest.param(completion(said("Hi"), None), Bad(code="STREAM_CLOSED"), id="no-finish"),
        pytest.param(
            completion(said("Hi"), "content_filter"), Bad(code="CONTENT_FILTER"), id="filtered"
        ),
        pytest.param(completion(said("Hi"), "zzz"), Bad(code="UNKNOWN"), id="unknown-word"),
        pytest.param(
            completion(said("Hi"), error={"message": "busy"}),
            Bad(code="SERVER"),
            id="error-beside-it",
        ),
        pytest.param({"choices": []}, Bad(code="MALFORMED_RESPONSE"), id="no-choices"),
        pytest.param({"choices": [{}]}, Bad(code="STREAM_CLOSED"), id="a-choice-of-nothing"),
        pytest.param(
            {"choices": "x"}, Bad(code="MALFORMED_RESPONSE"), id="choices-of-another-shape"
        ),
        pytest.param({"usage": {}}, Bad(code="MALFORMED_RESPONSE"), id="usage-alone"),
        pytest.param(
            completion("Hi"), Bad(code="MALFORMED_RESPONSE"), id="a-message-that-is-no-object"
        ),
        pytest.param([completion(said("Hi"))], Bad(code="MALFORMED_RESPONSE"), id="an-array"),
        pytest.param({"detail": "busy"}, Bad(code="SERVER"), id="detail"),
    ],
)
def test_a_whole_completion_is_read_at_every_split(
    payload: Any, expected: Good | Bad, media_type: str, terminal: Any
) -> None:
    dialect = OpenAIChat(terminal=terminal)
    body = json.dumps(payload).encode()
    found = [seen(chunks_of(dialect, body, split=split, media_type=media_type)) for split in SPLITS]
    assert found == [expected] * len(SPLITS)
