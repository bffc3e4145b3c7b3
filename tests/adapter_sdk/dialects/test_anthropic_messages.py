"""Good answers on the messages wire, for every split of their bytes."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk import (
    STOP,
    BlockEnd,
    BlockStart,
    Finish,
    TextBlock,
    TextDelta,
    TokenUsage,
    UsageReport,
)

from .messages_wire import (
    CALL,
    DIALECT,
    HI,
    PING,
    USED,
    arguments,
    begin,
    closing,
    delta,
    signature,
    start,
    stop,
    text,
    thought,
)
from .playing import SPLITS, Good, chunks_of, seen, sse

LONE: Final = "\ufffd"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([*HI, *closing()], Good(text="Hi", usage=USED), id="text"),
        pytest.param(
            [start(), PING, begin(0, "text", text="H"), PING, text(0, "i"), *closing()],
            Good(text="Hi", usage=USED),
            id="text-in-the-start-and-pings-between-and-no-stop",
        ),
        pytest.param(
            [start(), begin(0, "text", text=""), text(0, "\ud83d"), text(0, "\ude00"), *closing()],
            Good(text="😀", usage=USED),
            id="a-surrogate-pair-over-two-deltas",
        ),
        pytest.param(
            [start(), begin(0, "text", text=""), text(0, "a\ud83d"), stop(0), *closing()],
            Good(text="a" + LONE, usage=USED),
            id="a-lone-surrogate-at-the-end",
        ),
        pytest.param(
            [
                start(),
                begin(0, "text"),
                text(0, "a"),
                stop(0),
                begin(1, "text"),
                text(1, "b"),
                *closing(),
            ],
            Good(text="ab", usage=USED),
            id="two-texts",
        ),
        pytest.param(
            [
                start(),
                begin(0, "thinking"),
                thought(0, "a"),
                stop(0),
                begin(0, "thinking"),
                thought(0, "b"),
                *closing(),
            ],
            Good(reasoning=("a", "b"), usage=USED),
            id="an-index-used-again",
        ),
        pytest.param(
            [start(), CALL, arguments(0, "{"), CALL, arguments(0, "}"), *closing("tool_use")],
            Good(finish="tool-calls", tools=(("t1", "ls", "{}"),), usage=USED),
            id="the-same-start-twice",
        ),
        pytest.param(
            [
                start(),
                {**begin(0, "text"), "index": None},
                {**text(0, "Hi"), "index": None},
                *closing(),
            ],
            Good(text="Hi", usage=USED),
            id="a-block-without-an-index",
        ),
        pytest.param(
            [
                *HI,
                b'event: message_delta\ndata: {"delta":{"stop_reason":"end_turn"}}\n\n',
                b"event: message_stop\ndata: {}\n\n",
            ],
            Good(text="Hi", usage=TokenUsage(7, 1)),
            id="events-with-a-name-alone",
        ),
        pytest.param(
            [
                start(),
                begin(0, "thinking", thinking="", signature=""),
                thought(0, "h"),
                thought(0, "m"),
                begin(1, "text", text=""),
                text(1, "Ok"),
                begin(2, "tool_use", id="t1", name="ls"),
                arguments(2, '{"a":'),
                arguments(2, "1}"),
                signature(0, "sig"),
                stop(0),
                stop(1),
                stop(2),
                *closing("tool_use"),
            ],
            Good(
                finish="tool-calls",
                text="Ok",
                reasoning=("hm",),
                tools=(("t1", "ls", '{"a":1}'),),
                usage=USED,
            ),
            id="blocks-that-overlap-and-stop-together",
        ),
        pytest.param(
            [start(), begin(0, "thinking", thinking=""), signature(0, "s"), stop(0), *closing()],
            Good(reasoning=("",), usage=USED),
            id="thinking-whose-text-is-withheld",
        ),
        pytest.param(
            [
                start(),
                begin(0, "redacted_thinking", data="x"),
                stop(0),
                *HI[1:2],
                text(0, "Hi"),
                *closing(),
            ],
            Good(text="Hi", reasoning=("",), usage=USED),
            id="redacted-thinking",
        ),
        pytest.param(
            [
                start(),
                CALL,
                arguments(0, ""),
                arguments(0, ' {"p": 1.0}'),
                stop(0),
                *closing("tool_use"),
            ],
            Good(finish="tool-calls", tools=(("t1", "ls", ' {"p": 1.0}'),), usage=USED),
            id="arguments-stay-the-characters-that-came",
        ),
        pytest.param(
            [start(), CALL, arguments(0, '{"half'), stop(0), *closing("tool_use")],
            Good(finish="tool-calls", tools=(("t1", "ls", '{"half'),), usage=USED),
            id="malformed-arguments-stay-as-they-are",
        ),
        pytest.param(
            [start(), CALL, stop(0), *closing("tool_use")],
            Good(finish="tool-calls", tools=(("t1", "ls", "{}"),), usage=USED),
            id="a-call-without-arguments",
        ),
        pytest.param(
            [start(), begin(0, "tool_use", id="t1", name="ls"), stop(0), *closing("tool_use")],
            Good(finish="tool-calls", tools=(("t1", "ls", ""),), usage=USED),
            id="a-call-without-any-input",
        ),
        pytest.param(
            [
                start(),
                begin(0, "tool_use", id="t1", name="ls", input={"a": [1, "é"]}),
                *closing("tool_use"),
            ],
            Good(finish="tool-calls", tools=(("t1", "ls", '{"a":[1,"é"]}'),), usage=USED),
            id="an-input-given-whole-in-a-start-that-nothing-stops",
        ),
        pytest.param(
            [
                start(),
                begin(0, "tool_use", id="t1", name="ls", input={"a": 1}),
                arguments(0, '{"a": 1}'),
                stop(0),
                *closing("tool_use"),
            ],
            Good(finish="tool-calls", tools=(("t1", "ls", '{"a": 1}'),), usage=USED),
            id="an-input-given-whole-and-again-in-deltas",
        ),
        pytest.param(
            [start(), CALL, arguments(0, "{}"), stop(0), *closing("end_turn")],
            Good(finish="tool-calls", tools=(("t1", "ls", "{}"),), usage=USED),
            id="end_turn-after-a-complete-call-is-tool-calls",
        ),
        pytest.param(
            [*HI, *closing("tool_use")],
            Good(text="Hi", usage=USED),
            id="tool_use-without-any-call-is-stop",
        ),
        pytest.param(
            [
                *HI,
                begin(1, "tool_use", id="t1", name="ls"),
                arguments(1, '{"a'),
                stop(1),
                *closing("max_tokens"),
            ],
            Good(finish="max-tokens", text="Hi", usage=USED),
            id="max_tokens-drops-the-call",
        ),
        pytest.param(
            [start(), *closing("max_tokens")],
            Good(finish="max-tokens", usage=USED),
            id="max_tokens-without-content",
        ),
        pytest.param(
            [*HI, *closing("model_context_window_exceeded")],
            Good(finish="max-tokens", text="Hi", usage=USED),
            id="the-window-is-full",
        ),
        pytest.param(
            [*HI, *closing("stop_sequence")], Good(text="Hi", usage=USED), id="stop_sequence"
        ),
        pytest.param([*HI, *closing("pause_turn")], Good(text="Hi", usage=USED), id="pause_turn"),
        pytest.param(
            [*HI, closing("tool_use")[0], *closing("max_tokens")],
            Good(text="Hi", usage=USED),
            id="the-first-stop-reason-stays",
        ),
        pytest.param(
            [*HI, closing("")[0], closing(None)[0], *closing()],
            Good(text="Hi", usage=USED),
            id="empty-stop-reasons-are-none",
        ),
        pytest.param(
            [
                start(),
                begin(0, "server_tool_use", id="srv", name="web_search", input={}),
                arguments(0, '{"query":"x"}'),
                stop(0),
                begin(1, "web_search_tool_result", tool_use_id="srv", content=[{"title": "t"}]),
                stop(1),
                begin(2, "text", text=""),
                delta(2, "citations_delta", citation={"url": "u"}),
                text(2, "Hi"),
                delta(2, "of_tomorrow", text="no"),
                stop(2),
                {"type": "event_of_tomorrow", "message": "no"},
                *closing(),
            ],
            Good(text="Hi", usage=USED),
            id="tools-of-the-provider-and-unknown-kinds-are-passed-over",
        ),
        pytest.param(
            [*HI, *closing(), text(9, "late"), {"type": "error", "error": {"message": "late"}}],
            Good(text="Hi", usage=USED),
            id="what-follows-message_stop-is-not-read",
        ),
        pytest.param(
            [b"data: null\n\n", b"data:\n\n", b": hi\n\n", *HI, *closing()],
            Good(text="Hi", usage=USED),
            id="null-blank-and-comments",
        ),
        pytest.param(
            [start(), begin(0, "text"), text(0, "  \n"), *closing()],
            Good(text="  \n", usage=USED),
            id="white-space-only",
        ),
    ],
)
@pytest.mark.parametrize("named", [True, False], ids=["named", "nameless"])
def test_a_good_answer(events: list[Any], expected: Good, named: bool) -> None:
    body = sse(*events, named=named)
    for split in SPLITS:
        assert seen(chunks_of(DIALECT, body, split=split)) == expected


def test_ends_usage_and_finish_come_with_the_last_event() -> None:
    before, last = sse(*HI, *closing()[:1]), sse(closing()[1])
    assert chunks_of(DIALECT, before)[:3] == [
        BlockStart(0, "text"),
        TextDelta(0, "H"),
        TextDelta(0, "i"),
    ]
    state = {
        "version": 1,
        "dialect": "anthropic-messages",
        "response_id": "msg_1",
        "stop_reason": "end_turn",
        "blocks": [{}],
    }
    assert chunks_of(DIALECT, before + last)[3:] == [
        BlockEnd(0, TextBlock("Hi")),
        UsageReport(USED),
        Finish(STOP, state),
    ]


def test_ids_are_never_empty_and_never_the_same() -> None:
    calls = [begin(i, "tool_use", id=wire, name="ls") for i, wire in enumerate(["", "a", "a"])]
    answer = seen(chunks_of(DIALECT, sse(start(), *calls, *closing("tool_use"))))
    assert isinstance(answer, Good)
    ids = [tool[0] for tool in answer.tools]
    assert ids[1] == "a"
    assert len(set(ids)) == 3
    assert all(ids)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(
            {"input_tokens": 3, "output_tokens": 1},
            {"output_tokens": 9},
            TokenUsage(3, 9),
            id="two-halves",
        ),
        pytest.param(
            {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0},
            {"input_tokens": 1, "output_tokens": 9, "cache_read_input_tokens": 20},
            TokenUsage(1, 9, 20),
            id="all-of-it-at-the-end",
        ),
        pytest.param(
            {"input_tokens": 3, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 5},
            {"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 6}},
            TokenUsage(3, 9, 5, 4, 6),
            id="cache-and-thinking",
        ),
        pytest.param(
            {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": None},
            {"input_tokens": None, "output_tokens": "9", "cache_read_input_tokens": -1},
            TokenUsage(3, 1),
            id="senseless-counts-change-nothing",
        ),
        pytest.param({}, {"output_tokens": 9}, None, id="one-half-only"),
        pytest.param([], 5, None, id="no-objects"),
    ],
)
def test_usage_is_merged_field_by_field(
    first: Any, second: Any, expected: TokenUsage | None
) -> None:
    events = [start(first), *HI[1:], *closing(usage=second)]
    assert seen(chunks_of(DIALECT, sse(*events))) == Good(text="Hi", usage=expected)
