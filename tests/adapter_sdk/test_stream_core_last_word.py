"""What the core adds to any dialect: no secrets, the author's last word, bugs that stay inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from typing_extensions import override

from adapter_sdk import (
    STOP,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    InBandError,
    Json,
    LlmFailure,
    ProtocolFault,
    ReasoningDelta,
    TextDelta,
    TokenUsage,
    ToolCallDelta,
    UsageReport,
)
from adapter_sdk._http import ResponseHead
from adapter_sdk._stream_core import StreamCore

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
Refine = Callable[[LlmFailure, object], LlmFailure]


class Scripted:
    """A translator that plays what a test gives it, step by step."""

    settled = False

    def __init__(self, *steps: Iterable[Chunk] | Exception, usage: TokenUsage | None) -> None:
        self.steps = list(steps)
        self.usage = usage

    def _next(self) -> Iterable[Chunk]:
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        return self._next()

    def document(self, payload: Json) -> Iterable[Chunk]:
        return self._next()

    def close(self) -> Iterable[Chunk]:
        return self._next()


def scripted(
    *steps: Iterable[Chunk] | Exception,
    refine: Refine | None = None,
    usage: TokenUsage | None = None,
    media_type: str = "text/event-stream",
    status: int = 200,
) -> StreamCore:
    core = StreamCore(Scripted(*steps, usage=usage), request_id_headers=(), refine=refine)
    core.head(ResponseHead(status, [("content-type", media_type)]), received_at=NOON)
    core.secrets = ("sk-123",)
    return core


def error(code: str, message: str, status: int | None = 200) -> Finish:
    failure = LlmFailure(message=message, code=code, status=status)
    return Finish(FinishReason("error", failure))


# ---- secrets -----------------------------------------------------------------------------


LEAK = b"bad key sk-123, sk-123"
SHOWN = "bad key [credential], [credential]"


@pytest.mark.parametrize("refine", [None, lambda failure, _: failure])
def test_what_stands_for_a_key_is_not_searched_for_another_one(refine: Refine | None) -> None:
    core = scripted(status=401, refine=refine)
    core.secrets = ("dent", "sk-123")
    core.data(b'{"error":"dent and sk-123"}')
    core.end()
    assert list(core.out) == [error("AUTH", "[credential] and [credential]", 401)]


@pytest.mark.parametrize(
    ("core", "body", "finish"),
    [
        pytest.param(
            lambda: scripted(status=401),
            b'{"error":"%b"}' % LEAK,
            error("AUTH", SHOWN, 401),
            id="error-body",
        ),
        pytest.param(
            lambda: scripted(InBandError({"error": LEAK.decode()})),
            b"data: 1\n\n",
            error("SERVER", SHOWN),
            id="frame",
        ),
        pytest.param(
            lambda: scripted(InBandError({"error": LEAK.decode()}), media_type="application/json"),
            b"{}",
            error("SERVER", SHOWN),
            id="document",
        ),
        pytest.param(
            lambda: scripted(ProtocolFault("UNKNOWN", LEAK.decode())),
            b"data: 1\n\n",
            error("UNKNOWN", SHOWN),
            id="protocol-fault",
        ),
        pytest.param(
            lambda: scripted(media_type="text/plain"),
            LEAK,
            error("MALFORMED_RESPONSE", f"HTTP 200 with no JSON and no event stream: {SHOWN}"),
            id="words-that-are-no-stream",
        ),
    ],
)
def test_no_message_shows_a_secret(
    core: Callable[[], StreamCore], body: bytes, finish: Finish
) -> None:
    playing = core()
    playing.data(body)
    playing.end()
    assert list(playing.out) == [finish]


def test_a_secret_goes_before_the_message_is_cut() -> None:
    core = scripted(ProtocolFault("UNKNOWN", "x" * 2042 + "sk-123"))
    core.data(b"data: 1\n\n")
    assert list(core.out) == [error("UNKNOWN", "x" * 2042 + "[cr…")]


@pytest.mark.parametrize("ending", ["fault", "abort"])
def test_what_ends_the_call_from_outside_shows_no_secret_either(ending: str) -> None:
    core = scripted()
    if ending == "fault":
        core.fault("TRANSPORT", "illegal header b'Bearer sk-123'")
    else:
        core.abort("sk-123 was revoked")
    assert "sk-123" not in str(core.out)
    assert "[credential]" in str(core.out)


# ---- the author's last word --------------------------------------------------------------


def test_refining_sees_failure_and_payload_and_has_the_last_word() -> None:
    seen: list[object] = []

    def refine(failure: LlmFailure, payload: object) -> LlmFailure:
        seen.append((failure, payload))
        return replace(failure, code="QUOTA", message="the account of sk-123 is empty", status=402)

    payload = {"error": {"message": "odd", "code": "x1"}}
    core = scripted(InBandError(payload), refine=refine)
    core.data(b"data: 1\n\n")
    assert seen == [(LlmFailure(message="odd", code="SERVER", status=200), payload)]
    assert list(core.out) == [error("QUOTA", "the account of [credential] is empty", 402)]


@pytest.mark.parametrize(
    ("status", "body", "payload"),
    [
        pytest.param(500, b'{"error":"x"}', {"error": "x"}, id="error-body"),
        pytest.param(500, b"<html>", None, id="page"),
        pytest.param(200, b"", None, id="no-answer"),
    ],
)
def test_refining_gets_the_decoded_payload_or_none(
    status: int, body: bytes, payload: object
) -> None:
    seen: list[object] = []

    def refine(failure: LlmFailure, given: object) -> LlmFailure:
        seen.append(given)
        return failure

    core = scripted(refine=refine, status=status)
    core.data(body)
    core.end()
    assert seen == [payload]


def test_refining_is_asked_for_an_abort_too() -> None:
    core = scripted(refine=lambda failure, _: replace(failure, message=failure.message.upper()))
    core.abort("stop")
    assert str(core.out).count("STOP") == 1


@pytest.mark.parametrize(
    ("refine", "said"),
    [
        pytest.param(lambda *_: 1 / 0, "ZeroDivisionError", id="raises"),
        pytest.param(lambda *_: None, "AttributeError", id="returns-nothing"),
        pytest.param(
            lambda failure, _: replace(failure, code="MADE_UP"), "ValueError", id="breaks-a-rule"
        ),
    ],
)
def test_a_bug_in_refining_is_warned_of_and_costs_no_facts(refine: Any, said: str) -> None:
    core = scripted(InBandError({"error": "busy"}), refine=refine)
    with pytest.warns(RuntimeWarning, match=rf"refine_failure raised {said}"):
        core.data(b"data: 1\n\n")
    assert list(core.out) == [error("SERVER", "busy")]


# ---- bugs and carelessness of a dialect --------------------------------------------------


@pytest.mark.parametrize("media_type", ["text/event-stream", "application/json"])
def test_a_bug_of_the_dialect_at_the_end_is_a_failure(media_type: str) -> None:
    core = scripted(KeyError("choices"), media_type=media_type)
    core.data(b"{}" if media_type == "application/json" else b": hi\n\n")
    core.end()
    assert list(core.out) == [error("UNKNOWN", "KeyError: 'choices'")]


def test_chunks_that_came_before_a_fault_of_the_same_event_are_handed_out() -> None:
    def event() -> Iterable[Chunk]:
        yield BlockStart(0, "text")
        raise ProtocolFault("MALFORMED_RESPONSE", "half an event")

    core = scripted(event())
    core.data(b"data: 1\n\n")
    assert list(core.out) == [BlockStart(0, "text"), error("MALFORMED_RESPONSE", "half an event")]


def test_nothing_comes_after_a_finish_whatever_the_dialect_says() -> None:
    core = scripted([Finish(STOP), TextDelta(0, "late"), Finish(STOP)], [TextDelta(0, "later")])
    core.data(b"data: 1\n\ndata: 2\n\n")
    core.data(b"data: 3\n\n")
    core.end()
    assert list(core.out) == [Finish(STOP)]


def test_usage_that_the_dialect_reported_is_not_reported_again() -> None:
    usage = UsageReport(TokenUsage(1, 2))
    core = scripted([usage], ProtocolFault("UNKNOWN", "odd"), usage=usage.usage)
    core.data(b"data: 1\n\ndata: 2\n\n")
    assert list(core.out) == [usage, error("UNKNOWN", "odd")]


def test_a_fault_without_a_message_names_its_code() -> None:
    core = scripted(ProtocolFault("UNKNOWN", "\x00"))
    core.data(b"data: 1\n\n")
    assert list(core.out) == [error("UNKNOWN", "UNKNOWN without a message")]


# ---- what re-arms the limits -------------------------------------------------------------


@pytest.mark.parametrize(
    ("reads", "activity", "progress"),
    [
        pytest.param([b": keep-alive\n\n"], 1, 0, id="comment"),
        pytest.param([b":\n"], 1, 0, id="bare-colon"),
        pytest.param([b"data: 1\n\n"], 1, 0, id="event-without-content"),
        pytest.param([b"data: 2\n\n"], 1, 1, id="text"),
        pytest.param([b"data: 3\n\n"], 1, 1, id="reasoning"),
        pytest.param([b"data: 4\n\n"], 1, 1, id="arguments"),
        pytest.param([b"data: 2\n\ndata: 4\n\n: c\n\n"], 3, 2, id="several-in-one-read"),
        pytest.param([b"data: 2"], 0, 0, id="an-unfinished-line"),
        pytest.param([b"\n\n"], 0, 0, id="blank-lines-between-events"),
    ],
)
def test_events_and_comments_are_activity_and_content_is_progress(
    reads: list[bytes], activity: int, progress: int
) -> None:
    steps: dict[bytes, list[Chunk]] = {
        b"1": [BlockStart(0, "text")],
        b"2": [TextDelta(0, "a")],
        b"3": [ReasoningDelta(0, "a")],
        b"4": [ToolCallDelta(0, "c", "a")],
    }

    class ByData(Scripted):
        @override
        def event(self, name: str, data: bytes) -> Iterable[Chunk]:
            return steps[data]

    core = StreamCore(ByData(usage=None), request_id_headers=())
    core.head(ResponseHead(200, [("content-type", "text/event-stream")]), received_at=NOON)
    core.data(b": first\n\n")
    before = core.activity, core.progress
    for read in reads:
        core.data(read)
    assert (core.activity - before[0], core.progress - before[1]) == (activity, progress)


def test_the_head_is_activity_and_so_is_a_document_under_way() -> None:
    core = StreamCore(Scripted(usage=None), request_id_headers=())
    seen = [core.activity]
    core.head(ResponseHead(200, [("content-type", "application/json")]), received_at=NOON)
    seen.append(core.activity)
    for read in (b"\n\n", b"{", b'"a"'):
        core.data(read)
        seen.append(core.activity)
    assert seen == [0, 1, 2, 3, 4]


def test_an_error_body_under_way_is_no_activity() -> None:
    core = scripted(status=500)
    before = core.activity
    core.data(b"{" * 100)
    assert core.activity == before


# ---- a dialect that gives no end -----------------------------------------------------------


@pytest.mark.parametrize(
    ("core", "body", "last"),
    [
        pytest.param(
            lambda: scripted([], media_type="application/json"),
            b"{}",
            error("MALFORMED_RESPONSE", "the answer is JSON, and its dialect finds no end"),
            id="document",
        ),
        pytest.param(
            lambda: scripted([TextDelta(0, "a")], []),
            b"data: 1\n\n",
            error("STREAM_CLOSED", "the stream ended, and its dialect finds no end in it"),
            id="stream",
        ),
    ],
)
def test_an_answer_whose_dialect_says_no_end_still_ends(
    core: Callable[[], StreamCore], body: bytes, last: Finish
) -> None:
    played = core()
    played.data(body)
    played.end()
    assert (played.finished, played.out[-1]) == (True, last)


def test_a_settled_call_whose_dialect_says_no_end_still_ends() -> None:
    core = scripted([TextDelta(0, "a")], [])
    core.data(b"data: 1\n\n")
    core.settle()
    assert core.out[-1] == error(
        "STREAM_CLOSED", "the stream ended, and its dialect finds no end in it"
    )
