"""Which code an error has: as a body, as a page or text, and as a frame of a good response."""

from __future__ import annotations

import json

import pytest

from adapter_sdk._classify import classify_error, classify_payload
from adapter_sdk._codes import (
    AUTH,
    CONTENT_FILTER,
    CONTEXT_WINDOW_EXCEEDED,
    INVALID_REQUEST,
    QUOTA,
    RATE_LIMIT,
    SERVER,
    TIMEOUT,
    is_code,
)
from adapter_sdk._error_envelope import ErrorFacts
from adapter_sdk._error_tables import GENERIC_NAMES, SPECIFIC_NAMES

from .provider_errors import (
    BAD_KEY_400,
    GENERIC_401,
    OVERFLOW,
    OVERLOADED,
    TOKEN_RATE,
    WRAPPED,
    body,
    said,
)


@pytest.mark.parametrize(
    ("status", "value", "code"),
    [
        # a specific code or type
        pytest.param(400, BAD_KEY_400, AUTH, id="google-bad-key"),
        pytest.param(401, GENERIC_401, AUTH, id="deepseek-bad-key"),
        pytest.param(400, GENERIC_401, AUTH, id="a-specific-type-beats-the-status"),
        pytest.param(401, said("x", code="invalid_request_error"), AUTH, id="generic-code-at-401"),
        pytest.param(429, said("x", code="insufficient_quota"), QUOTA, id="empty-account-at-429"),
        pytest.param(429, said("x", type="insufficient_quota"), QUOTA, id="as-a-type"),
        pytest.param(413, TOKEN_RATE, RATE_LIMIT, id="token-rate-at-413"),
        pytest.param(429, said("x", code="RateLimitReached"), RATE_LIMIT, id="other-spelling"),
        pytest.param(400, OVERFLOW, CONTEXT_WINDOW_EXCEEDED, id="overflow-type"),
        pytest.param(
            400, said("x", code="content_filter", status=400), CONTENT_FILTER, id="content-filter"
        ),
        pytest.param(404, said("x", code="model_not_found"), INVALID_REQUEST, id="no-such-model"),
        pytest.param(502, said("x", code="model_not_found"), INVALID_REQUEST, id="behind-a-502"),
        pytest.param(502, WRAPPED, QUOTA, id="wrapped-by-a-gateway"),
        pytest.param(
            429,
            said(json.dumps(said("x", code="insufficient_quota")), type="rate_limit_error"),
            QUOTA,
            id="an-inner-empty-account-beats-the-gateways-rate-limit",
        ),
        pytest.param(
            429, said("quota exceeded", code="rate_limit_error"), RATE_LIMIT, id="names-beat-words"
        ),
        # wording
        pytest.param(
            400, said("Insufficient Balance", code="invalid_request_error"), QUOTA, id="q"
        ),
        pytest.param(429, said("Monthly usage limit reached."), QUOTA, id="monthly-at-429"),
        pytest.param(
            429, {"message": "Too many tokens, please wait"}, RATE_LIMIT, id="not-overflow"
        ),
        pytest.param(413, said("5 requests per minute"), RATE_LIMIT, id="rate-wording-at-413"),
        pytest.param(400, said("Invalid API key"), AUTH, id="xai-bad-key"),
        pytest.param(
            400, {"code": "odd", "error": "Incorrect API key"}, AUTH, id="error-is-a-string"
        ),
        pytest.param(400, said("Prompt 超长", code="400"), CONTEXT_WINDOW_EXCEEDED, id="chinese"),
        pytest.param(
            500,
            {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"},
            CONTEXT_WINDOW_EXCEEDED,
            id="an-overflow-called-server-error",
        ),
        pytest.param(
            403,
            {"code": "The caller may not", "error": "The team has used all available credits"},
            QUOTA,
            id="xai-no-credits-at-403",
        ),
        pytest.param(
            403, said("Your input was flagged for x"), CONTENT_FILTER, id="moderated-at-403"
        ),
        # the status that the error names
        pytest.param(500, said("x", code=429), RATE_LIMIT, id="status-as-a-number"),
        pytest.param(500, said("x", code="401"), AUTH, id="status-as-text"),
        pytest.param(400, said("x", code="3051"), INVALID_REQUEST, id="a-number-that-is-no-status"),
        # the status of the response
        pytest.param(402, said("Who knows", code="invalid_request_error"), QUOTA, id="402"),
        pytest.param(403, said("x", type="invalid_request_error"), AUTH, id="403"),
        pytest.param(408, said("x", type="invalid_request_error", code="408"), TIMEOUT, id="408"),
        pytest.param(422, {"detail": [{"msg": "missing"}]}, INVALID_REQUEST, id="422"),
        pytest.param(429, said("x", type="overloaded_error"), RATE_LIMIT, id="overload-at-429"),
        pytest.param(
            429, said("x", status="RESOURCE_EXHAUSTED"), RATE_LIMIT, id="exhausted-at-429"
        ),
        pytest.param(503, said("x", type="invalid_request_error"), SERVER, id="503"),
        pytest.param(504, said("x", type="timeout_error"), SERVER, id="504"),
        pytest.param(529, OVERLOADED, SERVER, id="529"),
        pytest.param(409, said("x", type="api_error"), "HTTP_409", id="409"),
        pytest.param(403, None, AUTH, id="403-with-an-empty-body"),
        *(
            pytest.param(status, {}, code, id=f"{status}-with-an-empty-object")
            for status, code in {
                **dict.fromkeys((400, 404, 413, 422), INVALID_REQUEST),
                **dict.fromkeys((401, 403), AUTH),
                **dict.fromkeys((500, 502, 503, 504, 520, 524, 529, 599), SERVER),
                402: QUOTA,
                408: TIMEOUT,
                429: RATE_LIMIT,
                **{status: f"HTTP_{status}" for status in (301, 307, 405, 409, 418, 425, 498, 600)},
            }.items()
        ),
    ],
)
def test_the_body_of_a_refusal_gives_its_code(status: int, value: object, code: str) -> None:
    assert body(status, value).code == code


@pytest.mark.parametrize(
    ("status", "text", "media_type", "code"),
    [
        pytest.param(
            403, "<!doctype html><title>Wait</title>", "text/html", SERVER, id="challenge"
        ),
        pytest.param(403, "\n<HTML><body>no", "", SERVER, id="page-without-a-media-type"),
        pytest.param(403, "just a moment", "text/html", SERVER, id="page-by-its-media-type"),
        pytest.param(403, '{"error":"no"}', "text/html", AUTH, id="json-under-html"),
        pytest.param(403, "<Error><Code>No</Code></Error>", "application/xml", AUTH, id="xml"),
        pytest.param(403, "no", "text/plain", AUTH, id="plain-text"),
        pytest.param(403, "", "text/html", AUTH, id="empty-page"),
        pytest.param(401, "<html>who?</html>", "text/html", AUTH, id="401-page"),
        pytest.param(429, "<html>insufficient credits</html>", "text/html", RATE_LIMIT, id="page"),
        pytest.param(502, "<html>502</html>", "text/html", SERVER, id="502-page"),
        pytest.param(307, "<a/>", "text/html", "HTTP_307", id="redirect-page"),
        pytest.param(522, "error code: 522", "text/plain", SERVER, id="522-as-text"),
        pytest.param(400, "Insufficient credits", "text/plain", QUOTA, id="plain-words"),
        pytest.param(
            400, "Insufficient credits" + "." * 2000, "text/plain", INVALID_REQUEST, id="d"
        ),
        pytest.param(400, '"Insufficient credits"', "", QUOTA, id="json-string"),
        pytest.param(400, "null", "application/json", INVALID_REQUEST, id="json-null"),
        pytest.param(400, "[]", "application/json", INVALID_REQUEST, id="json-array"),
        pytest.param(400, "\ufeff " + json.dumps(OVERFLOW), "", CONTEXT_WINDOW_EXCEEDED, id="bom"),
        pytest.param(
            400, 'data: {"error":{"code":"insufficient_quota"}}', "", QUOTA, id="as-event"
        ),
        pytest.param(400, json.dumps(BAD_KEY_400), "text/event-stream", AUTH, id="odd-media-type"),
        pytest.param(400, json.dumps(OVERFLOW) + "0", "", CONTEXT_WINDOW_EXCEEDED, id="trailing"),
    ],
)
def test_a_body_that_is_no_json_object_refines_or_leaves_the_status(
    status: int, text: str, media_type: str, code: str
) -> None:
    assert body(status, text=text, media_type=media_type).code == code


@pytest.mark.parametrize(
    ("payload", "code", "status"),
    [
        pytest.param(said("boom", type=None, code=None), SERVER, None, id="says-nothing"),
        pytest.param(None, SERVER, None, id="null"),
        pytest.param({"error": {}}, SERVER, None, id="empty"),
        pytest.param({"error": True}, SERVER, None, id="true"),
        pytest.param(said("x", code=200), SERVER, None, id="a-good-status-is-no-evidence"),
        pytest.param(said("x", code=502), SERVER, 502, id="number"),
        pytest.param(said("x", code="500"), SERVER, 500, id="number-as-text"),
        pytest.param(said("x", code=400, type="BadRequestError"), INVALID_REQUEST, 400, id="vllm"),
        pytest.param(
            said("x", code="tool_use_failed", status_code=400), INVALID_REQUEST, 400, id="groq"
        ),
        pytest.param(said("quota exceeded"), QUOTA, None, id="wording"),
        pytest.param(OVERFLOW, CONTEXT_WINDOW_EXCEEDED, 400, id="llama-cpp"),
        pytest.param(OVERLOADED, SERVER, None, id="overloaded"),
        pytest.param(
            {"type": "error", "error": {"code": "server_is_overloaded"}}, SERVER, None, id="o"
        ),
        pytest.param(
            said("x", type="rate_limit_error", code=429), RATE_LIMIT, 429, id="rate-limit"
        ),
        pytest.param(said("x", code="server_error"), SERVER, None, id="server-error"),
        pytest.param(said("x", type="invalid_request_error"), INVALID_REQUEST, None, id="generic"),
        pytest.param(said("x", status="PERMISSION_DENIED"), AUTH, None, id="generic-refusal"),
        pytest.param(said("x", type="request_timeout"), TIMEOUT, None, id="generic-timeout"),
        pytest.param(
            {"id": "g1", "choices": [], "error": {"code": 502, "message": "x"}},
            SERVER,
            502,
            id="chunk",
        ),
        pytest.param([said("x", code=429)], RATE_LIMIT, 429, id="array"),
    ],
)
def test_a_frame_inside_a_good_response_gives_its_code(
    payload: object, code: str, status: int | None
) -> None:
    error = classify_payload(payload)
    assert (error.code, error.status, error.payload) == (code, status, payload)


@pytest.mark.parametrize("status", [200, 204, 299, None])
def test_a_2xx_is_no_evidence(status: int | None) -> None:
    generic = ErrorFacts(names=("invalid_request_error",))
    assert classify_error(generic, status=status) == INVALID_REQUEST
    assert classify_error(ErrorFacts(), status=status) == SERVER


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(value, id=name)
        for name, value in {
            "bad-key": BAD_KEY_400,
            "generic": GENERIC_401,
            "overflow": OVERFLOW,
            "token-rate": TOKEN_RATE,
            "wrapped": WRAPPED,
            "quota": said("Insufficient Balance"),
        }.items()
    ],
)
def test_the_same_error_has_the_same_code_as_a_body_and_as_a_frame(value: object) -> None:
    assert body(429, value).code == classify_payload(value).code


def test_the_tables_hold_known_codes_and_no_name_twice() -> None:
    assert not SPECIFIC_NAMES.keys() & GENERIC_NAMES.keys()
    assert all(is_code(code) for code in (SPECIFIC_NAMES | GENERIC_NAMES).values())
