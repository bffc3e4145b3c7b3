"""The short way for payloads that are a delta of text alone says what the long way says."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk.dialects import AnthropicMessages
from adapter_sdk.dialects.anthropic_messages import _translator
from adapter_sdk.dialects.anthropic_messages._wire_blocks import plain_text

from .playing import Bad, Good, chunks_of, seen, sse

BEFORE: Final = (
    {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "thinking"}},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_start", "index": 3, "content_block": {"type": "server_tool_use"}},
)
AFTER: Final = (
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)


def delta(text: Any = "more", *, index: Any = 0, **beside: Any) -> dict[str, Any]:
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": "text_delta", "text": text, **beside},
    }


# What stands between the starts and the end; and whether it looks like text alone.
BETWEEN: Final[dict[str, tuple[Any, bool]]] = {
    "text": (delta(), True),
    "surrogate-half": (delta("\ud83d"), True),
    "beside-the-text": (delta(extra=1), True),
    "into-a-block-without-text-yet": (delta(index=2), True),
    "into-thinking": (delta(index=1), True),
    "into-a-block-that-becomes-nothing": (delta(index=3), True),
    "into-no-block": (delta(index=9), True),
    "index-as-text": (delta(index="0"), True),
    "index-as-flag": (delta(index=False), True),
    "index-as-array": (delta(index=[0]), True),
    "no-index": ({"type": "content_block_delta", "delta": delta()["delta"]}, False),
    "beside-the-delta": ({**delta(), "error": {"message": "overloaded"}}, False),
    "in-place-of-the-index": (
        {"type": "content_block_delta", "delta": delta()["delta"], "error": {"message": "no"}},
        False,
    ),
    "empty-text": (delta(""), False),
    "null-text": (delta(None), False),
    "number-for-text": (delta(7), False),
    "thinking": (
        {**delta(index=1), "delta": {"type": "thinking_delta", "thinking": "hm", "text": "x"}},
        False,
    ),
    "another-event": ({**delta(), "type": "content_block_start"}, False),
    "delta-no-object": ({**delta(), "delta": "more"}, False),
    "array": ([delta()], False),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_both_ways_say_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between, is_plain = BETWEEN[name]
    body = sse(*BEFORE, between, *AFTER)
    by_the_short_way = chunks_of(AnthropicMessages(), body)
    monkeypatch.setattr(_translator, "plain_text", lambda payload: None)
    assert by_the_short_way == chunks_of(AnthropicMessages(), body)
    assert isinstance(seen(by_the_short_way), (Good, Bad))
    assert (plain_text(between) is not None) is is_plain
