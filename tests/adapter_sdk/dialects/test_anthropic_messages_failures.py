"""Answers on the messages wire that fail, for every split of their bytes."""

from __future__ import annotations

from typing import Any, Final

import pytest

from adapter_sdk import TokenUsage

from .messages_wire import (
    CALL,
    DIALECT,
    USED,
    arguments,
    begin,
    closing,
    delta,
    signature,
    start,
    stop,
    text,
)
from .playing import SPLITS, Bad, chunks_of, finish_of, seen, sse

HALF: Final = [start(), begin(0, "text"), text(0, "Ha")]
OVERLOADED: Final = {"type": "overloaded_error", "message": "busy"}
STARTED: Final = TokenUsage(7, 1)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param(HALF, Bad(code="STREAM_CLOSED", text="Ha", usage=STARTED), id="cut-in-text"),
        pytest.param(
            [*HALF, stop(0), closing()[0]],
            Bad(code="STREAM_CLOSED", text="Ha", usage=USED),
            id="cut-before-message_stop",
        ),
        pytest.param(
            [start(), CALL, arguments(0, "{}"), stop(0)],
            Bad(code="STREAM_CLOSED", usage=STARTED),
            id="cut-after-a-whole-call",
        ),
        pytest.param(
            [*HALF, stop(0), {"type": "message_stop"}],
            Bad(code="STREAM_CLOSED", text="Ha", usage=STARTED),
            id="no-stop-reason",
        ),
        pytest.param(
            [*HALF, b"data: [DONE]\n\n", *closing()],
            Bad(code="STREAM_CLOSED", text="Ha", usage=STARTED),
            id="the-marker-of-another-dialect",
        ),
        pytest.param(
            [start(), *closing()], Bad(code="EMPTY_RESPONSE", usage=USED), id="no-content"
        ),
        pytest.param(
            [start(), begin(0, "text", text=""), stop(0), *closing("stop_sequence")],
            Bad(code="EMPTY_RESPONSE", usage=USED),
            id="an-empty-text-is-no-content",
        ),
        pytest.param(
            [start(), begin(0, "thinking", thinking=""), signature(0, ""), stop(0), *closing()],
            Bad(code="EMPTY_RESPONSE", usage=USED),
            id="empty-thinking-without-a-signature-is-no-content",
        ),
        pytest.param(
            [*HALF, *closing("refusal")],
            Bad(code="CONTENT_FILTER", text="Ha", usage=USED),
            id="refusal",
        ),
        pytest.param(
            [*HALF, *closing("of_tomorrow")],
            Bad(code="UNKNOWN", text="Ha", usage=USED),
            id="an-unknown-stop-reason",
        ),
        pytest.param(
            [*HALF, {"type": "error", "error": OVERLOADED}, *closing()],
            Bad(code="SERVER", text="Ha", usage=STARTED),
            id="an-error-event",
        ),
        pytest.param(
            [b'event: odd\ndata: {"type":"error","error":{"type":"rate_limit_error"}}\n\n'],
            Bad(code="RATE_LIMIT"),
            id="an-error-under-another-name",
        ),
        pytest.param(
            [*HALF, b'event: error\ndata: {"code":500,"message":"no","type":"server_error"}\n\n'],
            Bad(code="SERVER", text="Ha", usage=STARTED, status=500),
            id="a-flat-error",
        ),
        pytest.param(
            [b"event: error\ndata: overloaded\n\n"], Bad(code="SERVER"), id="an-error-in-words"
        ),
        pytest.param([b'data: {"detail":"no"}\n\n'], Bad(code="SERVER"), id="a-nameless-detail"),
        pytest.param(
            [b'data: {"object":"error","message":"no","type":"BadRequestError","code":400}\n\n'],
            Bad(code="INVALID_REQUEST", status=400),
            id="a-flat-error-object-whose-type-is-no-event",
        ),
        pytest.param(
            [{**closing()[0], "error": OVERLOADED}],
            Bad(code="SERVER"),
            id="an-error-beside-something-else",
        ),
        pytest.param(
            [b'data: [{"error":{"message":"slow down","code":429}}]\n\n'],
            Bad(code="RATE_LIMIT", status=429),
            id="an-array-of-errors",
        ),
        pytest.param([b"data: {\n\n"], Bad(code="MALFORMED_RESPONSE"), id="no-json"),
        pytest.param([b"data: 5\n\n"], Bad(code="MALFORMED_RESPONSE"), id="no-object"),
        pytest.param(
            [start(), text(3, "x")],
            Bad(code="MALFORMED_RESPONSE", usage=STARTED),
            id="text-for-a-block-that-never-began",
        ),
        pytest.param(
            [start(), CALL, arguments(1, "{}")],
            Bad(code="MALFORMED_RESPONSE", usage=STARTED),
            id="arguments-for-a-block-that-never-began",
        ),
        pytest.param(
            [start(), CALL, text(0, "x")],
            Bad(code="MALFORMED_RESPONSE", usage=STARTED),
            id="text-inside-a-call",
        ),
        pytest.param(
            [start(), begin(0, "text"), delta(0, "text_delta", text=5)],
            Bad(code="MALFORMED_RESPONSE", usage=STARTED),
            id="text-that-is-a-number",
        ),
        pytest.param(
            [start(), begin(0, "text"), {"type": "content_block_delta", "index": 0}],
            Bad(code="MALFORMED_RESPONSE", usage=STARTED),
            id="no-delta",
        ),
        pytest.param(
            [start(), begin(0, "tool_use", id="t1"), arguments(0, "{}"), *closing("tool_use")],
            Bad(code="MALFORMED_RESPONSE", usage=USED),
            id="a-call-without-a-name",
        ),
        pytest.param(
            [
                start(),
                b'data: {"type":"content_block_start","index":0,"content_block":{"type":'
                b'"tool_use","id":"t","name":"ls","input":{"a":NaN}}}\n\n',
                *closing("tool_use"),
            ],
            Bad(code="MALFORMED_RESPONSE", usage=USED),
            id="an-input-that-is-no-json",
        ),
    ],
)
def test_a_bad_answer(events: list[Any], expected: Bad) -> None:
    body = sse(*events)
    for split in SPLITS:
        assert seen(chunks_of(DIALECT, body, split=split)) == expected


def test_an_unknown_stop_reason_stays_in_the_message() -> None:
    failure = finish_of(chunks_of(DIALECT, sse(*HALF, *closing("of_tomorrow")))).failure
    assert failure is not None
    assert failure.message == "the provider ended with stop reason 'of_tomorrow'"
