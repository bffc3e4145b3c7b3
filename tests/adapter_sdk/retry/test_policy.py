"""Retry policies: their defaults, what a configuration may say, and what is refused where."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from adapter_sdk import codes
from adapter_sdk.retry import (
    DEFAULT_RETRY_POLICY,
    AlwaysRetry,
    Backoff,
    NormalRetry,
    RetryPolicy,
    parse_retry_policy,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({}, DEFAULT_RETRY_POLICY, id="nothing-said"),
        pytest.param({"mode": "normal"}, NormalRetry(), id="normal"),
        pytest.param({"mode": "always"}, AlwaysRetry(), id="always"),
        pytest.param(
            {
                "max_retries": 2,
                "retryable_codes": ["SERVER", "STREAM_CLOSED", "HTTP_409"],
                "backoff": {"initial_delay_ms": 1, "max_delay_ms": 2, "jitter_ratio": 0},
            },
            NormalRetry(
                max_retries=2,
                retryable_codes=("SERVER", "STREAM_CLOSED", "HTTP_409"),
                backoff=Backoff(initial_delay_ms=1, max_delay_ms=2, jitter_ratio=0),
            ),
            id="everything-said",
        ),
        pytest.param({"max_retries": 0}, NormalRetry(max_retries=0), id="no-retries"),
        pytest.param(
            {"mode": "always", "max_retries": "stale", "retryable_codes": []},
            AlwaysRetry(),
            id="stale-fields-of-normal-are-ignored-unread",
        ),
        pytest.param(
            {"mode": "always", "backoff": {"initial_delay_ms": 7}},
            AlwaysRetry(backoff=Backoff(initial_delay_ms=7)),
            id="always-has-a-backoff",
        ),
        pytest.param({"backoff": Backoff()}, NormalRetry(), id="a-backoff-as-an-object"),
        pytest.param(AlwaysRetry(), AlwaysRetry(), id="a-policy-stays-as-it-is"),
    ],
)
def test_a_configuration_becomes_a_policy(value: object, expected: RetryPolicy) -> None:
    assert parse_retry_policy(value) == expected


def test_the_defaults_are_those_of_the_design_note() -> None:
    assert dataclasses.asdict(DEFAULT_RETRY_POLICY) == {
        "mode": "normal",
        "max_retries": 5,
        "retryable_codes": ("EMPTY_RESPONSE", "RATE_LIMIT", "SERVER", "TIMEOUT", "TRANSPORT"),
        "backoff": {"initial_delay_ms": 500, "max_delay_ms": 10_000, "jitter_ratio": 0.1},
    }


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(None, ": a mapping, got NoneType", id="none"),
        pytest.param(["normal"], ": a mapping, got list", id="an-array"),
        pytest.param({"mode": "sometimes"}, ".mode: normal or always, got 'sometimes'", id="mode"),
        pytest.param({"mode": None}, ".mode: normal or always, got None", id="mode-none"),
        pytest.param(
            {"maxRetries": 5},
            ".maxRetries: unknown; known are backoff, max_retries, mode, retryable_codes",
            id="unknown-key",
        ),
        pytest.param(
            {"mode": "always", "max_retry_delay_ms": 5},
            ".max_retry_delay_ms: unknown; known are backoff, max_retries, mode, retryable_codes",
            id="unknown-key-beside-always",
        ),
        pytest.param(
            {"max_retries": -1}, ".max_retries: a whole number of 0 or more, got -1", id="negative"
        ),
        pytest.param(
            {"max_retries": True}, ".max_retries: a whole number of 0 or more, got True", id="flag"
        ),
        pytest.param(
            {"max_retries": 1.0}, ".max_retries: a whole number of 0 or more, got 1.0", id="float"
        ),
        pytest.param(
            {"retryable_codes": []}, ".retryable_codes: a list of at least one code", id="no-codes"
        ),
        pytest.param(
            {"retryable_codes": "SERVER"},
            ".retryable_codes: a list of at least one code",
            id="a-text-is-no-list",
        ),
        pytest.param(
            {"retryable_codes": ["SERVER", "SERVRE"]},
            ".retryable_codes[1]: a code of the closed list, got 'SERVRE'",
            id="no-such-code",
        ),
        pytest.param(
            {"retryable_codes": ["SERVER", 500]},
            ".retryable_codes[1]: a code of the closed list, got 500",
            id="a-number-is-no-code",
        ),
        pytest.param(
            {"retryable_codes": ["SERVER", "TIMEOUT", "SERVER"]},
            ".retryable_codes[2]: SERVER stands there twice",
            id="twice",
        ),
        pytest.param(
            {"retryable_codes": [codes.ABORTED]},
            ".retryable_codes[0]: ABORTED is the caller's own wish and is never retried",
            id="aborted",
        ),
        pytest.param({"backoff": 500}, ".backoff: a mapping, got int", id="backoff-a-number"),
        pytest.param(
            {"mode": "always", "backoff": None},
            ".backoff: a mapping, got NoneType",
            id="backoff-none",
        ),
        pytest.param(
            {"backoff": {"initial": 1}},
            ".backoff.initial: unknown; known are initial_delay_ms, jitter_ratio, max_delay_ms",
            id="unknown-key-of-backoff",
        ),
        pytest.param(
            {"mode": "always", "backoff": {"max_delay_ms": 0}},
            ".backoff.max_delay_ms: whole milliseconds from 1 to 2147483647, got 0",
            id="number-of-backoff",
        ),
        pytest.param(
            {"mode": "x" * 99},
            f".mode: normal or always, got '{'x' * 38}…",
            id="a-long-value-is-cut",
        ),
    ],
)
def test_every_refusal_begins_with_the_path_in_the_configuration(
    value: object, message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        parse_retry_policy(value, path="routes.acme.retry_policy")
    assert str(caught.value) == f"routes.acme.retry_policy{message}"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(
            lambda: NormalRetry(max_retries=-1),
            "max_retries: a whole number of 0 or more, got -1",
            id="normal",
        ),
        pytest.param(
            lambda: NormalRetry(backoff={"initial_delay_ms": 1}),  # type: ignore[arg-type]
            "backoff: a Backoff, got dict",
            id="normal-backoff",
        ),
        pytest.param(
            lambda: AlwaysRetry(backoff=None),  # type: ignore[arg-type]
            "backoff: a Backoff, got NoneType",
            id="always-backoff",
        ),
    ],
)
def test_a_policy_made_by_hand_is_checked_too(make: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize("policy", [NormalRetry(), AlwaysRetry()])
def test_a_policy_cannot_be_changed(policy: RetryPolicy) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.backoff = Backoff(initial_delay_ms=1)  # type: ignore[misc]


def test_equal_policies_have_equal_keys_and_others_do_not() -> None:
    policies: list[RetryPolicy] = [
        NormalRetry(),
        NormalRetry(max_retries=6),
        NormalRetry(retryable_codes=("SERVER",)),
        NormalRetry(backoff=Backoff(initial_delay_ms=501)),
        NormalRetry(backoff=Backoff(max_delay_ms=10_001)),
        NormalRetry(backoff=Backoff(jitter_ratio=0.2)),
        AlwaysRetry(),
        AlwaysRetry(backoff=Backoff(initial_delay_ms=501)),
    ]
    keys = [policy.key for policy in policies]
    assert len(set(keys)) == len(policies)
    assert keys[0] == parse_retry_policy({"mode": "normal"}).key
    assert (
        NormalRetry(retryable_codes=("SERVER", "TIMEOUT")).key
        == NormalRetry(retryable_codes=("TIMEOUT", "SERVER")).key
    )
    assert (
        NormalRetry(backoff=Backoff(jitter_ratio=1)).key
        == NormalRetry(backoff=Backoff(jitter_ratio=1.0)).key
    )
