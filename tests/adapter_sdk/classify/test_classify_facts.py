"""What an error says beside its code: its message, its payload, all its facts."""

from __future__ import annotations

import pytest

from adapter_sdk._classify import ClassifiedError, classify_body, classify_payload
from adapter_sdk._codes import INVALID_REQUEST, QUOTA, SERVER

from .provider_errors import OVERLOADED, body, said, said_code


@pytest.mark.parametrize(
    ("error", "message"),
    [
        pytest.param(body(503, {"error": "model not loaded"}), "model not loaded", id="its-words"),
        pytest.param(body(520), "HTTP 520 from the provider, an empty body", id="empty"),
        pytest.param(
            classify_body(status=503, media_type="", body=b"", complete=False),
            "HTTP 503 from the provider, a body that did not arrive",
            id="never-arrived",
        ),
        pytest.param(
            body(502, text="<html><title> Bad\n Gateway </title>", media_type="text/html"),
            "HTTP 502 from the provider, a page titled Bad Gateway",
            id="titled-page",
        ),
        pytest.param(
            body(502, text="<html><h1>502", media_type="text/html"),
            "HTTP 502 from the provider, a page (text/html)",
            id="page-without-a-title",
        ),
        pytest.param(
            body(429, {"error": {"code": "insufficient_quota", "type": "insufficient_quota"}}),
            "HTTP 429 from the provider: insufficient_quota",
            id="names-only",
        ),
        pytest.param(
            body(500, {}),
            "HTTP 500 from the provider, no message in the body (application/json)",
            id="says-nothing",
        ),
        pytest.param(
            body(500, text=b"\x00\x01\xff"),
            "HTTP 500 from the provider, no message in the body (no content-type)",
            id="binary",
        ),
        pytest.param(body(500, text="x" * 1000), "x" * 1000, id="short-text"),
        pytest.param(
            body(500, text="x" * 1001, media_type="text/plain"),
            "HTTP 500 from the provider, no message in the body (text/plain)",
            id="long-text",
        ),
        pytest.param(classify_payload(said("boom")), "boom", id="frame"),
        pytest.param(
            classify_payload({"error": {"code": "odd"}}),
            "an error inside the response: odd",
            id="frame-with-a-name",
        ),
        pytest.param(
            classify_payload({"error": {}}),
            "an error inside the response, without a message",
            id="-",
        ),
    ],
)
def test_the_message_is_the_providers_or_a_plain_sentence(
    error: ClassifiedError, message: str
) -> None:
    assert error.message == message


@pytest.mark.parametrize(
    ("text", "payload"),
    [
        pytest.param("\ufeff\r\n{}", {}, id="byte-order-mark"),
        pytest.param('{"error":{"code":"insufficient_quota","me', said_code(), id="cut"),
        pytest.param('{"error":{"code":"insufficient_quota"}}{', said_code(), id="trailing"),
        pytest.param("{no}", None, id="no-json"),
        pytest.param("Internal Server Error", None, id="text"),
    ],
)
def test_the_payload_is_what_could_be_decoded(text: str, payload: object) -> None:
    error = body(400, text=text)
    assert error.payload == payload
    assert error.code == (QUOTA if payload == said_code() else INVALID_REQUEST)


def test_a_body_gives_all_its_facts() -> None:
    assert body(529, OVERLOADED) == ClassifiedError(
        code=SERVER,
        message="busy",
        status=None,
        request_id=classify_payload(OVERLOADED).request_id,
        payload=OVERLOADED,
    )
    assert body(529, OVERLOADED).request_id == "req_7"
