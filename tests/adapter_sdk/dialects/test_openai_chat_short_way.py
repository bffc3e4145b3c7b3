"""The short way for payloads that are text alone says what the long way says."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.dialects.openai_chat import _translator
from adapter_sdk.dialects.openai_chat._content_parts import plain_text

from .playing import Bad, Good, chunks_of, seen, sse

DONE: Final = b"data: [DONE]\n\n"
FIRST: Final = {"choices": [{"index": 0, "delta": {"content": "first"}}]}
LAST: Final = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def text(content: Any = "more", **beside: Any) -> dict[str, Any]:
    return {"index": 0, "delta": {"content": content, **beside}, "finish_reason": None}


# What stands between a first text and the finish; and whether it can go the short way.
BETWEEN: Final[dict[str, tuple[Any, bool]]] = {
    "text": ({"choices": [text()]}, True),
    "text-and-role": ({"choices": [text(role="assistant")]}, True),
    "null-usage": ({"choices": [text()], "usage": None}, True),
    "empty-finish": ({"choices": [{**text(), "finish_reason": ""}]}, True),
    "other-keys": ({"choices": [{**text(), "logprobs": None}], "id": "x", "model": "m"}, True),
    "no-index": ({"choices": [{"delta": {"content": "more"}}]}, True),
    "surrogate-half": ({"choices": [text("\ud83d")]}, True),
    "empty-text": ({"choices": [text("")]}, True),
    "second-choice": ({"choices": [{**text(), "index": 1}]}, False),
    "two-choices": ({"choices": [text("a"), {**text("b"), "index": 1}]}, False),
    "no-choices": ({"choices": []}, False),
    "usage": ({"choices": [text()], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}, False),
    "empty-usage": ({"choices": [text()], "usage": {}}, False),
    "groq-usage": (
        {"choices": [text()], "x_groq": {"usage": {"prompt_tokens": 1, "completion_tokens": 2}}},
        False,
    ),
    "error-beside": ({"choices": [text()], "error": {"message": "overloaded"}}, False),
    "null-error": ({"choices": [text()], "error": None}, False),
    "finish": ({"choices": [{**text(), "finish_reason": "length"}]}, False),
    "strange-finish": ({"choices": [{**text(), "finish_reason": 0}]}, False),
    "reasoning-beside": ({"choices": [text(reasoning_content="why")]}, False),
    "refusal-beside": ({"choices": [text(refusal="no")]}, False),
    "call-beside": (
        {"choices": [text(tool_calls=[{"index": 0, "id": "c", "function": {"name": "f"}}])]},
        False,
    ),
    "parts": ({"choices": [text([{"type": "text", "text": "part"}])]}, False),
    "null-text": ({"choices": [text(None)]}, False),
    "number-for-text": ({"choices": [text(7)]}, False),
    "message": ({"choices": [{"index": 0, "message": {"content": "whole"}}]}, False),
    "delta-no-object": ({"choices": [{"index": 0, "delta": "more"}]}, False),
    "choice-no-object": ({"choices": ["more"]}, False),
    "choices-no-array": ({"choices": {"0": text()}}, False),
    "array": ([{"error": {"message": "overloaded"}}], False),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_both_ways_say_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between, is_plain = BETWEEN[name]
    body = sse(FIRST, between, LAST) + DONE
    dialect = OpenAIChat(terminal="done-sentinel")
    by_the_short_way = chunks_of(dialect, body)
    monkeypatch.setattr(_translator, "plain_text", lambda payload: None)
    assert by_the_short_way == chunks_of(dialect, body)
    assert isinstance(seen(by_the_short_way), (Good, Bad))
    assert (plain_text(between) is not None) is is_plain
