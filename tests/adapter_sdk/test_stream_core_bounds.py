"""Bounds on what a response may cost, and bodies that come compressed."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import zstandard

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
from adapter_sdk._stream_core import (
    DEFAULT_EVENT_LIMIT_BYTES,
    ERROR_BODY_LIMIT_BYTES,
    StreamCore,
)
from adapter_sdk.dialects.openai_chat import ChatTranslator, Terminal
from adapter_sdk.testing import Split, byte_by_byte, seeded, whole

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EVENTS = ("content-type", "text/event-stream")
SPLITS = [
    pytest.param(whole, id="whole"),
    pytest.param(byte_by_byte, id="byte-by-byte"),
    *(pytest.param(seeded(seed), id=f"seed-{seed}") for seed in range(3)),
]
HI = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
STOPPED = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
DONE = "data: [DONE]\n\n"
GOOD = (HI + STOPPED + DONE).encode()
OPEN: list[Chunk] = [BlockStart(0, "text"), TextDelta(0, "Hi")]
GOOD_CHUNKS: list[Chunk] = [*OPEN, BlockEnd(0, TextBlock("Hi")), Finish(STOP)]


def begun(
    *headers: tuple[str, str],
    status: int = 200,
    terminal: Terminal = "done-sentinel",
    event_limit: int = 1_000_000,
) -> StreamCore:
    core = StreamCore(
        ChatTranslator(terminal=terminal), request_id_headers=(), event_limit_bytes=event_limit
    )
    core.head(ResponseHead(status, list(headers)), received_at=NOON)
    return core


def feed(core: StreamCore, body: bytes | str, split: Split = whole) -> StreamCore:
    for read in split(body.encode() if isinstance(body, str) else body):
        core.data(read)
    return core


def failed(code: str, message: str) -> Finish:
    return Finish(FinishReason("error", LlmFailure(message=message, code=code, status=200)))


def failure_of(core: StreamCore) -> LlmFailure:
    finish = core.out[-1]
    assert isinstance(finish, Finish)
    assert finish.failure is not None
    return finish.failure


def test_the_bounds_of_the_contract() -> None:
    assert (DEFAULT_EVENT_LIMIT_BYTES, ERROR_BODY_LIMIT_BYTES) == (16 * 1024 * 1024, 64 * 1024)


LARGE = 'data: {"choices":[{"index":0,"delta":{"content":"' + "x" * 200 + '"}}]}\n\n'


@pytest.mark.parametrize("split", SPLITS)
def test_an_event_above_the_limit_ends_the_call_after_what_came_before(split: Split) -> None:
    core = feed(begun(EVENTS, event_limit=150), HI + LARGE + DONE, split)
    said = "an event of the stream exceeds the limit of 150 bytes"
    assert list(core.out) == [*OPEN, failed("MALFORMED_RESPONSE", said)]


@pytest.mark.parametrize("split", SPLITS)
def test_a_document_above_the_limit_ends_the_call_before_it_has_arrived(split: Split) -> None:
    core = feed(begun(event_limit=150), b'{"choices":' + b"[" * 140, split)
    said = "the answer is larger than the limit of 150 bytes"
    assert list(core.out) == [failed("MALFORMED_RESPONSE", said)]


def test_a_bomb_meets_the_limit_of_an_event() -> None:
    core = begun(EVENTS, ("content-encoding", "gzip"), event_limit=2_000_000)
    feed(core, gzip.compress(b"data: " + bytes(50_000_000)))
    said = "an event of the stream exceeds the limit of 2000000 bytes"
    assert list(core.out) == [failed("MALFORMED_RESPONSE", said)]


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("coding", "body", "expected"),
    [
        pytest.param("gzip", gzip.compress(GOOD), GOOD_CHUNKS, id="whole"),
        pytest.param("deflate", zlib.compress(GOOD), GOOD_CHUNKS, id="deflate"),
        pytest.param(
            "gzip",
            gzip.compress(HI.encode()) + gzip.compress(GOOD[len(HI) :]),
            GOOD_CHUNKS,
            id="two-members",
        ),
        pytest.param(
            "gzip",
            gzip.compress(HI.encode())[:-8],
            [*OPEN, failed("STREAM_CLOSED", "the gzip body ended before its end")],
            id="cut",
        ),
        pytest.param(
            "br",
            b"whatever",
            [
                failed(
                    "MALFORMED_RESPONSE",
                    "the body has content-encoding br, which was not asked for",
                )
            ],
            id="not-understood",
        ),
    ],
)
def test_a_content_coding_is_undone_or_told(
    coding: str, body: bytes, expected: list[Chunk], split: Split
) -> None:
    core = feed(begun(EVENTS, ("content-encoding", coding)), body, split)
    core.end()
    assert list(core.out) == expected


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(b'{"choices":[]}', "TRANSPORT", id="plain-bytes-that-claim-gzip"),
        pytest.param(gzip.compress(b'{"a":' + b"1" * 99)[:-12], "STREAM_CLOSED", id="document-cut"),
    ],
)
def test_a_coded_document_that_is_damaged_or_cut_is_told(body: bytes, code: str) -> None:
    core = feed(begun(("content-encoding", "gzip")), body)
    core.end()
    assert failure_of(core).code == code


def test_a_finish_in_a_coded_body_is_no_proof_until_the_coding_is_whole() -> None:
    core = begun(EVENTS, ("content-encoding", "gzip"), terminal="finish-reason")
    packed = gzip.compress((HI + STOPPED).encode())
    feed(core, packed[:-4])
    core.fault("TRANSPORT", "cut")
    assert (failure_of(core).code, core.settled) == ("TRANSPORT", False)


# ---- error bodies ------------------------------------------------------------------------


def test_an_error_body_is_read_up_to_its_bound_and_no_further() -> None:
    core = begun(status=503)
    feed(core, b"x" * (ERROR_BODY_LIMIT_BYTES - 1))
    assert not core.finished
    core.data(b"x" * 10)
    assert core.finished
    assert failure_of(core).code == "SERVER"


def test_what_an_error_says_within_the_bound_counts_although_more_follows() -> None:
    said = b'{"error":{"code":"insufficient_quota","message":"empty"},"trace":"'
    core = feed(begun(status=429), said + b"x" * 500_000, seeded(3, longest=9_000))
    failure = failure_of(core)
    assert (failure.code, failure.message, failure.status) == ("QUOTA", "empty", 429)


@pytest.mark.parametrize(
    ("coding", "compress"),
    [
        pytest.param("gzip", gzip.compress, id="gzip"),
        pytest.param("deflate", zlib.compress, id="deflate"),
        pytest.param("zstd", zstandard.ZstdCompressor().compress, id="zstd"),
    ],
)
def test_a_bomb_as_an_error_body_is_bounded(
    coding: str, compress: Callable[[bytes], bytes]
) -> None:
    body = compress(b'{"error":{"message":"slow"}}' + bytes(60_000_000))[:60_000]
    core = begun(("content-encoding", coding), status=429)
    tracemalloc.start()
    try:
        feed(core, body)
        core.end()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (failure_of(core).code, peak < 100_000_000) == ("RATE_LIMIT", True)
    if coding != "zstd":  # whose smallest portion is larger
        assert peak < 8_000_000
