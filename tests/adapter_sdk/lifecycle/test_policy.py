"""The recovery policy: its defaults, its decisions, and the numbers that it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from adapter_sdk import LlmFailure, classify_failure, codes
from adapter_sdk.lifecycle import (
    FailedResponse,
    GiveUp,
    Recovery,
    ResponseLimits,
    failover_scope,
)
from adapter_sdk.retry import Backoff, Delay

TEN_HOURS_MS = 36_000_000


def failed(code: str = codes.SERVER, *, hint_ms: int | None = None, n: int = 1) -> FailedResponse:
    failure = LlmFailure(message="no", code=code, provider_retry_after_ms=hint_ms)
    return FailedResponse(
        failure=failure,
        failure_class=classify_failure(failure),
        scope=failover_scope(failure),
        route_id="a",
        responses=n,
        route_failures=n,
        elapsed_ms=0,
    )


@pytest.mark.parametrize(
    ("policy", "response", "decision"),
    [
        pytest.param(Recovery(), failed(), Delay(200, "backoff"), id="first"),
        pytest.param(Recovery(), failed(n=4), Delay(1600, "backoff"), id="fourth"),
        pytest.param(Recovery(), failed(n=10**6), Delay(600_000, "backoff"), id="millionth"),
        pytest.param(Recovery(), failed(hint_ms=7000), Delay(7000, "provider"), id="a-hint"),
        pytest.param(
            Recovery(), failed(hint_ms=600_000), Delay(600_000, "provider"), id="hint-is-the-cap"
        ),
        pytest.param(
            Recovery(),
            failed(hint_ms=TEN_HOURS_MS),
            Delay(600_000, "provider-capped"),
            id="a-hint-of-ten-hours",
        ),
        pytest.param(
            Recovery(), failed(codes.AUTH), GiveUp("auth is not recovered from"), id="auth"
        ),
        pytest.param(
            Recovery(),
            failed(codes.ABORTED),
            GiveUp("aborted is not recovered from"),
            id="an-abort",
        ),
        pytest.param(
            Recovery(max_responses=3), failed(n=2), Delay(400, "backoff"), id="below-the-bound"
        ),
        pytest.param(
            Recovery(max_responses=3), failed(n=3), GiveUp("max_responses is 3"), id="bound"
        ),
        pytest.param(
            Recovery(backoff=Backoff(initial_delay_ms=1, max_delay_ms=2)),
            failed(n=5),
            Delay(2, "backoff"),
            id="another-backoff",
        ),
    ],
)
def test_a_failed_response_is_decided_on(
    policy: Recovery, response: FailedResponse, decision: Delay | GiveUp
) -> None:
    assert policy.decide(response, random=lambda: 0.5) == decision


def test_the_defaults_are_those_of_the_design_note() -> None:
    policy = Recovery()
    assert (policy.max_responses, policy.max_elapsed) == (None, None)
    assert policy.backoff == Backoff(initial_delay_ms=200, max_delay_ms=600_000, jitter_ratio=0.1)
    assert policy.limits == ResponseLimits(connect_timeout=15, header_timeout=60, idle_timeout=300)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(
            lambda: Recovery(max_responses=0),
            "max_responses: a whole number of 1 or more, or None, got 0",
            id="no-responses",
        ),
        pytest.param(
            lambda: Recovery(max_responses=True),
            "max_responses: a whole number of 1 or more, or None, got True",
            id="a-flag",
        ),
        pytest.param(
            lambda: Recovery(max_elapsed=0),
            "max_elapsed: seconds above 0 and at most 2147483.647, got 0.0",
            id="no-time",
        ),
        pytest.param(
            lambda: Recovery(max_elapsed=float("nan")),
            "max_elapsed: seconds above 0 and at most 2147483.647, got nan",
            id="nan",
        ),
        pytest.param(
            lambda: Recovery(backoff={"initial_delay_ms": 1}),  # type: ignore[arg-type]
            "backoff: a Backoff, got dict",
            id="backoff-a-mapping",
        ),
        pytest.param(
            lambda: Recovery(limits=None),  # type: ignore[arg-type]
            "limits: a ResponseLimits, got NoneType",
            id="no-limits",
        ),
        pytest.param(
            lambda: ResponseLimits(connect_timeout=-1),
            "connect_timeout: seconds above 0 and at most 2147483.647, got -1.0",
            id="connect",
        ),
        pytest.param(
            lambda: ResponseLimits(header_timeout=float("inf")),
            "header_timeout: seconds above 0 and at most 2147483.647, got inf",
            id="headers",
        ),
        pytest.param(
            lambda: ResponseLimits(idle_timeout="300"),  # type: ignore[arg-type]
            "idle_timeout: a number of seconds, got str",
            id="idle",
        ),
    ],
)
def test_impossible_numbers_are_refused_by_name(make: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message
