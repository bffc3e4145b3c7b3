"""Whole responses in place of a stream, and their usage."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from adapter_sdk import TokenUsage

from .playing import JSON, SPLITS, Bad, Good, chunks_of, seen
from .responses_wire import DIALECT, USED, call, message, reasoning, response

HI: Final = message("Hi")


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(response(HI), Good(text="Hi", usage=USED), id="text"),
        pytest.param(
            response(HI, status="complete"), Good(text="Hi", usage=USED), id="another-spelling"
        ),
        pytest.param(
            response(reasoning("hm"), HI, call('{"a":1}'), call("{}", number=2)),
            Good(
                finish="tool-calls",
                text="Hi",
                reasoning=("hm",),
                tools=(("call_1", "ls", '{"a":1}'), ("call_2", "ls", "{}")),
                usage=USED,
            ),
            id="everything",
        ),
        pytest.param(
            response(
                HI,
                call('{"a'),
                status="incomplete",
                incomplete_details={"reason": "max_output_tokens"},
            ),
            Good(finish="max-tokens", text="Hi", usage=USED),
            id="max_output_tokens",
        ),
        pytest.param(
            response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            Good(finish="max-tokens", usage=USED),
            id="max_output_tokens-without-content",
        ),
        pytest.param(
            response(HI, status="incomplete", incomplete_details={"reason": "content_filter"}),
            Bad(code="CONTENT_FILTER", text="Hi", usage=USED),
            id="content_filter",
        ),
        pytest.param(response(), Bad(code="EMPTY_RESPONSE", usage=USED), id="without-output"),
        pytest.param(response(status="queued"), Bad(code="STREAM_CLOSED", usage=USED), id="queued"),
        pytest.param(
            response(HI, status=None),
            Bad(code="STREAM_CLOSED", text="Hi", usage=USED),
            id="without-a-status",
        ),
        pytest.param(
            response(status="failed", error={"code": "insufficient_quota", "message": "no more"}),
            Bad(code="QUOTA"),
            id="failed",
        ),
        pytest.param({"error": {"type": "authentication_error"}}, Bad(code="AUTH"), id="error"),
        pytest.param({"detail": "no"}, Bad(code="SERVER"), id="detail"),
        pytest.param({"id": "resp_1"}, Bad(code="MALFORMED_RESPONSE"), id="without-meaning"),
        pytest.param([], Bad(code="MALFORMED_RESPONSE"), id="array"),
    ],
)
def test_a_whole_response_in_place_of_a_stream(document: Any, expected: Good | Bad) -> None:
    body = json.dumps(document).encode()
    for split in SPLITS:
        assert seen(chunks_of(DIALECT, body, split=split, media_type=JSON)) == expected


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param({"input_tokens": 7, "output_tokens": 5}, USED, id="two-counts"),
        pytest.param(
            {
                "input_tokens": 30,
                "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 4},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 3},
            },
            TokenUsage(6, 5, 20, 4, 3),
            id="cached-tokens-are-taken-out-of-the-input",
        ),
        pytest.param(
            {
                "input_tokens": 3,
                "input_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 4},
                "output_tokens": 5,
            },
            TokenUsage(0, 5, 3, 0),
            id="no-count-is-negative",
        ),
        pytest.param(
            {
                "input_tokens": 7,
                "input_tokens_details": None,
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": None},
            },
            USED,
            id="nulls",
        ),
        pytest.param({"input_tokens": 7}, None, id="one-half-only"),
        pytest.param({"input_tokens": "7", "output_tokens": 5.0}, None, id="other-types"),
        pytest.param(None, None, id="null"),
        pytest.param([], None, id="no-object"),
    ],
)
def test_usage_counts_each_token_once(usage: Any, expected: TokenUsage | None) -> None:
    body = json.dumps(response(HI, usage=usage)).encode()
    assert seen(chunks_of(DIALECT, body, media_type=JSON)) == Good(text="Hi", usage=expected)
