"""What a failure may say, how it is stored, and how it travels as an exception."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapter_sdk import LlmError, LlmFailure, ProviderRequestId, codes, local_error
from adapter_sdk._failure import MESSAGE_LIMIT_BYTES, printable_message

FULL = LlmFailure(
    message="slow down",
    code="RATE_LIMIT",
    status=429,
    provider_retry_after_ms=1_500,
    request_id=ProviderRequestId("req_1"),
)
FULL_JSON = {
    "message": "slow down",
    "code": "RATE_LIMIT",
    "status": 429,
    "providerRetryAfterMs": 1_500,
    "requestId": "req_1",
}


def test_the_fields_are_facts_and_no_policy() -> None:
    assert [field.name for field in dataclasses.fields(LlmFailure)] == [
        "message",
        "code",
        "status",
        "provider_retry_after_ms",
        "request_id",
    ]


def test_the_message_limit_is_two_kibibytes() -> None:
    assert MESSAGE_LIMIT_BYTES == 2048


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="message-and-code-alone"),
        pytest.param({"message": "x" * 2048}, id="message-of-2048-bytes"),
        pytest.param({"message": "é" * 1024}, id="message-of-2048-bytes-in-1024-characters"),
        pytest.param({"status": 100}, id="lowest-status"),
        pytest.param({"status": 999}, id="highest-status"),
        pytest.param({"provider_retry_after_ms": 1}, id="shortest-wait"),
        pytest.param({"provider_retry_after_ms": 10**13}, id="a-wait-of-centuries"),
        pytest.param({"code": "HTTP_418"}, id="code-of-a-status"),
        pytest.param({"request_id": ProviderRequestId("r" * 256)}, id="longest-request-id"),
    ],
)
def test_a_failure_accepts_what_its_rules_allow(fields: dict[str, Any]) -> None:
    given_fields = {"message": "broke", "code": "SERVER", **fields}
    failure = LlmFailure(**given_fields)
    expected = dict.fromkeys(("status", "provider_retry_after_ms", "request_id")) | given_fields
    assert dataclasses.asdict(failure) == expected


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param(
            {"message": ""}, "LlmFailure.message: a non-empty string, got str", id="empty-message"
        ),
        pytest.param(
            {"message": " \u00a0"}, "LlmFailure.message: a non-empty string, got str", id="blank"
        ),
        pytest.param(
            {"message": None}, "LlmFailure.message: a non-empty string, got NoneType", id="none"
        ),
        pytest.param(
            {"message": b"broke"}, "LlmFailure.message: a non-empty string, got bytes", id="bytes"
        ),
        pytest.param(
            {"message": "two\nlines"},
            "LlmFailure.message: printable characters on one line, got str",
            id="line-break",
        ),
        pytest.param(
            {"message": "bell\a"},
            "LlmFailure.message: printable characters on one line, got str",
            id="control-character",
        ),
        pytest.param(
            {"message": "half \ud83d"},
            "LlmFailure.message: printable characters on one line, got str",
            id="lone-surrogate",
        ),
        pytest.param(
            {"message": "x" * 2049},
            "LlmFailure.message: at most 2048 bytes, got str",
            id="2049-bytes",
        ),
        pytest.param(
            {"message": "é" * 1025},
            "LlmFailure.message: at most 2048 bytes, got str",
            id="2050-bytes-in-1025-characters",
        ),
        pytest.param(
            {"code": "RETRYABLE"},
            "LlmFailure.code: a code of the closed list, got str",
            id="code-outside-the-list",
        ),
        pytest.param(
            {"code": "rate_limit"},
            "LlmFailure.code: a code of the closed list, got str",
            id="code-in-lower-case",
        ),
        pytest.param(
            {"code": None}, "LlmFailure.code: a code of the closed list, got NoneType", id="no-code"
        ),
        pytest.param(
            {"status": 99}, "LlmFailure.status: 100 to 999, got int", id="status-of-two-digits"
        ),
        pytest.param(
            {"status": 1000}, "LlmFailure.status: 100 to 999, got int", id="status-of-four-digits"
        ),
        pytest.param(
            {"status": 0},
            "LlmFailure.status: a whole number above zero, or None, got int",
            id="status-zero",
        ),
        pytest.param(
            {"status": "429"},
            "LlmFailure.status: a whole number above zero, or None, got str",
            id="status-as-text",
        ),
        pytest.param(
            {"status": True},
            "LlmFailure.status: a whole number above zero, or None, got bool",
            id="status-as-a-bool",
        ),
        pytest.param(
            {"provider_retry_after_ms": 0},
            "LlmFailure.provider_retry_after_ms: a whole number above zero, or None, got int",
            id="no-wait",
        ),
        pytest.param(
            {"provider_retry_after_ms": -1},
            "LlmFailure.provider_retry_after_ms: a whole number above zero, or None, got int",
            id="negative-wait",
        ),
        pytest.param(
            {"provider_retry_after_ms": 1.5},
            "LlmFailure.provider_retry_after_ms: a whole number above zero, or None, got float",
            id="fraction-of-a-millisecond",
        ),
        pytest.param(
            {"request_id": "req_1"},
            "LlmFailure.request_id: a ProviderRequestId, or None, got str",
            id="request-id-without-its-brand",
        ),
    ],
)
def test_a_failure_refuses_what_breaks_a_rule(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        LlmFailure(**{"message": "broke", "code": "SERVER", **fields})
    assert str(caught.value) == message


def test_a_failure_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        FULL.code = "SERVER"  # type: ignore[misc]  # why: this is what must not work


def test_a_failure_takes_keywords_only_and_has_no_room_for_more() -> None:
    with pytest.raises(TypeError):
        LlmFailure("broke", "SERVER")  # type: ignore[call-arg]  # why: this is what must not work
    with pytest.raises(TypeError):
        LlmFailure(message="m", code="SERVER", retryable=True)  # type: ignore[call-arg]  # why: same


@pytest.mark.parametrize(
    ("failure", "stored"),
    [
        pytest.param(FULL, FULL_JSON, id="every-field"),
        pytest.param(
            LlmFailure(message="broke", code="TRANSPORT"),
            {"message": "broke", "code": "TRANSPORT"},
            id="absent-fields-are-left-out",
        ),
        pytest.param(
            LlmFailure(message="größer als ∞", code="UNKNOWN", status=200),
            {"message": "größer als ∞", "code": "UNKNOWN", "status": 200},
            id="beyond-ascii",
        ),
    ],
)
def test_json_keeps_everything(failure: LlmFailure, stored: dict[str, object]) -> None:
    assert failure.to_json() == stored
    through_text = json.loads(json.dumps(failure.to_json(), allow_nan=False))
    assert LlmFailure.from_json(through_text) == failure


def test_the_stored_form_holds_plain_json_types_only() -> None:
    assert [type(value) for value in FULL.to_json().values()] == [str, str, int, int, str]


failures = st.builds(
    LlmFailure,
    message=st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=500),
    code=st.sampled_from([*sorted(codes.CODES), "HTTP_418", "HTTP_302"]),
    status=st.none() | st.integers(100, 999),
    provider_retry_after_ms=st.none() | st.integers(min_value=1),
    request_id=st.none()
    | st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=256).map(
        ProviderRequestId
    ),
)


@settings(deadline=None)
@given(failure=failures)
def test_any_failure_survives_its_stored_form(failure: LlmFailure) -> None:
    stored = json.loads(json.dumps(failure.to_json()))
    assert LlmFailure.from_json(stored) == failure
    assert set(stored) <= set(FULL_JSON)
    assert None not in stored.values()


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        pytest.param([], "LlmFailure: an object, got list", id="array"),
        pytest.param(None, "LlmFailure: an object, got NoneType", id="null"),
        pytest.param("SERVER", "LlmFailure: an object, got str", id="text"),
        pytest.param({"code": "SERVER"}, "LlmFailure.message: missing", id="no-message"),
        pytest.param({"message": "broke"}, "LlmFailure.code: missing", id="no-code"),
        pytest.param(
            {**FULL_JSON, "retryable": True, "phase": "read"},
            "LlmFailure: unknown keys phase, retryable",
            id="unknown-keys-are-named",
        ),
        pytest.param(
            {**FULL_JSON, "provider_retry_after_ms": 5},
            "LlmFailure: unknown keys provider_retry_after_ms",
            id="snake-case-is-unknown",
        ),
        pytest.param(
            {"message": "broke", 5: 6}, "LlmFailure: unknown keys 5", id="key-that-is-no-text"
        ),
        pytest.param(
            {**FULL_JSON, "status": "429"},
            "LlmFailure.status: a whole number above zero, or None, got str",
            id="status-as-text",
        ),
        pytest.param(
            {**FULL_JSON, "requestId": "two\nlines"},
            "a request id is 1 to 256 printable ASCII characters",
            id="request-id-with-a-line-break",
        ),
        pytest.param(
            {**FULL_JSON, "requestId": 7},
            "a request id is 1 to 256 printable ASCII characters",
            id="request-id-as-a-number",
        ),
    ],
)
def test_reading_refuses_what_was_never_written(stored: object, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        LlmFailure.from_json(stored)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("  a \t b\r\n\r\nc ", "a b c", id="runs-of-white-space"),
        pytest.param("a\x00\x1b[31mb", "a [31mb", id="control-characters"),
        pytest.param("a\u2028b\u0085c", "a b c", id="unicode-line-ends"),
        pytest.param("half \ud83d", "half", id="lone-surrogate"),
        pytest.param("", "nothing said", id="empty"),
        pytest.param("\x00\n\t", "nothing said", id="nothing-printable"),
        pytest.param("x" * 2048, "x" * 2048, id="exactly-the-limit"),
        pytest.param("x" * 2049, "x" * 2045 + "…", id="one-byte-too-many"),
        pytest.param("x" * 5_000_000, "x" * 2045 + "…", id="megabytes"),
        pytest.param("é" * 1025, "é" * 1022 + "…", id="cut-between-characters"),
        pytest.param("👍" * 600, "👍" * 511 + "…", id="cut-between-characters-of-four-bytes"),
    ],
)
def test_a_message_is_made_printable(text: str, expected: str) -> None:
    assert printable_message(text, otherwise="nothing said") == expected


@settings(deadline=None)
@given(text=st.text(max_size=6000))
def test_any_text_becomes_a_message_that_a_failure_accepts(text: str) -> None:
    message = printable_message(text, otherwise="nothing said")
    assert LlmFailure(message=message, code="SERVER").message == message


def test_an_error_carries_the_failure_and_its_cause() -> None:
    cause = OSError("reset")
    with pytest.raises(LlmError) as caught:
        raise LlmError(FULL) from cause
    error = caught.value
    assert (error.failure, error.code, str(error), error.__cause__) == (
        FULL,
        FULL.code,
        "RATE_LIMIT: slow down",
        cause,
    )


@pytest.mark.parametrize("again", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_an_error_can_be_copied_and_sent_to_another_process(again: Any) -> None:
    copied = again(LlmError(FULL))
    assert (type(copied), copied.failure) == (LlmError, FULL)
    assert type(copied.failure.request_id) is ProviderRequestId


def test_a_local_error_has_a_printable_message_and_nothing_of_a_response() -> None:
    assert local_error("UNSUPPORTED_OPTION", "no\nsuch thing").failure == LlmFailure(
        message="no such thing", code="UNSUPPORTED_OPTION"
    )
    assert local_error("NO_ADAPTER", "\n").failure == LlmFailure(
        message="NO_ADAPTER", code="NO_ADAPTER"
    )
