from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk._error_envelope import ErrorFacts, read_error_envelope
from adapter_sdk._request_id import ProviderRequestId


def facts(
    *texts: str,
    names: tuple[str, ...] = (),
    message: str | None = None,
    status: int | None = None,
    request_id: str | None = None,
) -> ErrorFacts:
    return ErrorFacts(
        names=names,
        texts=texts,
        message=message or next(iter(texts), None),
        status=status,
        request_id=ProviderRequestId(request_id) if request_id else None,
    )


UPSTREAM = {"error": {"message": "no room", "type": "tokens", "code": "full"}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            {"error": {"message": "no", "type": "a_type", "param": None, "code": "a_code"}},
            facts("no", names=("a_code", "a_type")),
            id="openai",
        ),
        pytest.param(
            {"error": {"message": "no", "type": None, "code": None}}, facts("no"), id="nulls"
        ),
        pytest.param({"error": "no model"}, facts("no model"), id="error-is-a-sentence"),
        pytest.param({"error": "no_model"}, facts("no_model", names=("no_model",)), id="a-word"),
        pytest.param([{"error": {"message": "no"}}], facts("no"), id="array"),
        pytest.param([], facts(), id="empty-array"),
        pytest.param("no", facts("no"), id="string"),
        pytest.param(" ", facts(), id="blank-string"),
        pytest.param(None, facts(), id="null"),
        pytest.param(404, facts(), id="number"),
        pytest.param({"detail": "no"}, facts("no"), id="detail"),
        pytest.param({"detail": {"error": {"message": "no"}}}, facts("no"), id="detail-object"),
        pytest.param(
            {
                "detail": [
                    {"loc": ["body", "tools", 0], "msg": "a field is missing", "type": "gone"}
                ]
            },
            facts("body.tools.0: a field is missing", names=("gone",)),
            id="detail-list",
        ),
        pytest.param({"detail": [{"msg": "no"}, "too"]}, facts("no", "too"), id="detail-mixed"),
        pytest.param({"id": "7", "message": "no"}, facts("no"), id="message"),
        pytest.param(
            {"message": {"detail": [{"loc": [], "msg": "no"}]}, "object": "error"},
            facts("no"),
            id="message-is-an-object",
        ),
        pytest.param(
            {"object": "error", "message": "no", "type": "a_type", "code": "3051"},
            facts("no", names=("3051", "a_type")),
            id="flat-with-a-code-that-is-no-status",
        ),
        pytest.param(
            {"object": "error", "message": "no", "code": "1500", "raw_status_code": 400},
            facts("no", names=("1500",), status=400),
            id="raw-status-code",
        ),
        pytest.param(
            {
                "type": "error",
                "error": {"type": "a_type", "message": "no"},
                "request_id": " req_1 ",
            },
            facts("no", names=("error", "a_type"), request_id="req_1"),
            id="anthropic",
        ),
        pytest.param(
            {"type": "error", "error": {"message": "no"}, "request_id": None},
            facts("no", names=("error",)),
            id="request-id-null",
        ),
        pytest.param(
            {"error": {"message": "no", "request_id": "req_2"}},
            facts("no", request_id="req_2"),
            id="request-id-inside",
        ),
        pytest.param(
            {"code": 500, "message": "no", "type": "a_type"},
            facts("no", names=("a_type",), status=500),
            id="llama-cpp-flat",
        ),
        pytest.param({"code": 8, "details": "no"}, facts("no"), id="code-and-details"),
        pytest.param(
            {"code": "It cannot be done", "error": "not now"},
            facts("not now", "It cannot be done"),
            id="code-is-prose",
        ),
        pytest.param(
            {"error_type": "bad", "message": "no"}, facts("no", names=("bad",)), id="cohere"
        ),
        pytest.param(
            {"__type": "Throttled", "message": "no"},
            facts("no", names=("Throttled",)),
            id="bedrock",
        ),
        pytest.param({"error_message": "no"}, facts("no"), id="error-message"),
        pytest.param(
            {"error": "denied", "error_description": "no key"},
            facts("no key", "denied", names=("denied",)),
            id="oauth",
        ),
        pytest.param(
            {
                "error": {
                    "code": 400,
                    "message": "no",
                    "status": "ODD",
                    "details": [
                        {"@type": "x/y", "reason": "KEY"},
                        {"locale": "en", "message": "no"},
                    ],
                }
            },
            facts("no", names=("ODD", "KEY"), status=400),
            id="google",
        ),
        pytest.param(
            {"error": {"code": "content", "innererror": {"code": "Policy"}, "message": "no"}},
            facts("no", names=("content", "Policy")),
            id="azure",
        ),
        pytest.param(
            {
                "error": {
                    "code": 502,
                    "message": "Provider returned error",
                    "metadata": {"provider_name": "x", "raw": json.dumps(UPSTREAM)},
                },
                "user_id": "u",
            },
            facts(
                "Provider returned error",
                "no room",
                names=("full", "tokens"),
                message="no room",
                status=502,
            ),
            id="openrouter-wraps-json",
        ),
        pytest.param(
            {"error": {"message": "Provider returned error", "metadata": {"raw": "too busy"}}},
            facts("Provider returned error", "too busy", message="too busy"),
            id="openrouter-wraps-text",
        ),
        pytest.param(
            {"error": {"message": "Provider returned error", "metadata": {"raw": UPSTREAM}}},
            facts(
                "Provider returned error", "no room", names=("full", "tokens"), message="no room"
            ),
            id="openrouter-wraps-an-object",
        ),
        pytest.param(
            {"error": {"message": "Provider returned error"}},
            facts("Provider returned error"),
            id="a-wrapper-around-nothing",
        ),
        pytest.param(
            {"error": {"message": json.dumps(UPSTREAM), "type": "outer"}},
            facts("no room", names=("outer", "full", "tokens")),
            id="message-is-json",
        ),
        pytest.param(
            {"error": {"message": "Upstream said: " + json.dumps(UPSTREAM) + "\nmodel=m"}},
            facts(
                "Upstream said: " + json.dumps(UPSTREAM) + "\nmodel=m",
                "no room",
                names=("full", "tokens"),
            ),
            id="message-quotes-json",
        ),
        pytest.param(
            {"error": {"message": 'arguments {"code": "insufficient_quota"} are no good'}},
            facts('arguments {"code": "insufficient_quota"} are no good'),
            id="json-that-is-no-envelope-is-no-evidence",
        ),
        pytest.param(
            {"error": {"message": "[json.exception] a {brace"}},
            facts("[json.exception] a {brace"),
            id="brackets-that-are-no-json",
        ),
        pytest.param({"error": {"message": "{}"}}, facts("{}"), id="json-that-says-nothing"),
        pytest.param(
            {"success": False, "error": {"code": "ODD_ERROR", "status": 500, "message": "no"}},
            facts("no", names=("ODD_ERROR",), status=500),
            id="success-false",
        ),
        pytest.param(
            {"success": False, "errors": [{"message": "no", "code": 3043}]},
            facts("no"),
            id="list-of-errors",
        ),
        pytest.param(
            {"statusCode": 429, "message": "no", "error": "Too Many"},
            facts("no", "Too Many", status=429),
            id="status-beside-the-message",
        ),
        pytest.param(
            {"type": "about:blank", "title": "Odd", "status": 418, "detail": "no"},
            facts("no", "Odd", names=("about:blank",), status=418),
            id="problem-json",
        ),
        pytest.param(
            {"type": "response.failed", "response": {"error": {"code": "odd", "message": "no"}}},
            facts("no", names=("response.failed", "odd")),
            id="openai-response-failed",
        ),
        pytest.param(
            {"choices": [{"message": {"content": "hi"}}], "error": {"code": 400, "message": "no"}},
            facts("no", status=400),
            id="beside-an-answer",
        ),
    ],
)
def test_every_envelope_gives_its_facts(value: object, expected: ErrorFacts) -> None:
    assert read_error_envelope(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(400, 400, id="least"),
        pytest.param(599, 599, id="greatest"),
        pytest.param("429", 429, id="text"),
        pytest.param(" 500 ", 500, id="padded-text"),
        pytest.param(399, None, id="below"),
        pytest.param(600, None, id="above"),
        pytest.param("3051", None, id="longer-number"),
        pytest.param("4xx", None, id="no-number"),
        pytest.param("\uff14\uff10\uff10", None, id="full-width-digits"),
        pytest.param(True, None, id="boolean"),
        pytest.param(400.0, None, id="float"),
        pytest.param([400], None, id="list"),
    ],
)
@pytest.mark.parametrize(
    "key", ["code", "status", "status_code", "raw_status_code", "http_status", "statusCode"]
)
def test_a_status_is_a_number_from_400_to_599(
    key: str, value: object, expected: int | None
) -> None:
    assert read_error_envelope({"error": {key: value}}).status == expected


