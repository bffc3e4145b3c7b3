"""Good answers on the chat completions wire, for every split of their bytes."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from adapter_sdk import (
    STOP,
    BlockEnd,
    BlockStart,
    Finish,
    ReasoningBlock,
    ReasoningDelta,
    TextBlock,
    TextDelta,
    TokenUsage,
    UsageReport,
)
from adapter_sdk.dialects import OpenAIChat

from .playing import SPLITS, Bad, Good, chunks_of, seen, sse

DIALECT: Final = OpenAIChat(terminal="done-sentinel")
LENIENT: Final = OpenAIChat()
DONE: Final = b"data: [DONE]\n\n"
MADE_UP: Final = re.compile(r"call_[0-9a-f]{32}")


def delta(finish: Any = None, /, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def said(content: Any, finish: Any = None) -> dict[str, Any]:
    return delta(finish, content=content)


def usage(prompt: Any, completion: Any, **more: Any) -> dict[str, Any]:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, **more}
    return {"choices": [], "usage": counts}


def play(*payloads: Any, dialect: OpenAIChat = DIALECT, done: bool = True) -> Good | Bad:
    """Return what a caller saw, the same at every split; made-up ids become ``*``."""
    body = sse(*payloads) + (DONE if done else b"")
    found = []
    for split in SPLITS:
        result = seen(chunks_of(dialect, body, split=split))
        if isinstance(result, Good):
            tools = tuple((MADE_UP.sub("*", call_id), *rest) for call_id, *rest in result.tools)
            result = Good(**{**vars(result), "tools": tools})
        found.append(result)
    assert found == [found[0]] * len(SPLITS)
    return found[0]


STOPPED: Final = delta("stop")
NULLS: Final = {
    "content": None,
    "tool_calls": None,
    "refusal": None,
    "function_call": None,
    "audio": {"x": 1},
}


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        pytest.param([said("Hi"), STOPPED], Good(text="Hi"), id="text"),
        pytest.param([said("H"), said("i", "stop")], Good(text="Hi"), id="text-beside-the-finish"),
        pytest.param(
            [delta(role="assistant", content=""), said("Hi"), STOPPED],
            Good(text="Hi"),
            id="empty-first-delta",
        ),
        pytest.param([said(" \n"), STOPPED], Good(text=" \n"), id="white-space-only"),
        pytest.param(
            [delta(reasoning_content="hm"), STOPPED],
            Good(reasoning=("hm",)),
            id="reasoning-only",
        ),
        pytest.param([delta("length")], Good(finish="max-tokens"), id="length-without-content"),
        pytest.param(
            [said([{"type": "text", "text": "H"}, "i", {"type": "image"}]), STOPPED],
            Good(text="Hi"),
            id="content-as-a-list",
        ),
        pytest.param(
            [
                said([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
                said("Hi", "stop"),
            ],
            Good(text="Hi", reasoning=("hm",)),
            id="thinking-in-a-content-list",
        ),
        pytest.param(
            [said([{"type": "thinking", "thinking": "hm"}]), said("Hi", "stop")],
            Good(text="Hi", reasoning=("hm",)),
            id="thinking-as-a-text-in-a-content-list",
        ),
        pytest.param(
            [delta(refusal="I will not."), STOPPED], Good(text="I will not."), id="refusal-is-text"
        ),
        pytest.param(
            [{"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}],
            Good(text="Hi"),
            id="choice-without-an-index",
        ),
        pytest.param(
            [
                {
                    "choices": [
                        {"index": 1, "delta": {"content": "X"}},
                        {"index": 0, "delta": {"content": "Hi"}},
                    ]
                },
                {"choices": [{"index": 1, "delta": {}, "finish_reason": "length"}]},
                STOPPED,
            ],
            Good(text="Hi"),
            id="another-choice-is-no-part-of-it",
        ),
        pytest.param(
            [
                said("H"),
                {"choices": [{"index": 0, "delta": None}]},
                {"choices": [{"index": 0}]},
                {"choices": []},
                {"choices": None},
                {"id": "1"},
                b"data: null\n\n",
                b"data:\n\n",
                said("i", "stop"),
            ],
            Good(text="Hi"),
            id="chunks-that-say-nothing",
        ),
        pytest.param(
            [
                {**said("Hi"), "service_tier": "x", "error": None, "system_fingerprint": None},
                {"choices": [{**STOPPED["choices"][0], "delta": NULLS, "logprobs": None}]},
            ],
            Good(text="Hi"),
            id="unknown-and-null-fields",
        ),
        pytest.param(
            [
                b'data: {"choices":[{"delta":{"content":"Hi"},'
                b'"logprobs":{"content":[{"logprob":-Infinity},{"logprob":NaN}]}}]}\n\n',
                STOPPED,
            ],
            Good(text="Hi"),
            id="non-finite-metadata",
        ),
        pytest.param(
            [
                b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n',
                b'data: {"choices":[{"delta":{"content":"\\udc4d!"}}]}\n\n',
                STOPPED,
            ],
            Good(text="\U0001f44d!"),
            id="surrogate-pair-over-two-deltas",
        ),
        pytest.param(
            [b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n', STOPPED],
            Good(text="a\ufffd"),
            id="lone-surrogate",
        ),
        pytest.param(
            [b'data: {"choices":[{"delta":{"content":"a\xff"}}]}\n\n', STOPPED],
            Good(text="a\ufffd"),
            id="invalid-utf-8",
        ),
        pytest.param(
            [said("Hi", "stop"), DONE, said("late"), b"data: {\n\n"],
            Good(text="Hi"),
            id="bytes-after-the-marker",
        ),
    ],
)
def test_an_answer_is_read(payloads: list[Any], expected: Good) -> None:
    assert play(*payloads) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"reasoning_content": "hm"}, ("hm",), id="reasoning-content"),
        pytest.param({"reasoning": "hm"}, ("hm",), id="reasoning"),
        pytest.param(
            {"reasoning_content": "hm", "reasoning": "hm"}, ("hm",), id="both-are-not-doubled"
        ),
        pytest.param({"reasoning_content": "", "reasoning": "hm"}, ("hm",), id="empty-beside-it"),
        pytest.param({"reasoning_content": None, "reasoning": "hm"}, ("hm",), id="null-beside-it"),
        pytest.param(
            {"reasoning_details": [{"type": "reasoning.text", "text": "h"}, {"summary": "m"}]},
            ("hm",),
            id="details",
        ),
        pytest.param(
            {"reasoning": "hm", "reasoning_details": [{"text": "hm"}]},
            ("hm",),
            id="details-beside-it",
        ),
        pytest.param(
            {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}, None]},
            (),
            id="details-without-words",
        ),
        pytest.param({"reasoning_details": "x"}, (), id="details-of-another-shape"),
        pytest.param({"reasoning_content": ""}, (), id="empty-opens-no-block"),
        pytest.param({"reasoning_content": None}, (), id="null-opens-no-block"),
    ],
)
def test_reasoning_is_read_from_every_field_and_never_doubled(
    fields: dict[str, Any], expected: tuple[str, ...]
) -> None:
    assert play(delta(content="", **fields), said("Hi", "stop")) == Good(
        text="Hi", reasoning=expected
    )


def test_blocks_come_in_the_order_in_which_they_began_and_end_at_the_marker() -> None:
    payloads = [
        delta(reasoning_content="h"),
        delta(content="a", reasoning_content="m"),
        said("b"),
        delta(reasoning_content="!"),
        STOPPED,
        usage(4, 2),
    ]
    assert chunks_of(DIALECT, sse(*payloads) + DONE) == [
        BlockStart(0, "reasoning"),
        ReasoningDelta(0, "h"),
        ReasoningDelta(0, "m"),
        BlockStart(1, "text"),
        TextDelta(1, "a"),
        TextDelta(1, "b"),
        ReasoningDelta(0, "!"),
        BlockEnd(0, ReasoningBlock("hm!")),
        BlockEnd(1, TextBlock("ab")),
        UsageReport(TokenUsage(4, 2)),
        Finish(STOP),
    ]


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        *((word, "stop") for word in ("stop", "eos", "end_turn", "stop_sequence")),
        *((word, "stop") for word in ("tool_calls", "function_call", "tool_use")),  # without calls
        *((word, "max-tokens") for word in ("length", "model_length", "max_tokens")),
    ],
)
def test_a_finish_word_means(word: str, finish: str) -> None:
    assert play(said("Hi", word)) == Good(text="Hi", finish=finish)


CALL: Final = {"index": 0, "id": "c1", "function": {"name": "ls", "arguments": "{}"}}
CALLED: Final = (("c1", "ls", "{}"),)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["tool_calls"], Good(finish="tool-calls", tools=CALLED), id="tool-calls"),
        pytest.param(["stop"], Good(finish="tool-calls", tools=CALLED), id="stop-is-promoted"),
        pytest.param(["eos"], Good(finish="tool-calls", tools=CALLED), id="eos-is-promoted"),
        pytest.param(["length"], Good(finish="max-tokens"), id="length-is-not-and-drops-the-call"),
        pytest.param(
            ["tool_calls", "stop"], Good(finish="tool-calls", tools=CALLED), id="the-first-stays"
        ),
        pytest.param(["length", "stop"], Good(finish="max-tokens"), id="length-then-stop"),
        pytest.param(
            ["stop", "length"], Good(finish="tool-calls", tools=CALLED), id="stop-then-length"
        ),
        pytest.param(
            ["", None, "stop"], Good(finish="tool-calls", tools=CALLED), id="empty-is-as-absent"
        ),
    ],
)
def test_finishes_and_complete_calls(words: list[str | None], expected: Good) -> None:
    assert play(delta(tool_calls=[CALL]), *(delta(word) for word in words)) == expected


@pytest.mark.parametrize(
    ("dialect", "done", "expected"),
    [
        pytest.param(DIALECT, True, Good(text="Hi"), id="sentinel-declared-and-sent"),
        pytest.param(
            DIALECT, False, Bad(code="STREAM_CLOSED", text="Hi"), id="sentinel-declared-and-missing"
        ),
        pytest.param(LENIENT, True, Good(text="Hi"), id="finish-declared-and-sentinel-sent"),
        pytest.param(LENIENT, False, Good(text="Hi"), id="finish-declared-is-enough"),
    ],
)
def test_the_declared_terminal_decides(
    dialect: OpenAIChat, *, done: bool, expected: Good | Bad
) -> None:
    assert play(said("Hi", "stop"), dialect=dialect, done=done) == expected


# ---- usage -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        pytest.param([usage(4, 1)], TokenUsage(4, 1), id="plain"),
        pytest.param([usage(0, 0)], TokenUsage(0, 0), id="zeros"),
        pytest.param(
            [usage(10, 1, prompt_tokens_details={"cached_tokens": 3})],
            TokenUsage(7, 1, cache_read_tokens=3),
            id="cached-tokens-are-no-input",
        ),
        pytest.param(
            [usage(10, 1, prompt_cache_hit_tokens=3, prompt_cache_miss_tokens=7)],
            TokenUsage(7, 1, cache_read_tokens=3),
            id="deepseek",
        ),
        pytest.param(
            [usage(10, 1, prompt_cache_hit_tokens=9, prompt_tokens_details={"cached_tokens": 3})],
            TokenUsage(7, 1, cache_read_tokens=3),
            id="the-details-win",
        ),
        pytest.param(
            [
                usage(
                    10, 1, prompt_cache_hit_tokens=3, prompt_tokens_details={"cached_tokens": None}
                )
            ],
            TokenUsage(7, 1, cache_read_tokens=3),
            id="unless-they-say-nothing",
        ),
        pytest.param([usage(10, 1, cached_tokens=3)], TokenUsage(7, 1, 3), id="together"),
        pytest.param([usage(10, 1, num_cached_tokens=3)], TokenUsage(7, 1, 3), id="mistral"),
        pytest.param(
            [usage(10, 1, prompt_tokens_details={"cached_tokens": 3, "cache_write_tokens": 5})],
            TokenUsage(2, 1, 3, 5),
            id="written-tokens-are-no-input-either",
        ),
        pytest.param(
            [usage(10, 1, prompt_tokens_details={"cached_tokens": 99, "cache_write_tokens": 5})],
            TokenUsage(0, 1, 10, 0),
            id="more-cached-than-there-was",
        ),
        pytest.param(
            [usage(4, 9, completion_tokens_details={"reasoning_tokens": 7})],
            TokenUsage(4, 9, reasoning_tokens=7),
            id="reasoning-stays-in-the-output",
        ),
        pytest.param(
            [usage(4, 9, prompt_tokens_details=None, completion_tokens_details=[])],
            TokenUsage(4, 9),
            id="details-of-no-use",
        ),
        pytest.param([usage(4, 1), usage(4, 1)], TokenUsage(4, 1), id="repeats-are-not-added"),
        pytest.param([usage(4, 1), usage(4, 5)], TokenUsage(4, 5), id="the-last-full-report"),
        pytest.param(
            [usage(4, 1), usage(None, 5), usage(4, -1), {"choices": [], "usage": {}}],
            TokenUsage(4, 1),
            id="partial-reports-erase-nothing",
        ),
        pytest.param(
            [{"choices": [], "usage": None}, {"choices": [], "usage": "x"}, usage("4", 1)],
            None,
            id="reports-without-sense",
        ),
        pytest.param([usage(4, 1.0), usage(True, 1)], None, id="no-whole-numbers"),
        pytest.param(
            [{"choices": [], "x_groq": {"usage": {"prompt_tokens": 4, "completion_tokens": 1}}}],
            TokenUsage(4, 1),
            id="groq",
        ),
        pytest.param(
            [{"usage": {"prompt_tokens": 4, "completion_tokens": 1}}],
            TokenUsage(4, 1),
            id="without-choices",
        ),
    ],
)
@pytest.mark.parametrize("place", ["after-the-finish", "before-the-finish", "beside-the-finish"])
def test_usage_is_the_last_full_report(
    reports: list[dict[str, Any]], expected: TokenUsage | None, place: str
) -> None:
    stopped: list[Any] = [STOPPED]
    if place == "after-the-finish":
        payloads = [said("Hi"), *stopped, *reports]
    elif place == "before-the-finish":
        payloads = [said("Hi"), *reports, *stopped]
    else:
        payloads = [
            said("Hi"),
            *reports[:-1],
            {**STOPPED, **reports[-1], "choices": STOPPED["choices"]},
        ]
    assert play(*payloads) == Good(text="Hi", usage=expected)
