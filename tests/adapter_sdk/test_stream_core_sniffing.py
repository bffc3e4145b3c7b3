"""What a 2xx body is: an event stream, one document, or nothing, whatever its media type says."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import pytest

from adapter_sdk import (
    STOP,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    TextBlock,
    TextDelta,
)
from adapter_sdk._http import ResponseHead
from adapter_sdk._stream_core import StreamCore
from adapter_sdk.dialects.openai_chat import ChatTranslator
from adapter_sdk.testing import Split, byte_by_byte, seeded, whole

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BOM = b"\xef\xbb\xbf"
SPLITS = [
    pytest.param(whole, id="whole"),
    pytest.param(byte_by_byte, id="byte-by-byte"),
    *(pytest.param(seeded(seed), id=f"seed-{seed}") for seed in range(3)),
]

DELTA = '{"choices":[{"index":0,"delta":{"content":"Hi"}}]}'
STOPPED = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
STREAM = f"data: {DELTA}\n\ndata: {STOPPED}\n\ndata: [DONE]\n\n".encode()
COMPLETION = (
    b'{"id":"1","object":"chat.completion","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}'
)
HI: list[Chunk] = [
    BlockStart(0, "text"),
    TextDelta(0, "Hi"),
    BlockEnd(0, TextBlock("Hi")),
    Finish(STOP),
]
EVENTS, JSON = "text/event-stream", "application/json"


def play(
    body: bytes, split: Split, *, media_type: str | None, status: int = 200, coding: str = ""
) -> list[Chunk]:
    """Feed a whole response, and something behind its end where it ends by itself."""
    core = StreamCore(ChatTranslator(terminal="done-sentinel"), request_id_headers=())
    headers = [] if media_type is None else [("Content-Type", media_type)]
    if coding:
        headers.append(("content-encoding", coding))
    core.head(ResponseHead(status, headers), received_at=NOON)
    for read in split(body):
        core.data(read)
    if core.finished:
        core.data(b"data: {\n\n<html>")
    core.end()
    assert core.finished
    return list(core.out)


def failed(code: str, message: str, *, status: int = 200) -> list[Chunk]:
    failure = LlmFailure(message=message, code=code, status=status)
    return [Finish(FinishReason("error", failure))]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    "media_type",
    [
        pytest.param(EVENTS, id="event-stream"),
        pytest.param("Text/Event-Stream ; charset=latin-1", id="any-case-and-charset"),
        pytest.param(JSON, id="json"),
        pytest.param("text/plain", id="plain"),
        pytest.param("text/html; charset=utf-8", id="html"),
        pytest.param("", id="empty"),
        pytest.param(None, id="absent"),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(STREAM, id="data"),
        pytest.param(STREAM.replace(b"data: ", b"data:"), id="data-without-a-space"),
        pytest.param(BOM + STREAM, id="byte-order-mark"),
        pytest.param(b"\n\r\n\n" + STREAM, id="blank-lines"),
        pytest.param(BOM + b"\n\n" + STREAM, id="byte-order-mark-and-blank-lines"),
        pytest.param(b":\n\n" + STREAM, id="bare-colon"),
        pytest.param(b": keep-alive\n\n" + STREAM, id="comment"),
        pytest.param(b"event: message\n" + STREAM, id="event"),
        pytest.param(b"id: 7\n" + STREAM, id="id"),
        pytest.param(b"retry: 10\n\n" + STREAM, id="retry"),
        pytest.param(b"data\n\n" + STREAM, id="data-without-a-colon"),
        pytest.param(b"id\r\n\r\n" + STREAM, id="id-without-a-colon"),
        pytest.param(STREAM.replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param(STREAM.replace(b"\n", b"\r"), id="cr"),
    ],
)
def test_an_event_stream_is_read_as_one_under_any_media_type(
    body: bytes, media_type: str | None, split: Split
) -> None:
    assert play(body, split, media_type=media_type) == HI


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("media_type", [EVENTS, JSON, None])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(COMPLETION, id="as-it-is"),
        pytest.param(BOM + COMPLETION, id="byte-order-mark"),
        pytest.param(b"\n         \n" * 50 + COMPLETION, id="blank-lines-of-a-queue"),
        pytest.param(json.dumps(json.loads(COMPLETION), indent=2).encode() + b"\n", id="pretty"),
    ],
)
def test_a_whole_completion_is_a_good_answer(
    body: bytes, media_type: str | None, split: Split
) -> None:
    assert play(body, split, media_type=media_type) == HI


def test_a_whole_completion_after_half_a_megabyte_of_blank_lines_is_one_too() -> None:
    assert play(b" \n" * 300_000 + COMPLETION, seeded(1, longest=9_000), media_type=JSON) == HI


@pytest.mark.parametrize("split", SPLITS)
def test_a_declared_event_stream_may_begin_with_a_field_that_nobody_knows(split: Split) -> None:
    assert play(b"speed: 5\n" + STREAM, split, media_type=EVENTS) == HI


WITHOUT_MEANING = "the answer is JSON without meaning"
NO_CHOICES = "the answer has no choices and no error"
NO_FORMAT = "HTTP 200 with no JSON and no event stream: "


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("media_type", "body", "code", "message"),
    [
        pytest.param(JSON, b"null", "MALFORMED_RESPONSE", WITHOUT_MEANING, id="null"),
        pytest.param(JSON, b"5", "MALFORMED_RESPONSE", WITHOUT_MEANING, id="number"),
        pytest.param(JSON, b'"Hi"', "MALFORMED_RESPONSE", WITHOUT_MEANING, id="string"),
        pytest.param(JSON, b"{}", "MALFORMED_RESPONSE", WITHOUT_MEANING, id="empty-object"),
        pytest.param(EVENTS, b"[]", "MALFORMED_RESPONSE", WITHOUT_MEANING, id="empty-array"),
        pytest.param(JSON, b'{"id":"1"}', "MALFORMED_RESPONSE", NO_CHOICES, id="no-choices"),
        pytest.param(
            JSON,
            b'{"id":null,"choices":null,"usage":null}',
            "MALFORMED_RESPONSE",
            NO_CHOICES,
            id="every-field-null",
        ),
        pytest.param(
            JSON,
            COMPLETION.replace(b'"stop"', b"null"),
            "STREAM_CLOSED",
            "the completion has no finish reason",
            id="completion-without-a-finish",
        ),
        pytest.param(
            JSON,
            COMPLETION[:40],
            "MALFORMED_RESPONSE",
            NO_FORMAT + COMPLETION[:40].decode(),
            id="completion-that-is-cut",
        ),
        pytest.param(
            "text/html",
            b"<!DOCTYPE html>\n<title>Welcome</title>",
            "MALFORMED_RESPONSE",
            "HTTP 200 with an HTML page: <!DOCTYPE html> <title>Welcome</title>",
            id="page",
        ),
        pytest.param(
            EVENTS,
            b"<html>",
            "MALFORMED_RESPONSE",
            "HTTP 200 with an HTML page: <html>",
            id="page-under-an-event-stream-type",
        ),
        pytest.param(
            "text/html",
            b"\n\n  <html>" + b"x" * 500,
            "MALFORMED_RESPONSE",
            "HTTP 200 with an HTML page: <html>" + "x" * 194,
            id="a-long-page-is-quoted-from-its-beginning",
        ),
        *(
            pytest.param(
                "text/plain", words.encode(), "MALFORMED_RESPONSE", NO_FORMAT + words, id=words
            )
            for words in (
                "hello",
                "database unavailable",
                "identity provider is down",
                "errors everywhere",
                "eventually",
                "retrying",
            )
        ),
        pytest.param(
            "text/plain",
            b"\xff\x00\x01",
            "MALFORMED_RESPONSE",
            NO_FORMAT + "\ufffd",
            id="binary",
        ),
        pytest.param(JSON, b"", "EMPTY_RESPONSE", "HTTP 200 without any content", id="empty"),
        pytest.param(
            None, b"", "EMPTY_RESPONSE", "HTTP 200 without any content", id="empty-untyped"
        ),
        pytest.param(
            JSON, b"\n \r\n", "EMPTY_RESPONSE", "HTTP 200 with blank lines only", id="blank-lines"
        ),
        pytest.param(
            JSON, BOM, "EMPTY_RESPONSE", "HTTP 200 with blank lines only", id="mark-alone"
        ),
        pytest.param(
            EVENTS, b"", "STREAM_CLOSED", "the stream ended before its first event", id="no-event"
        ),
        pytest.param(
            EVENTS,
            b"\n\n",
            "STREAM_CLOSED",
            "the stream ended before its first event",
            id="blank-lines-and-no-event",
        ),
        pytest.param(
            JSON,
            b"dat",
            "STREAM_CLOSED",
            "the stream ended before its first event",
            id="the-beginning-of-a-field",
        ),
        pytest.param(
            None,
            b"data",
            "STREAM_CLOSED",
            "the stream ended before its first event",
            id="a-field-without-its-line-end",
        ),
    ],
)
def test_anything_else_is_told_for_what_it_is(
    media_type: str | None, body: bytes, code: str, message: str, split: Split
) -> None:
    assert play(body, split, media_type=media_type) == failed(code, message)


@pytest.mark.parametrize(
    ("media_type", "code", "message"),
    [
        pytest.param(None, "EMPTY_RESPONSE", "HTTP 204 without any content", id="untyped"),
        pytest.param(JSON, "EMPTY_RESPONSE", "HTTP 204 without any content", id="json"),
    ],
)
def test_no_content_is_an_empty_response(media_type: str | None, code: str, message: str) -> None:
    assert play(b"", whole, media_type=media_type, status=204) == failed(code, message, status=204)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("media_type", [EVENTS, JSON])
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"error":{"message":"slow","type":"rate_limit_error"}}', id="envelope"),
        pytest.param(b'[{"error":{"message":"slow","code":429}}]', id="array"),
        pytest.param(b'{"error":{"message":"slow","code":"429"}}', id="a-status-of-its-own"),
    ],
)
def test_an_error_object_is_classified_and_its_status_stays_what_http_says(
    body: bytes, media_type: str, split: Split
) -> None:
    assert play(body, split, media_type=media_type) == failed("RATE_LIMIT", "slow")


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("media_type", [EVENTS, JSON])
@pytest.mark.parametrize(
    "body", [pytest.param(STREAM, id="events"), pytest.param(COMPLETION, id="document")]
)
def test_a_compressed_body_is_read_as_any_other(body: bytes, media_type: str, split: Split) -> None:
    assert play(gzip.compress(body), split, media_type=media_type, coding="gzip") == HI
