"""Good answers on the responses wire, for every split of their bytes."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk import STOP, BlockEnd, BlockStart, Finish, TextBlock, TextDelta, UsageReport

from .playing import SPLITS, Good, chunks_of, seen, sse
from .responses_wire import (
    BEGUN,
    CALLED,
    DIALECT,
    HI,
    USED,
    added,
    arguments,
    call,
    done,
    end,
    event,
    message,
    reasoning,
    text,
    thought,
)

TOOL: Final = ("call_1", "ls", '{"a":1}')
SECRET: Final = "gAAAA"


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([*HI, end(message("Hi"))], Good(text="Hi", usage=USED), id="text"),
        pytest.param(
            [*HI, event("output_text.done", item_id="msg_1", text="Hi"), end(message("Hi"))],
            Good(text="Hi", usage=USED),
            id="the-text-said-four-times",
        ),
        pytest.param([*HI[:4], end()], Good(text="Hi", usage=USED), id="the-text-in-deltas-alone"),
        pytest.param(
            [event("output_text.done", item_id="msg_1", text="Hi"), end()],
            Good(text="Hi", usage=USED),
            id="the-text-in-its-part-alone",
        ),
        pytest.param(
            [done(message("H", "i")), end()],
            Good(text="Hi", usage=USED),
            id="the-text-in-its-item-alone",
        ),
        pytest.param(
            [end(message("Hi"))], Good(text="Hi", usage=USED), id="the-text-in-the-response-alone"
        ),
        pytest.param(
            [*HI[:3], done(message("Hi")), end()],
            Good(text="Hi", usage=USED),
            id="a-delta-is-missing",
        ),
        pytest.param(
            [*HI[:3], end(message("Hi"))],
            Good(text="Hi", usage=USED),
            id="a-delta-and-the-end-of-the-item-are-missing",
        ),
        pytest.param(
            [*HI[:4], done(message("Hello")), end(message("Hi, you"))],
            Good(text="Hi", usage=USED),
            id="of-contradictions-the-deltas-stay",
        ),
        pytest.param(
            [*HI, end(message("Hi, you"))],
            Good(text="Hi", usage=USED),
            id="an-item-that-is-done-stays-as-it-is",
        ),
        pytest.param(
            [text("\ud83d"), text("\ude00"), done(message("😀!")), end()],
            Good(text="😀!", usage=USED),
            id="a-surrogate-pair-over-two-deltas",
        ),
        pytest.param(
            [text("H"), text("i"), end()], Good(text="Hi", usage=USED), id="an-item-never-added"
        ),
        pytest.param(
            [
                added(message(item_id="a"), output_index=0),
                text("H", "b", output_index=0),
                text("i", "c", output_index=0),
                done(message("Hi", item_id="d"), output_index=0),
                end(message("Hi", item_id="e")),
            ],
            Good(text="Hi", usage=USED),
            id="another-id-with-every-event",
        ),
        pytest.param(
            [
                added(reasoning(), output_index=0),
                {**thought("hm"), "output_index": 0},
                added(message(), output_index=0),
                text("Hi", output_index=0),
                {**thought("!"), "output_index": 0},
                end(reasoning("hm!"), message("Hi")),
            ],
            Good(text="Hi", reasoning=("hm!",), usage=USED),
            id="the-same-position-for-all-items",
        ),
        pytest.param(
            [
                added({"type": "reasoning"}),
                event("reasoning_text.delta", delta="hm"),
                added({"type": "message"}),
                event("output_text.delta", delta="Hi"),
                end(),
            ],
            Good(text="Hi", reasoning=("hm",), usage=USED),
            id="neither-ids-nor-positions",
        ),
        pytest.param(
            [added(call()), added(call()), arguments('{"a":1}'), end()],
            Good(finish="tool-calls", tools=(TOOL,), usage=USED),
            id="the-same-item-added-twice",
        ),
        pytest.param(
            [
                event("refusal.delta", item_id="msg_1", delta="No"),
                event("refusal.done", item_id="msg_1", refusal="No."),
                done(message(content=[{"type": "refusal", "refusal": "No."}])),
                end(),
            ],
            Good(text="No.", usage=USED),
            id="a-refusal-is-text",
        ),
        pytest.param(
            [
                added(reasoning()),
                thought("a"),
                thought("b"),
                event("reasoning_summary_text.done", item_id="rs_1", summary_index=0, text="ab"),
                thought("c", 1),
                done(reasoning("ab", "c")),
                *HI[1:],
                end(reasoning("ab", "c"), message("Hi")),
            ],
            Good(text="Hi", reasoning=("ab\n\nc",), usage=USED),
            id="paragraphs-of-a-summary",
        ),
        pytest.param(
            [done(reasoning("", "ab", "c")), *HI[1:], end()],
            Good(text="Hi", reasoning=("ab\n\nc",), usage=USED),
            id="a-summary-in-its-item-alone",
        ),
        pytest.param(
            [
                thought("short"),
                event("reasoning_text.delta", item_id="rs_1", delta="long"),
                done(reasoning("short", content=[{"type": "reasoning_text", "text": "long"}])),
                end(),
            ],
            Good(reasoning=("short",), usage=USED),
            id="the-same-reasoning-in-two-forms",
        ),
        pytest.param(
            [done(reasoning(content=[{"type": "reasoning_text", "text": "long"}])), end()],
            Good(reasoning=("long",), usage=USED),
            id="reasoning-without-a-summary",
        ),
        pytest.param(
            [done(reasoning(encrypted_content=SECRET)), *HI[1:], end()],
            Good(text="Hi", reasoning=("",), usage=USED),
            id="reasoning-that-only-its-provider-reads",
        ),
        pytest.param(
            [added(reasoning()), done(reasoning()), *HI[1:], end()],
            Good(text="Hi", usage=USED),
            id="reasoning-that-is-withheld",
        ),
        pytest.param(
            [*CALLED, end(call('{"a":1}'))],
            Good(finish="tool-calls", tools=(TOOL,), usage=USED),
            id="a-call",
        ),
        pytest.param(
            [
                added(call()),
                event("function_call_arguments.done", item_id="fc_1", arguments='{"a":1}'),
                end(),
            ],
            Good(finish="tool-calls", tools=(TOOL,), usage=USED),
            id="arguments-without-deltas",
        ),
        pytest.param(
            [added(call('{"a":1}')), end()],
            Good(finish="tool-calls", tools=(TOOL,), usage=USED),
            id="arguments-in-the-start-alone",
        ),
        pytest.param(
            [added(call('{"a":1}')), arguments('{"a"'), arguments(":1}"), end()],
            Good(finish="tool-calls", tools=(TOOL,), usage=USED),
            id="arguments-in-the-start-and-in-deltas",
        ),
        pytest.param(
            [end(call({"a": 1}))],
            Good(finish="tool-calls", tools=(TOOL,), usage=USED),
            id="arguments-as-an-object",
        ),
        pytest.param(
            [added(call(name="")), arguments(""), done(call()), end()],
            Good(finish="tool-calls", tools=(("call_1", "ls", ""),), usage=USED),
            id="a-name-that-comes-late-and-no-arguments",
        ),
        pytest.param(
            [
                added(call()),
                added(call(number=2)),
                arguments("{}", 2),
                arguments('{"a":1}', 1),
                end(call('{"a":1}'), call("{}", number=2)),
            ],
            Good(finish="tool-calls", tools=(TOOL, ("call_2", "ls", "{}")), usage=USED),
            id="two-calls-at-once",
        ),
        pytest.param(
            [
                *HI,
                *CALLED[1:4],
                end(kind="incomplete", incomplete_details={"reason": "max_tokens"}),
            ],
            Good(finish="max-tokens", text="Hi", usage=USED),
            id="a-cut-answer-has-no-call",
        ),
        pytest.param(
            [*HI, end(kind="completed", status="in_progress")],
            Good(text="Hi", usage=USED),
            id="the-event-proves-what-its-response-denies",
        ),
        pytest.param(
            [*HI, end(incomplete_details={"reason": "content_filter"})],
            Good(text="Hi", usage=USED),
            id="details-of-an-incomplete-response-in-a-complete-one",
        ),
        pytest.param(
            [*HI, event("completed")], Good(text="Hi"), id="a-last-event-without-its-response"
        ),
        pytest.param(
            [
                added({"type": "web_search_call", "id": "ws_1"}, output_index=0),
                event("web_search_call.searching", item_id="ws_1", output_index=0),
                event("output_text.delta", item_id="ws_1", delta="no"),
                done({"type": "web_search_call", "id": "ws_1"}, output_index=0),
                event("of_tomorrow", message="no"),
                *HI[1:],
                end({"type": "web_search_call", "id": "ws_1"}, message("Hi")),
            ],
            Good(text="Hi", usage=USED),
            id="tools-of-the-provider-and-unknown-kinds-are-passed-over",
        ),
        pytest.param(
            [*HI, end(), text("late"), {"type": "error", "message": "late"}, b"data: [DONE]\n\n"],
            Good(text="Hi", usage=USED),
            id="what-follows-the-last-event-is-not-read",
        ),
        pytest.param(
            [b"data: null\n\n", b"data:\n\n", b":\n\n", BEGUN, *HI, end()],
            Good(text="Hi", usage=USED),
            id="null-blank-and-comments",
        ),
        pytest.param([text(" \n"), end()], Good(text=" \n", usage=USED), id="white-space-only"),
    ],
)
@pytest.mark.parametrize("named", [True, False], ids=["named", "nameless"])
def test_a_good_answer(events: list[Any], expected: Good, named: bool) -> None:
    body = sse(*events, named=named)
    for split in SPLITS:
        assert seen(chunks_of(DIALECT, body, split=split)) == expected


def test_ends_usage_and_finish_come_with_the_last_event() -> None:
    chunks = chunks_of(DIALECT, sse(*HI, end(message("Hi"))))
    state = {
        "version": 1,
        "dialect": "openai-responses",
        "response_id": "resp_1",
        "stop_reason": "completed",
        "blocks": [{}],
    }
    assert chunks == [
        BlockStart(0, "text"),
        TextDelta(0, "H"),
        TextDelta(0, "i"),
        BlockEnd(0, TextBlock("Hi")),
        UsageReport(USED),
        Finish(STOP, state),
    ]
    assert chunks_of(DIALECT, sse(*HI))[:3] == chunks[:3]


def test_ids_are_never_empty_and_never_the_same() -> None:
    calls = [
        {"type": "function_call", "name": "ls"},
        call("{}", id="fc_a", call_id="a"),
        call("{}", id="fc_b", call_id="a"),
        call("{}", id="fc_c", call_id=None),
    ]
    answer = seen(chunks_of(DIALECT, sse(end(*calls))))
    assert isinstance(answer, Good)
    ids = [tool[0] for tool in answer.tools]
    assert (ids[1], ids[3]) == ("a", "fc_c")
    assert len(set(ids)) == 4
    assert all(ids)
