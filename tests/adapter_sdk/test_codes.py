"""The closed list of codes, and the sets that policies start from."""

from __future__ import annotations

import pytest

from adapter_sdk import codes

TRANSIENT = {"RATE_LIMIT", "SERVER", "TIMEOUT", "TRANSPORT", "EMPTY_RESPONSE"}
REFUSED = {"AUTH", "QUOTA", "INVALID_REQUEST", "CONTEXT_WINDOW_EXCEEDED", "CONTENT_FILTER"}
LOCAL = {
    "MISSING_CREDENTIAL",
    "INVALID_CREDENTIAL",
    "UNSUPPORTED_OPTION",
    "UNSUPPORTED_CONTENT",
    "UNSUPPORTED_REASONING_EFFORT",
    "UNKNOWN_MODEL",
}
REGISTRY = {
    "NO_ADAPTER",
    "DUPLICATE_ADAPTER",
    "INVALID_ADAPTER",
    "INVALID_PREPARED_CALL",
    "REGISTRATION_DISPOSED",
}
DISCOVERY = {"DISCOVERY_FAILED", "DISCOVERY_UNSUPPORTED"}
ENDINGS = {"STREAM_CLOSED", "MALFORMED_RESPONSE", "ABORTED", "UNKNOWN"}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(codes.TRANSIENT_CODES, TRANSIENT, id="transient"),
        pytest.param(codes.REFUSED_CODES, REFUSED, id="refused"),
        pytest.param(codes.LOCAL_CODES, LOCAL, id="local"),
        pytest.param(codes.REGISTRY_CODES, REGISTRY, id="registry"),
        pytest.param(codes.DISCOVERY_CODES, DISCOVERY, id="discovery"),
        pytest.param(
            codes.CODES,
            TRANSIENT | REFUSED | LOCAL | REGISTRY | DISCOVERY | ENDINGS,
            id="the-whole-list",
        ),
    ],
)
def test_the_list_is_closed(found: frozenset[str], expected: set[str]) -> None:
    assert found == expected


def test_every_code_is_a_name_of_the_public_module() -> None:
    named = {name for name in codes.__all__ if getattr(codes, name) == name}
    assert named == codes.CODES


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *(pytest.param(code, True, id=code) for code in sorted(codes.CODES)),
        pytest.param("HTTP_302", True, id="status-family"),
        pytest.param("HTTP_999", True, id="highest-status"),
        pytest.param("HTTP_099", False, id="status-with-a-leading-zero"),
        pytest.param("HTTP_42", False, id="status-of-two-digits"),
        pytest.param("HTTP_4290", False, id="status-of-four-digits"),
        pytest.param("HTTP_418\n", False, id="line-break-behind-it"),
        pytest.param("xHTTP_418", False, id="something-before-it"),
        pytest.param("HTTP_४१८", False, id="digits-of-another-script"),
        pytest.param("", False, id="empty"),
        pytest.param("OVERLOADED", False, id="word-of-another-list"),
    ],
)
def test_a_code_is_known_or_not(value: str, *, expected: bool) -> None:
    assert codes.is_code(value) is expected


def test_the_code_of_a_status_is_a_code() -> None:
    made = [codes.http_status_code(status) for status in range(100, 1000)]
    assert made[302 - 100] == "HTTP_302"
    assert all(map(codes.is_code, made))
