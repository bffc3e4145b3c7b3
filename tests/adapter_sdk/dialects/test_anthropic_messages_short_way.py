"""The short ways for payloads that are a delta of characters alone say what the long way says."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk.dialects import AnthropicMessages
from adapter_sdk.dialects.anthropic_messages import _translator
from adapter_sdk.dialects.anthropic_messages._wire_blocks import plain_delta

from .playing import Bad, Good, chunks_of, parsed_payloads, seen, sse

BEFORE: Final = (
    {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "thinking"}},
    {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_start", "index": 3, "content_block": {"type": "server_tool_use"}},
    {
        "type": "content_block_start",
        "index": 4,
        "content_block": {"type": "thinking", "thinking": "t"},
    },
    {
        "type": "content_block_start",
        "index": 5,
        "content_block": {"type": "tool_use", "id": "t1", "name": "ls", "input": {}},
    },
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


def other(index: int, kind: Any, **content: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **content}}


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
        True,
    ),
    "thinking-into-thinking": (other(4, "thinking_delta", thinking="hm"), True),
    "thinking-into-text": (other(0, "thinking_delta", thinking="hm"), True),
    "signature": (other(4, "signature_delta", signature="s"), False),
    "arguments": (other(5, "input_json_delta", partial_json="{}"), True),
    "arguments-into-text": (other(0, "input_json_delta", partial_json="{}"), True),
    "empty-arguments": (other(5, "input_json_delta", partial_json=""), False),
    "text-into-a-call": (delta(index=5), True),
    "citation": (other(0, "citations_delta", citation={}), False),
    "type-as-array": (other(0, ["text_delta"], text="x"), False),
    "another-event": ({**delta(), "type": "content_block_start"}, False),
    "delta-no-object": ({**delta(), "delta": "more"}, False),
    "array": ([delta()], False),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_both_ways_say_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    between, is_plain = BETWEEN[name]
    body = sse(*BEFORE, between, *AFTER)
    by_the_short_way = chunks_of(AnthropicMessages(), body)
    monkeypatch.setattr(_translator, "plain_delta", lambda payload: None)
    assert by_the_short_way == chunks_of(AnthropicMessages(), body)
    assert isinstance(seen(by_the_short_way), (Good, Bad))
    assert (plain_delta(between) is not None) is is_plain


def test_of_payloads_that_are_alike_only_the_texts_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed = parsed_payloads(monkeypatch, _translator)
    texts = [f"word {number}\n" for number in range(20)]
    kinds = [
        [delta(text) for text in ("1", "2", "3", "b", "c", *texts)],
        [other(4, "thinking_delta", thinking=text) for text in ("b", "c", *texts)],
        [other(5, "input_json_delta", partial_json=text) for text in ("b", "c", *texts)],
        [{"type": "content_block_stop", "index": 5}],
    ]
    said = seen(
        chunks_of(
            AnthropicMessages(), sse(*BEFORE, *(event for kind in kinds for event in kind), *AFTER)
        )
    )

    whole = "".join(("b", "c", *texts))
    assert isinstance(said, Good)
    assert (said.text, said.reasoning, said.tools) == (
        f"a123{whole}",
        (f"t{whole}",),
        (("t1", "ls", whole),),
    )
    # Of each kind two are compared, once three were passed over.
    assert len(parsed) == len(BEFORE) + 3 + 2 + 2 + 2 + 1 + len(AFTER)


def test_a_block_that_is_not_open_gets_nothing_by_the_short_way() -> None:
    into_none = [delta(text, index=7) for text in ("b", "c", "d")]
    opened = {
        "type": "content_block_start",
        "index": 7,
        "content_block": {"type": "text", "text": "a"},
    }
    begun_anew = {
        "type": "content_block_start",
        "index": 7,
        "content_block": {"type": "server_tool_use"},
    }

    body = sse(*BEFORE, opened, *into_none, begun_anew, *into_none, *AFTER)
    said = seen(chunks_of(AnthropicMessages(), body))
    assert isinstance(said, Good)
    assert said.text == "a" + "abcd"
