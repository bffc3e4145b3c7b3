from __future__ import annotations

import pytest

from adapter_sdk import _codes as codes
from adapter_sdk._failure import LlmFailure
from adapter_sdk._failure_class import FailureClass, classify_failure

CLASSES = {
    codes.AUTH: "auth",
    codes.MISSING_CREDENTIAL: "auth",
    codes.INVALID_CREDENTIAL: "auth",
    codes.RATE_LIMIT: "rate-limit",
    codes.QUOTA: "quota",
    codes.INVALID_REQUEST: "invalid-request",
    codes.CONTEXT_WINDOW_EXCEEDED: "invalid-request",
    codes.UNKNOWN_MODEL: "invalid-request",
    codes.UNSUPPORTED_OPTION: "unsupported",
    codes.UNSUPPORTED_CONTENT: "unsupported",
    codes.UNSUPPORTED_REASONING_EFFORT: "unsupported",
    codes.TIMEOUT: "timeout",
    codes.TRANSPORT: "transport",
    codes.SERVER: "provider-unavailable",
    codes.EMPTY_RESPONSE: "provider-bug",
    codes.STREAM_CLOSED: "protocol",
    codes.MALFORMED_RESPONSE: "protocol",
    codes.CONTENT_FILTER: "safety",
    codes.ABORTED: "aborted",
    codes.UNKNOWN: "unknown",
    codes.DISCOVERY_FAILED: "provider-unavailable",
    codes.DISCOVERY_UNSUPPORTED: "unsupported",
    **dict.fromkeys(codes.REGISTRY_CODES, "invalid-request"),
}


@pytest.mark.parametrize("code", sorted(codes.CODES))
def test_every_code_has_a_class(code: str) -> None:
    assert classify_failure(LlmFailure(message="x", code=code)) == CLASSES[code]


@pytest.mark.parametrize(
    ("code", "status", "message", "expected"),
    [
        pytest.param("SERVER", 503, "x", "provider-overloaded", id="503"),
        pytest.param("SERVER", 529, "x", "provider-overloaded", id="529"),
        pytest.param("SERVER", 500, "overloaded", "provider-unavailable", id="500"),
        pytest.param("SERVER", 200, "x", "provider-unavailable", id="in-band"),
        pytest.param("RATE_LIMIT", 429, "x", "rate-limit", id="429"),
        pytest.param(
            "RATE_LIMIT", 429, "Engine Overloaded", "provider-overloaded", id="429-overload"
        ),
        pytest.param(
            "RATE_LIMIT", 429, "no capacity left", "provider-overloaded", id="429-capacity"
        ),
        pytest.param(
            "RATE_LIMIT", 429, "the model is too busy", "provider-overloaded", id="429-busy"
        ),
        pytest.param(
            "RATE_LIMIT", 429, "capacity of 5 a minute", "rate-limit", id="429-other-words"
        ),
        pytest.param("QUOTA", 503, "x", "quota", id="quota-at-503"),
        pytest.param("HTTP_307", 307, "x", "protocol", id="redirect"),
        pytest.param("HTTP_199", 199, "x", "protocol", id="informational"),
        pytest.param("HTTP_409", 409, "x", "invalid-request", id="409"),
        pytest.param("HTTP_599", 599, "x", "provider-unavailable", id="5xx"),
        pytest.param("HTTP_777", 777, "x", "unknown", id="777"),
    ],
)
def test_status_and_words_refine_the_class(
    code: str, status: int, message: str, expected: str
) -> None:
    assert classify_failure(LlmFailure(message=message, code=code, status=status)) == expected


def test_every_class_can_occur() -> None:
    assert {*CLASSES.values(), "provider-overloaded"} == {member.value for member in FailureClass}