def test_the_outer_status_wins() -> None:
    inner = {"error": {"code": 429, "metadata": {"raw": '{"status": 503}'}}}
    assert read_error_envelope(inner).status == 429


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"message": "the bottom"}
    for _ in range(depth):
        value = {"error": value}
    return value


def test_layers_are_read_to_a_bounded_depth() -> None:
    assert read_error_envelope(nested(8)).message == "the bottom"
    assert read_error_envelope(nested(9)) == ErrorFacts()
    assert read_error_envelope(nested(500)) == ErrorFacts()


def test_json_without_an_end_inside_a_sentence_is_a_sentence() -> None:
    found = read_error_envelope("it said " + '{"error":' * 100_000)
    assert found.texts == (("it said " + '{"error":' * 1000)[:4096],)


def test_a_long_list_is_read_to_a_bounded_length() -> None:
    found = read_error_envelope({"errors": [{"message": str(at)} for at in range(100_000)]})
    assert len(found.texts) == 62


def test_long_names_and_texts_are_bounded() -> None:
    found = read_error_envelope({"error": {"message": "m" * 10_000, "code": "c" * 129}})
    assert (len(found.texts[0]), found.names) == (4096, ())


KEYS = st.sampled_from(
    [
        *("error", "errors", "message", "msg", "detail", "details", "code", "type", "status"),
        *("metadata", "raw", "loc", "request_id", "response", "innererror", "reason", "other"),
    ]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        ['{"error":{"code":"x"}}', "429", "{", "[[", '{"error":"\\ud83d"}', "\ud83d"]
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)


@given(value=JSON)
def test_any_json_value_is_read(value: object) -> None:
    found = read_error_envelope(value)
    assert found.message is None or found.message in found.texts
    assert found.status is None or 400 <= found.status <= 599
    assert all(name and " " not in name for name in found.names)
