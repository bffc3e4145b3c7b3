"""Answers on the responses wire that fail, for every split of their bytes."""

from __future__ import annotations

from typing import Any, Final

import pytest

from .playing import SPLITS, Bad, chunks_of, finish_of, seen, sse
from .responses_wire import (
    CALLED,
    DIALECT,
    HI,
    USED,
    added,
    arguments,
    call,
    end,
    event,
    message,
    reasoning,
    text,
)

HALF: Final = [text("Ha")]
LIMIT: Final = {"code": "rate_limit_exceeded", "message": "slow"}
BROKEN: Final = {"code": "server_error", "message": "broken"}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param(HI, Bad(code="STREAM_CLOSED", text="Hi"), id="cut-after-the-item"),
        pytest.param(HALF, Bad(code="STREAM_CLOSED", text="Ha"), id="cut-in-text"),
        pytest.param(CALLED, Bad(code="STREAM_CLOSED"), id="cut-after-a-whole-call"),
        pytest.param(
            [*HI, b"data: [DONE]\n\n", end()],
            Bad(code="STREAM_CLOSED", text="Hi"),
            id="the-marker-of-another-dialect",
        ),
        pytest.param([end()], Bad(code="EMPTY_RESPONSE", usage=USED), id="no-output"),
        pytest.param(
            [added(message()), text(""), end(reasoning(), message(""))],
            Bad(code="EMPTY_RESPONSE", usage=USED),
            id="empty-items-are-no-content",
        ),
        pytest.param(
            [*HALF, end(kind="incomplete", incomplete_details={"reason": "content_filter"})],
            Bad(code="CONTENT_FILTER", text="Ha", usage=USED),
            id="content_filter",
        ),
        pytest.param(
            [*HALF, end(kind="incomplete", incomplete_details={"reason": "of_tomorrow"})],
            Bad(code="UNKNOWN", text="Ha", usage=USED),
            id="an-unknown-reason",
        ),
        pytest.param(
            [*HALF, end(kind="incomplete", incomplete_details=None)],
            Bad(code="UNKNOWN", text="Ha", usage=USED),
            id="incomplete-for-no-reason",
        ),
        pytest.param(
            [*HALF, end(kind="cancelled")],
            Bad(code="UNKNOWN", text="Ha", usage=USED),
            id="cancelled-at-the-provider",
        ),
        pytest.param(
            [*HALF, end(kind="failed", error=LIMIT)],
            Bad(code="RATE_LIMIT", text="Ha", usage=USED),
            id="failed",
        ),
        pytest.param(
            [*HALF, end(kind="failed", error=BROKEN, usage=None)],
            Bad(code="SERVER", text="Ha"),
            id="failed-without-usage",
        ),
        pytest.param(
            [*HALF, end(kind="failed")],
            Bad(code="SERVER", text="Ha", usage=USED),
            id="failed-without-an-error",
        ),
        pytest.param(
            [*HALF, end(message("Ha"), error=BROKEN)],
            Bad(code="SERVER", text="Ha", usage=USED),
            id="completed-with-an-error",
        ),
        pytest.param(
            [*HALF, {"type": "error", "sequence_number": 3, "param": None, **LIMIT}, end()],
            Bad(code="RATE_LIMIT", text="Ha"),
            id="a-flat-error-event",
        ),
        pytest.param(
            [*HALF, {"type": "error", "error": LIMIT}],
            Bad(code="RATE_LIMIT", text="Ha"),
            id="a-nested-error-event",
        ),
        pytest.param(
            [*HALF, b'data: {"error":{"code":500,"message":"no","type":"server_error"}}\n\n'],
            Bad(code="SERVER", text="Ha", status=500),
            id="an-error-without-name-and-type",
        ),
        pytest.param(
            [b"event: error\ndata: too many requests\n\n"],
            Bad(code="RATE_LIMIT"),
            id="an-error-in-words",
        ),
        pytest.param([b'data: {"detail":"no"}\n\n'], Bad(code="SERVER"), id="a-nameless-detail"),
        pytest.param(
            [b'data: {"object":"error","message":"no","type":"BadRequestError","code":400}\n\n'],
            Bad(code="INVALID_REQUEST", status=400),
            id="a-flat-error-object-whose-type-is-no-event",
        ),
        pytest.param([b"data: {\n\n"], Bad(code="MALFORMED_RESPONSE"), id="no-json"),
        pytest.param([b"data: 5\n\n"], Bad(code="MALFORMED_RESPONSE"), id="no-object"),
        pytest.param(
            [arguments("{}"), end()],
            Bad(code="MALFORMED_RESPONSE"),
            id="arguments-for-a-call-that-never-began",
        ),
        pytest.param(
            [text("Ha"), {**arguments("{}"), "item_id": "msg_1"}, end()],
            Bad(code="MALFORMED_RESPONSE", text="Ha"),
            id="arguments-inside-a-message",
        ),
        pytest.param(
            [event("output_text.delta", delta=5)],
            Bad(code="MALFORMED_RESPONSE"),
            id="text-that-is-a-number",
        ),
        pytest.param(
            [event("output_item.added", item=5)], Bad(code="MALFORMED_RESPONSE"), id="no-item"
        ),
        pytest.param(
            [*HALF, end(5)],
            Bad(code="MALFORMED_RESPONSE", text="Ha", usage=USED),
            id="an-item-that-is-a-number",
        ),
        pytest.param(
            [end(call("{}", name=None))],
            Bad(code="MALFORMED_RESPONSE", usage=USED),
            id="a-call-without-a-name",
        ),
        pytest.param(
            [
                b'data: {"type":"response.output_item.done","item":{"type":"function_call",'
                b'"name":"ls","arguments":{"a":NaN}}}\n\n'
            ],
            Bad(code="MALFORMED_RESPONSE"),
            id="arguments-that-are-no-json",
        ),
    ],
)
def test_a_bad_answer(events: list[Any], expected: Bad) -> None:
    body = sse(*events)
    for split in SPLITS:
        assert seen(chunks_of(DIALECT, body, split=split)) == expected


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (
            end(kind="incomplete", incomplete_details={"reason": "of_tomorrow"}),
            "the response ended as 'of_tomorrow'",
        ),
        (end(kind="cancelled"), "the response ended as 'cancelled'"),
        (end(kind="failed", error=BROKEN), "broken"),
        (end(kind="failed"), "the response failed, and no error says why"),
    ],
)
def test_the_message_keeps_the_word_of_the_provider(last: dict[str, Any], message: str) -> None:
    failure = finish_of(chunks_of(DIALECT, sse(*HALF, last))).failure
    assert failure is not None
    assert failure.message == message
