"""A status outside 2xx: its body refines the code of status and headers and never loses it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from adapter_sdk import Finish, FinishReason, LlmFailure, ProviderRequestId
from adapter_sdk._http import ResponseHead
from adapter_sdk._stream_core import StreamCore
from adapter_sdk.dialects.openai_chat import ChatTranslator
from adapter_sdk.testing import Split, byte_by_byte, seeded, whole

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SPLITS = [
    pytest.param(whole, id="whole"),
    pytest.param(byte_by_byte, id="byte-by-byte"),
    *(pytest.param(seeded(seed), id=f"seed-{seed}") for seed in range(3)),
]
ENDS = [
    pytest.param(lambda core: core.end(), id="clean-end"),
    pytest.param(lambda core: core.fault("TRANSPORT", "reset"), id="reset"),
    pytest.param(lambda core: core.fault("TIMEOUT", "silence"), id="silence"),
]
End = Callable[[StreamCore], None]

HEADERS = [("x-request-id", "req_1"), ("retry-after", "7")]


def play(
    status: int, body: bytes, end: End, split: Split = whole, *headers: tuple[str, str]
) -> LlmFailure:
    core = StreamCore(
        ChatTranslator(terminal="done-sentinel"), request_id_headers=("x-request-id",)
    )
    core.head(ResponseHead(status, [*HEADERS, *headers]), received_at=NOON)
    for read in split(body):
        core.data(read)
    end(core)
    (finish,) = core.out
    assert isinstance(finish, Finish)
    assert finish.failure is not None
    assert finish.reason == FinishReason("error", finish.failure)
    return finish.failure


def failure(status: int, code: str, message: str) -> LlmFailure:
    return LlmFailure(
        message=message,
        code=code,
        status=status,
        provider_retry_after_ms=7_000,
        request_id=ProviderRequestId("req_1"),
    )


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    ("status", "body", "code", "message"),
    [
        pytest.param(429, b'{"error":{"message":"slow"}}', "RATE_LIMIT", "slow", id="429"),
        pytest.param(
            429,
            b'{"error":{"message":"empty","code":"insufficient_quota"}}',
            "QUOTA",
            "empty",
            id="429-of-an-empty-account",
        ),
        pytest.param(401, b'{"error":{"message":"who"}}', "AUTH", "who", id="401"),
        pytest.param(402, b'{"detail":"pay"}', "QUOTA", "pay", id="402"),
        pytest.param(400, b'{"message":"no"}', "INVALID_REQUEST", "no", id="400"),
        pytest.param(408, b'{"message":"late"}', "TIMEOUT", "late", id="408"),
        pytest.param(409, b'{"message":"both"}', "HTTP_409", "both", id="409"),
        pytest.param(307, b'{"message":"there"}', "HTTP_307", "there", id="redirect"),
        pytest.param(524, b'{"message":"edge"}', "SERVER", "edge", id="524"),
        pytest.param(
            400,
            b'{"error":{"message":"two\\nlines\\u0000"}}',
            "INVALID_REQUEST",
            "two lines",
            id="a-message-is-made-printable",
        ),
    ],
)
def test_an_error_status_is_classified_and_keeps_its_facts(
    status: int, body: bytes, code: str, message: str, end: End, split: Split
) -> None:
    assert play(status, body, end, split) == failure(status, code, message)


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"null", id="null"),
        pytest.param(b'""', id="string"),
        pytest.param(b"[]", id="array"),
        pytest.param(b"{", id="cut"),
        pytest.param(b"\x00\xff\xfe" * 100, id="binary"),
        pytest.param(b"<html><title>502</title></html>", id="page"),
        pytest.param(b"x" * 300_000, id="huge"),
        pytest.param(b"[" * 60_000, id="deep"),
        pytest.param(b'data: {"choices":[]}\n\ndata: [DONE]\n\n', id="an-event-stream"),
    ],
)
@pytest.mark.parametrize(
    ("status", "code"), [(503, "SERVER"), (429, "RATE_LIMIT"), (418, "HTTP_418")]
)
def test_a_body_that_says_nothing_changes_nothing(
    status: int, code: str, body: bytes, end: End
) -> None:
    found = play(status, body, end)
    assert found == failure(status, code, found.message)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("coding", "body", "message"),
    [
        pytest.param("gzip", gzip.compress(b'{"message":"busy"}'), "busy", id="gzip"),
        pytest.param("gzip", b'{"message":"busy"}', "busy", id="plain-bytes-that-claim-gzip"),
        pytest.param("br", b'{"message":"busy"}', "busy", id="plain-bytes-that-claim-brotli"),
        pytest.param("gzip", gzip.compress(b'{"message":"busy"}')[:-6], "busy", id="gzip-cut"),
        pytest.param(
            "gzip",
            gzip.compress(b'{"message":"busy"}')[:-3] + b"xyz",
            "HTTP 503 from the provider, no message in the body (no content-type)",
            id="gzip-damaged",
        ),
    ],
)
def test_a_content_coding_never_costs_the_code(
    coding: str, body: bytes, message: str, split: Split
) -> None:
    found = play(503, body, lambda core: core.end(), split, ("content-encoding", coding))
    assert found == failure(503, "SERVER", message)


@pytest.mark.parametrize(
    ("media_type", "code"),
    [
        pytest.param("text/html; charset=utf-8", "SERVER", id="challenge-page"),
        pytest.param("application/json", "AUTH", id="the-providers-own-word"),
    ],
)
def test_a_403_is_the_providers_word_unless_it_is_a_page(media_type: str, code: str) -> None:
    body = b"<html>Just a moment</html>" if "html" in media_type else b'{"error":"no"}'
    end: End = lambda core: core.end()  # noqa: E731 - why: one call
    assert play(403, body, end, whole, ("content-type", media_type)).code == code


def test_an_abort_ends_an_error_status_as_well() -> None:
    core = StreamCore(ChatTranslator(terminal="done-sentinel"), request_id_headers=())
    core.head(ResponseHead(503, []), received_at=NOON)
    core.data(b'{"message":"bu')
    core.abort("stop")
    expected = LlmFailure(message="stop", code="ABORTED", status=503)
    assert list(core.out) == [Finish(FinishReason("aborted", expected))]
