"""How far recovery may lead: a view derived from codes, statuses and classes."""

from __future__ import annotations

import pytest

from adapter_sdk import LlmFailure, codes
from adapter_sdk.lifecycle import FailoverScope, failover_scope

NEVER, SAME, COMPATIBLE = "never", "same-model", "compatible-model"


def failure(code: str, status: int | None = None, message: str = "no") -> LlmFailure:
    return LlmFailure(message=message, code=code, status=status)


@pytest.mark.parametrize(
    ("failed", "scope"),
    [
        pytest.param(failure(codes.TIMEOUT, 408), SAME, id="408"),
        pytest.param(failure("HTTP_409", 409), SAME, id="409"),
        pytest.param(failure("HTTP_425", 425), SAME, id="425"),
        pytest.param(failure(codes.RATE_LIMIT, 429), SAME, id="429"),
        pytest.param(failure(codes.RATE_LIMIT, 429, "overloaded"), COMPATIBLE, id="429-overload"),
        pytest.param(failure(codes.SERVER, 500), COMPATIBLE, id="500"),
        pytest.param(failure(codes.SERVER, 503), COMPATIBLE, id="503"),
        pytest.param(failure(codes.SERVER, 529), COMPATIBLE, id="529"),
        pytest.param(failure(codes.SERVER, 200), COMPATIBLE, id="in-band"),
        pytest.param(failure("HTTP_599", 599), COMPATIBLE, id="599"),
        pytest.param(failure(codes.TRANSPORT), SAME, id="transport"),
        pytest.param(failure(codes.TIMEOUT), SAME, id="our-own-limit"),
        pytest.param(failure(codes.EMPTY_RESPONSE, 200), SAME, id="empty"),
        pytest.param(failure(codes.INVALID_REQUEST, 400), NEVER, id="400"),
        pytest.param(failure(codes.AUTH, 401), NEVER, id="401"),
        pytest.param(failure(codes.AUTH, 403), NEVER, id="403"),
        pytest.param(failure(codes.QUOTA, 402), NEVER, id="402"),
        pytest.param(failure(codes.QUOTA, 429), NEVER, id="429-without-credit"),
        pytest.param(failure("HTTP_404", 404), NEVER, id="404"),
        pytest.param(failure("HTTP_307", 307), NEVER, id="redirect"),
        pytest.param(failure(codes.CONTEXT_WINDOW_EXCEEDED, 400), NEVER, id="too-long"),
        pytest.param(failure(codes.CONTENT_FILTER, 200), NEVER, id="safety"),
        pytest.param(failure(codes.ABORTED), NEVER, id="abort"),
        pytest.param(failure(codes.STREAM_CLOSED, 200), NEVER, id="no-terminal-evidence"),
        pytest.param(failure(codes.MALFORMED_RESPONSE, 200), NEVER, id="bytes-without-meaning"),
        pytest.param(failure(codes.UNKNOWN), NEVER, id="unknown"),
        *(
            pytest.param(failure(code), NEVER, id=code.lower().replace("_", "-"))
            for code in sorted(codes.LOCAL_CODES | codes.REGISTRY_CODES)
        ),
    ],
)
def test_a_failure_leads_so_far_and_no_further(failed: LlmFailure, scope: FailoverScope) -> None:
    assert failover_scope(failed) == scope


@pytest.mark.parametrize("code", sorted(codes.CODES))
def test_every_code_has_a_scope(code: str) -> None:
    assert failover_scope(failure(code)) in {NEVER, SAME, COMPATIBLE}
