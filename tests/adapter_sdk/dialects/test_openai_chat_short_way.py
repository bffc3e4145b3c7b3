"""The short ways for payloads that are text alone say what the long way says."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.dialects.openai_chat import _translator
from adapter_sdk.dialects.openai_chat._content_parts import plain_delta

from .playing import Bad, Good, chunks_of, parsed_payloads, seen, sse

DONE: Final = b"data: [DONE]\n\n"
CALL: Final = {"index": 0, "id": "c", "function": {"name": "f", "arguments": ""}}
OPENED: Final = {"content": "first", "reasoning": "hm", "tool_calls": [CALL]}
FIRST: Final = {"choices": [{"index": 0, "delta": OPENED}]}
LAST: Final = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def text(content: Any = "more", **beside: Any) -> dict[str, Any]:
    return {"index": 0, "delta": {"content": content, **beside}, "finish_reason": None}


def thought(field: str, **beside: Any) -> dict[str, Any]:
    return {"index": 0, "delta": {field: "why", **beside}, "finish_reason": None}


def call(arguments: Any = "{", *, index: Any = 0, beside: Any = None, **entry: Any) -> Any:
    function = {"arguments": arguments, **entry.pop("function", {})}
    return {
        "delta": {"tool_calls": [{"index": index, "function": function, **entry}]},
        **(beside or {}),
    }


# What stands between a first text and the finish; and whether it can go the short way.
BETWEEN: Final[dict[str, tuple[Any, bool]]] = {
    "text": ({"choices": [text()]}, True),
    "text-and-role": ({"choices": [text(role="assistant")]}, True),
    "null-usage": ({"choices": [text()], "usage": None}, True),
    "empty-finish": ({"choices": [{**text(), "finish_reason": ""}]}, True),
    "other-keys": ({"choices": [{**text(), "logprobs": None}], "id": "x", "model": "m"}, True),
    "no-index": ({"choices": [{"delta": {"content": "more"}}]}, True),
    "surrogate-half": ({"choices": [text("\ud83d")]}, True),
    "empty-text": ({"choices": [text("")]}, False),
    "reasoning": ({"choices": [thought("reasoning_content")]}, True),
    "reasoning-by-its-other-name": ({"choices": [thought("reasoning")]}, True),
    "reasoning-and-role": ({"choices": [thought("reasoning", role="assistant")]}, True),
    "reasoning-and-null-text": ({"choices": [thought("reasoning", content=None)]}, True),
    "reasoning-and-empty-text": (
        {"choices": [thought("reasoning", content="", role="assistant")]},
        True,
    ),
    "reasoning-under-both-names": (
        {"choices": [thought("reasoning", reasoning_content="why")]},
        False,
    ),
    "reasoning-and-its-details": (
        {"choices": [thought("reasoning", reasoning_details=[{"text": "why"}])]},
        False,
    ),
    "reasoning-and-no-text-at-all": ({"choices": [thought("reasoning", content=False)]}, False),
    "reasoning-and-parts": ({"choices": [thought("reasoning", content=[])]}, False),
    "null-reasoning": ({"choices": [{"delta": {"reasoning": None}}]}, False),
    "empty-reasoning": ({"choices": [{"delta": {"reasoning": ""}}]}, False),
    "number-for-reasoning": ({"choices": [{"delta": {"reasoning": 7}}]}, False),
    "reasoning-and-usage": ({"choices": [thought("reasoning")], "usage": {}}, False),
    "role-alone": ({"choices": [{"delta": {"role": "assistant"}}]}, False),
    "refusal-alone": ({"choices": [{"delta": {"refusal": "no"}}]}, False),
    "arguments": ({"choices": [call()]}, True),
    "arguments-and-type": ({"choices": [call(type="function")]}, True),
    "arguments-and-empty-id-and-name": (
        {"choices": [call(id="", function={"name": ""})]},
        True,
    ),
    "arguments-and-null-id-and-name": (
        {"choices": [call(id=None, function={"name": None})]},
        True,
    ),
    "arguments-and-null-text": (
        {"choices": [{"delta": {**call()["delta"], "content": None, "role": "assistant"}}]},
        True,
    ),
    "arguments-of-no-call": ({"choices": [call(index=7)]}, True),
    "arguments-and-id": ({"choices": [call(id="c")]}, False),
    "arguments-and-a-number-for-an-id": ({"choices": [call(id=0)]}, False),
    "arguments-and-false-for-a-name": ({"choices": [call(function={"name": False})]}, False),
    "arguments-and-name": ({"choices": [call(function={"name": "f"})]}, False),
    "arguments-of-two-calls": (
        {"choices": [{"delta": {"tool_calls": call()["delta"]["tool_calls"] * 2}}]},
        False,
    ),
    "arguments-and-text": ({"choices": [{"delta": {**call()["delta"], "content": "x"}}]}, False),
    "arguments-and-finish": ({"choices": [call(beside={"finish_reason": "stop"})]}, False),
    "arguments-at-a-flag": ({"choices": [call(index=False)]}, False),
    "arguments-without-an-index": (
        {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "{"}}]}}]},
        False,
    ),
    "empty-arguments": ({"choices": [call("")]}, False),
    "an-object-for-arguments": ({"choices": [call({})]}, False),
    "no-function": ({"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}, False),
    "a-text-for-a-function": (
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": "f"}]}}]},
        False,
    ),
    "a-text-for-calls": ({"choices": [{"delta": {"tool_calls": "x"}}]}, False),
    "null-calls": ({"choices": [{"delta": {"tool_calls": None}}]}, False),
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
    monkeypatch.setattr(_translator, "plain_delta", lambda payload: None)
    assert by_the_short_way == chunks_of(dialect, body)
    assert isinstance(seen(by_the_short_way), (Good, Bad))
    assert (plain_delta(between) is not None) is is_plain


def alike(text: str) -> dict[str, Any]:
    return {"id": "x", "choices": [{"index": 0, "delta": {"content": text}}], "usage": None}


def called(text: str) -> dict[str, Any]:
    entry = {"index": 1, "function": {"arguments": text}}
    return {"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]}


def also_alike(text: str) -> dict[str, Any]:
    delta = {"content": None, "reasoning_content": text}
    return {"id": "x", "choices": [{"index": 0, "delta": delta}]}


def test_of_payloads_that_are_alike_only_the_texts_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed = parsed_payloads(monkeypatch, _translator)
    texts = [f"word {number}\n" for number in range(20)]
    begun = {"index": 1, "id": "c1", "function": {"name": "f", "arguments": ""}}
    body = sse(
        *map(alike, ["a", "1", "2", "3", "b", "c", *texts]),
        *map(also_alike, ["d", "e", "f", *texts]),
        {"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [begun]}}]},
        *map(called, ["g", "h", *texts]),
        LAST,
    )
    said = seen(chunks_of(OpenAIChat(terminal="done-sentinel"), body + DONE))

    whole = "".join(texts)
    assert said == Good(
        finish="tool-calls",
        text=f"a123bc{whole}",
        reasoning=(f"def{whole}",),
        tools=(("c1", "f", f"gh{whole}"),),
    )
    # The first opens the block, the next two are compared; of each kind. Three are passed over
    # at the beginning, and the finish comes at the end.
    assert len(parsed) == 3 + 3 + 3 + 3 + 1
