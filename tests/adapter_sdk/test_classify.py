from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk._classify import (
    ClassifiedError,
    classify_body,
    classify_error,
    classify_payload,
)
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


def body(
    status: int, value: object = None, *, text: str | bytes = b"", media_type: str = ""
) -> ClassifiedError:
    if value is not None:
        text, media_type = json.dumps(value), media_type or "application/json"
    data = text.encode() if isinstance(text, str) else text
    return classify_body(status=status, media_type=media_type, body=data)


BAD_KEY_400 = {
    "error": {
        "code": 400,
        "status": "INVALID_ARGUMENT",
        "message": "pass another one",
        "details": [{"@type": "x/ErrorInfo", "reason": "API_KEY_INVALID"}],
    }
}
GENERIC_401 = {
    "error": {
        "message": "Who is this?",
        "type": "authentication_error",
        "param": None,
        "code": "invalid_request_error",
    }
}
OVERFLOW = {
    "error": {
        "code": 400,
        "type": "exceed_context_size_error",
        "message": "9001 tokens",
        "n_ctx": 8000,
    }
}
OVERLOADED = {
    "type": "error",
    "error": {"type": "overloaded_error", "message": "busy"},
    "request_id": "  req_7",
}
TOKEN_RATE = {
    "error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "TPM: limit 8000"}
}
WRAPPED = {
    "error": {
        "code": 502,
        "message": "Provider returned error",
        "metadata": {"raw": json.dumps({"error": {"code": "insufficient_quota"}})},
    }
}


def said_code() -> dict[str, object]:
    return {"error": {"code": "insufficient_quota"}}


def said(message: str, **more: object) -> dict[str, object]:
    return {"error": {"message": message, **more}}


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


@pytest.mark.parametrize(
    ("status", "value"),
    [
        pytest.param(400, BAD_KEY_400, id="bad-key"),
        pytest.param(401, GENERIC_401, id="generic"),
        pytest.param(400, OVERFLOW, id="overflow"),
        pytest.param(529, OVERLOADED, id="overloaded"),
        pytest.param(413, TOKEN_RATE, id="token-rate"),
        pytest.param(429, said("Prompt 超长 \ud83d", code="400"), id="not-ascii"),
        pytest.param(429, [said("Insufficient Balance")], id="array"),
        pytest.param(422, {"detail": [{"loc": ["a"], "msg": "quota exceeded"}]}, id="detail"),
        pytest.param(400, {"code": 4290, "message": "quota exceeded"}, id="number-cut-to-a-status"),
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_body_cut_anywhere_gives_the_code_of_the_status_or_of_the_whole(
    status: int, value: object, *, ascii_only: bool
) -> None:
    whole = json.dumps(value, ensure_ascii=ascii_only, indent=1).encode("utf-8", "surrogatepass")
    allowed = {body(status).code, body(status, text=whole).code}
    for end in range(len(whole)):
        for cut in (whole[:end], whole[:end] + b"\xff", whole[:end] + b"\n"):
            error = classify_body(status=status, media_type="", body=cut, complete=False)
            assert error.code in allowed
            assert error.message


@given(
    text=st.binary(max_size=80) | st.text('{}[]"\\:,ud834error mesag0429<html>', max_size=80),
    status=st.integers(300, 599),
    media_type=st.sampled_from(["", "text/html", "application/json"]),
)
def test_no_body_ever_raises(text: bytes | str, status: int, media_type: str) -> None:
    error = body(status, text=text, media_type=media_type)
    assert is_code(error.code)
    assert error.message.strip()


def test_the_tables_hold_known_codes_and_no_name_twice() -> None:
    assert not SPECIFIC_NAMES.keys() & GENERIC_NAMES.keys()
    assert all(is_code(code) for code in (SPECIFIC_NAMES | GENERIC_NAMES).values())
