"""One response: what its head gives, what its bytes become, and what may end it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk import (
    STOP,
    BlockAssembler,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    ProviderRequestId,
    TextBlock,
    TextDelta,
    TokenUsage,
    UsageReport,
)
from adapter_sdk._http import ResponseHead
from adapter_sdk._stream_core import StreamCore
from adapter_sdk.dialects.openai_chat import ChatTranslator, Terminal
from adapter_sdk.testing import Split, at, byte_by_byte, seeded, whole

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EVENTS = ("content-type", "text/event-stream")
SPLITS = [
    pytest.param(whole, id="whole"),
    pytest.param(byte_by_byte, id="byte-by-byte"),
    *(pytest.param(seeded(seed), id=f"seed-{seed}") for seed in range(3)),
]

HI = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
STOPPED = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1}}\n\n'
DONE = "data: [DONE]\n\n"
ERROR = 'data: {"error":{"message":"busy","code":503}}\n\n'
GOOD = (HI + STOPPED + USAGE + DONE).encode()

OPEN: list[Chunk] = [BlockStart(0, "text"), TextDelta(0, "Hi")]
COUNTS = UsageReport(TokenUsage(4, 1))
GOOD_CHUNKS: list[Chunk] = [*OPEN, BlockEnd(0, TextBlock("Hi")), COUNTS, Finish(STOP)]


def begun(
    *headers: tuple[str, str],
    status: int = 200,
    terminal: Terminal = "done-sentinel",
    ids: Sequence[str] = ("x-request-id",),
) -> StreamCore:
    core = StreamCore(ChatTranslator(terminal=terminal), request_id_headers=ids)
    core.head(ResponseHead(status, list(headers)), received_at=NOON)
    return core


def feed(core: StreamCore, body: bytes | str, split: Split = whole) -> StreamCore:
    for read in split(body.encode() if isinstance(body, str) else body):
        core.data(read)
    return core


def failed(
    code: str,
    message: str,
    *,
    status: int | None = 200,
    wait_ms: int | None = None,
    request_id: str | None = None,
) -> Finish:
    named = None if request_id is None else ProviderRequestId(request_id)
    failure = LlmFailure(
        message=message,
        code=code,
        status=status,
        provider_retry_after_ms=wait_ms,
        request_id=named,
    )
    return Finish(FinishReason("aborted" if code == "ABORTED" else "error", failure))


def failure_of(core: StreamCore) -> LlmFailure:
    finish = core.out[-1]
    assert isinstance(finish, Finish)
    assert finish.failure is not None
    return finish.failure


# ---- from bytes to chunks ----------------------------------------------------------------

CLOSED = "the stream ended without [DONE]"


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("terminal", "body", "expected"),
    [
        pytest.param("done-sentinel", GOOD, GOOD_CHUNKS, id="good"),
        pytest.param(
            "done-sentinel", HI, [*OPEN, failed("STREAM_CLOSED", CLOSED)], id="cut-after-text"
        ),
        pytest.param(
            "done-sentinel",
            HI + STOPPED + USAGE,
            [*OPEN, COUNTS, failed("STREAM_CLOSED", f"{CLOSED} after finish reason stop")],
            id="finish-without-its-sentinel",
        ),
        pytest.param(
            "finish-reason", HI + STOPPED + USAGE, GOOD_CHUNKS, id="finish-that-needs-no-sentinel"
        ),
        pytest.param(
            "finish-reason",
            HI,
            [*OPEN, failed("STREAM_CLOSED", "the stream ended without a finish reason")],
            id="no-finish-at-all",
        ),
        pytest.param(
            "done-sentinel",
            HI + DONE,
            [*OPEN, failed("STREAM_CLOSED", "[DONE] came without a finish reason")],
            id="sentinel-without-a-finish",
        ),
        pytest.param(
            "done-sentinel",
            HI + STOPPED + DONE.removesuffix("\n"),
            [*OPEN, failed("STREAM_CLOSED", f"{CLOSED} after finish reason stop")],
            id="last-event-without-its-blank-line",
        ),
        pytest.param(
            "done-sentinel",
            HI + ERROR + STOPPED + DONE,
            [*OPEN, failed("SERVER", "busy", status=503)],
            id="error-after-text-names-its-own-status",
        ),
        pytest.param(
            "done-sentinel",
            HI + USAGE + 'data: {"error":"gone"}\n\n',
            [*OPEN, COUNTS, failed("SERVER", "gone")],
            id="usage-comes-before-the-failure",
        ),
        pytest.param(
            "done-sentinel",
            HI + "data: {oops}\n\n" + DONE,
            [*OPEN, failed("MALFORMED_RESPONSE", "an event is no JSON: {oops}")],
            id="no-json",
        ),
        pytest.param(
            "done-sentinel",
            ": keep-alive\n\ndata: null\n\ndata:\n\n" + GOOD.decode(),
            GOOD_CHUNKS,
            id="comments-null-and-empty-data-are-nothing",
        ),
    ],
)
def test_a_response_becomes_the_same_chunks_at_every_split(
    terminal: Terminal, body: bytes | str, expected: list[Chunk], split: Split
) -> None:
    core = feed(begun(EVENTS, terminal=terminal), body, split)
    if core.finished:
        feed(core, "data: {\n\n" + HI)  # bytes behind the end
    core.end()
    core.fault("TRANSPORT", "reset")
    assert (list(core.out), core.finished) == (expected, True)


@settings(deadline=None)
@given(cuts=st.lists(st.integers(1, len(GOOD) - 1), max_size=8))
def test_any_split_of_a_good_stream_gives_the_same_chunks(cuts: list[int]) -> None:
    assert list(feed(begun(EVENTS), GOOD, at(*cuts)).out) == GOOD_CHUNKS


def test_every_beginning_of_a_good_stream_fails_and_keeps_what_arrived() -> None:
    for length in range(len(GOOD) - 1):
        core = feed(begun(EVENTS), GOOD[:length])
        core.end()
        *chunks, finish = core.out
        assert chunks == GOOD_CHUNKS[: len(chunks)] or chunks == [*OPEN, COUNTS]
        assert isinstance(finish, Finish)
        assert failure_of(core).code == "STREAM_CLOSED"
        assembler = BlockAssembler()
        for chunk in core.out:
            assembler.add(chunk)
        assert assembler.interrupted_blocks() in ((), (TextBlock("Hi"),))


# ---- facts of the head -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "headers", "wait_ms"),
    [
        pytest.param(429, [("retry-after", "7")], 7_000, id="429"),
        pytest.param(503, [("Retry-After", "1.5")], 1_500, id="503"),
        pytest.param(302, [("retry-after", "7")], 7_000, id="redirect"),
        pytest.param(
            529, [("retry-after-ms", "20"), ("retry-after", "7")], 20, id="milliseconds-win"
        ),
        pytest.param(
            429, [("retry-after", "Thu, 01 Jan 2026 12:00:42 GMT")], 42_000, id="date-by-our-clock"
        ),
        pytest.param(200, [("retry-after", "7")], None, id="not-on-a-200"),
        pytest.param(206, [("retry-after", "7")], None, id="not-on-any-2xx"),
    ],
)
def test_the_wait_is_taken_outside_2xx_only(
    status: int, headers: list[tuple[str, str]], wait_ms: int | None
) -> None:
    core = begun(*headers, status=status)
    core.end()
    assert failure_of(core).provider_retry_after_ms == wait_ms


ENVELOPE = '{"error":{"message":"m"},"request_id":"req_body"}'


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        pytest.param([("x-b", "b"), ("x-a", "a")], "", "a", id="declared-order-not-wire-order"),
        pytest.param([("X-A", ""), ("x-b", "b")], "", "b", id="empty-is-skipped"),
        pytest.param([("x-a", "é"), ("x-b", "b")], "", "b", id="unclean-is-skipped"),
        pytest.param([("x-a", "x" * 257)], "", None, id="too-long-is-none"),
        pytest.param([("cf-ray", "edge"), ("x-c", "c")], "", None, id="undeclared-is-none"),
        pytest.param([("x-a", ""), ("x-a", "second")], "", "second", id="second-line"),
        pytest.param([], ENVELOPE, "req_body", id="envelope"),
        pytest.param([("x-b", "b")], ENVELOPE, "b", id="a-header-beats-the-envelope"),
        pytest.param([], ENVELOPE.replace("req_body", "a\\nb"), None, id="unclean-envelope"),
    ],
)
@pytest.mark.parametrize("status", [200, 500])
def test_the_request_id_is_found(
    status: int, headers: list[tuple[str, str]], body: str, expected: str | None
) -> None:
    core = feed(begun(*headers, status=status, ids=("x-a", "x-b")), body)
    core.end()
    assert failure_of(core).request_id == expected


@pytest.mark.parametrize(
    ("end", "code", "status"),
    [
        pytest.param(lambda core: core.end(), "STREAM_CLOSED", 200, id="clean-end"),
        pytest.param(lambda core: core.fault("TRANSPORT", "reset"), "TRANSPORT", 200, id="reset"),
        pytest.param(lambda core: core.fault("TIMEOUT", "silence"), "TIMEOUT", 200, id="timeout"),
        pytest.param(lambda core: core.abort("stop"), "ABORTED", 200, id="abort"),
        pytest.param(lambda core: feed(core, ERROR), "SERVER", 503, id="error-frame"),
        pytest.param(
            lambda core: feed(core, "data: [}\n\n"), "MALFORMED_RESPONSE", 200, id="no-json"
        ),
    ],
)
def test_the_request_id_is_kept_for_every_later_failure(
    end: Callable[[StreamCore], object], code: str, status: int
) -> None:
    core = feed(begun(EVENTS, ("x-request-id", "req_1")), HI)
    end(core)
    failure = failure_of(core)
    assert (failure.code, failure.status, failure.request_id) == (code, status, "req_1")


def test_before_the_head_a_failure_has_no_facts() -> None:
    core = StreamCore(ChatTranslator(terminal="done-sentinel"), request_id_headers=("x-a",))
    core.fault("TRANSPORT", "refused")
    assert list(core.out) == [failed("TRANSPORT", "refused", status=None)]


# ---- the ends from outside ---------------------------------------------------------------


def test_an_abort_drops_what_was_not_handed_out_but_not_the_usage() -> None:
    core = feed(begun(EVENTS), HI + STOPPED + USAGE + DONE)
    assert list(core.out) == GOOD_CHUNKS
    core.out.popleft()
    core.abort("stop")
    assert list(core.out) == [COUNTS, failed("ABORTED", "stop")]


def test_an_abort_after_the_usage_was_handed_out_does_not_repeat_it() -> None:
    core = feed(begun(EVENTS), GOOD)
    while core.out.popleft() != COUNTS:
        pass
    core.abort("")
    assert list(core.out) == [failed("ABORTED", "the caller aborted the call")]


@pytest.mark.parametrize("terminal", ["done-sentinel", "finish-reason"])
@pytest.mark.parametrize(
    ("body", "settled"),
    [
        pytest.param(HI, (False, False), id="text"),
        pytest.param(HI + STOPPED, (False, True), id="finish"),
        pytest.param(STOPPED.replace("stop", "content_filter"), (True, True), id="refusing-finish"),
        pytest.param(HI + STOPPED + DONE, (False, False), id="over"),
    ],
)
def test_a_call_is_settled_once_only_usage_can_follow(
    terminal: Terminal, body: str, settled: tuple[bool, bool]
) -> None:
    core = feed(begun(EVENTS, terminal=terminal), body)
    assert core.settled is settled[terminal == "finish-reason"]


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(lambda core: core.settle(), id="nothing-more-came"),
        pytest.param(lambda core: core.fault("TRANSPORT", "reset"), id="the-connection-broke"),
        pytest.param(lambda core: core.fault("TIMEOUT", "silence"), id="silence"),
        pytest.param(lambda core: core.end(), id="clean-end"),
    ],
)
def test_a_settled_call_ends_well_whatever_ends_it(end: Callable[[StreamCore], object]) -> None:
    core = feed(begun(EVENTS, terminal="finish-reason"), HI + STOPPED + USAGE)
    end(core)
    assert list(core.out) == GOOD_CHUNKS


def test_a_refusing_finish_gives_its_code_whatever_ends_the_call() -> None:
    core = feed(begun(EVENTS), HI + STOPPED.replace("stop", "content_filter"))
    core.fault("TRANSPORT", "reset")
    said = "the provider ended with finish reason 'content_filter'"
    assert list(core.out) == [*OPEN, failed("CONTENT_FILTER", said)]


def test_a_refusal_before_anything_was_sent_is_the_whole_stream() -> None:
    core = StreamCore(ChatTranslator(terminal="done-sentinel"), request_id_headers=())
    failure = LlmFailure(message="no key", code="MISSING_CREDENTIAL")
    core.refuse(failure)
    assert list(core.out) == [Finish(FinishReason("error", failure))]
