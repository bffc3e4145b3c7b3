"""Failures under the wrong code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from adapter_sdk import LlmFailure, codes

from .._altering import failing, recoded
from .._mutant import Mutant


def _status(status: int, code: str) -> Callable[[LlmFailure], bool]:
    return lambda failure: failure.status == status and failure.code == code


def _status_decides(failure: LlmFailure, payload: Any) -> LlmFailure:
    by_status = {400: codes.INVALID_REQUEST, 429: codes.RATE_LIMIT}
    named = isinstance(payload, dict) and "insufficient_quota" in str(payload)
    code = by_status.get(failure.status or 0)
    return dataclasses.replace(failure, code=code) if named and code else failure


def _generic_type_decides(failure: LlmFailure, payload: Any) -> LlmFailure:
    error = payload.get("error") if isinstance(payload, dict) else None
    generic = isinstance(error, dict) and error.get("type") == "invalid_request_error"
    if generic and failure.status == 408:
        return dataclasses.replace(failure, code=codes.INVALID_REQUEST)
    return failure


def _frames_are_server(failure: LlmFailure, payload: Any) -> LlmFailure:
    if isinstance(payload, dict) and failure.status == 200:
        return dataclasses.replace(failure, code=codes.SERVER)
    return failure


MUTANTS: Final = (
    Mutant(
        name="refused-key-is-a-bad-request",
        broken="Reports 401 as INVALID_REQUEST.",
        factory=recoded(_status(401, codes.AUTH), codes.INVALID_REQUEST),
        trips={
            "code-auth": "expected AUTH, got INVALID_REQUEST",
            "structured-before-text": "expected AUTH, got INVALID_REQUEST",
        },
    ),
    Mutant(
        name="key-named-in-a-400-is-unread",
        broken="Does not look for an invalid key in the body of a 400.",
        factory=recoded(_status(400, codes.AUTH), codes.INVALID_REQUEST),
        trips={
            "code-auth": "expected AUTH, got INVALID_REQUEST",
            "structured-before-text": "expected AUTH, got INVALID_REQUEST",
            "error-body-robust": "expected AUTH, got INVALID_REQUEST",
        },
    ),
    Mutant(
        name="forbidden-keeps-its-number",
        broken="Reports 403 as HTTP_403.",
        factory=recoded(_status(403, codes.AUTH), "HTTP_403"),
        trips={"code-auth": "expected AUTH, got HTTP_403"},
    ),
    Mutant(
        name="challenge-page-is-a-bad-key",
        broken="Reports the challenge page of an edge network as AUTH.",
        factory=recoded(_status(403, codes.SERVER), codes.AUTH),
        trips={"code-challenge-page": "expected SERVER, got AUTH"},
    ),
    Mutant(
        name="unknown-model-is-retried",
        broken="Reports 404 as SERVER, as gateways that flatten it to 502 do.",
        factory=recoded(_status(404, codes.INVALID_REQUEST), codes.SERVER),
        trips={"code-invalid-request": "expected INVALID_REQUEST, got SERVER"},
    ),
    Mutant(
        name="unprocessable-keeps-its-number",
        broken="Reports 422 as HTTP_422.",
        factory=recoded(_status(422, codes.INVALID_REQUEST), "HTTP_422"),
        trips={
            "code-invalid-request": "expected INVALID_REQUEST, got HTTP_422",
            "error-body-robust": "expected INVALID_REQUEST, got HTTP_422",
        },
    ),
    Mutant(
        name="overflow-is-a-bad-request",
        broken="Reports a full context as INVALID_REQUEST.",
        factory=recoded(
            lambda f: f.code == codes.CONTEXT_WINDOW_EXCEEDED and f.status in (400, 413),
            codes.INVALID_REQUEST,
        ),
        trips={
            "code-context-overflow": "expected CONTEXT_WINDOW_EXCEEDED, got INVALID_REQUEST",
            "in-band-error": "expected CONTEXT_WINDOW_EXCEEDED, got INVALID_REQUEST",
        },
    ),
    Mutant(
        name="token-rate-is-an-overflow",
        broken="Takes a limit of tokens per minute for a full context.",
        factory=recoded(
            lambda f: f.code == codes.RATE_LIMIT and "too large" in f.message and f.status == 429,
            codes.CONTEXT_WINDOW_EXCEEDED,
        ),
        trips={"code-context-overflow": "expected RATE_LIMIT, got CONTEXT_WINDOW_EXCEEDED"},
    ),
    Mutant(
        name="empty-account-is-a-rate-limit",
        broken="Reports every 429 as RATE_LIMIT, also for an exhausted quota.",
        factory=recoded(_status(429, codes.QUOTA), codes.RATE_LIMIT),
        trips={
            "code-quota": "expected QUOTA, got RATE_LIMIT",
            "structured-before-text": "expected QUOTA, got RATE_LIMIT",
            "error-body-robust": "expected QUOTA, got failure RATE_LIMIT",
        },
    ),
    Mutant(
        name="payment-required-keeps-its-number",
        broken="Reports 402 as HTTP_402.",
        factory=recoded(_status(402, codes.QUOTA), "HTTP_402"),
        trips={"code-quota": "expected QUOTA, got HTTP_402"},
    ),
    Mutant(
        name="quota-per-minute-is-an-empty-account",
        broken="Takes the word quota in a limit per minute for an empty account.",
        factory=recoded(lambda f: f.code == codes.RATE_LIMIT and "quota" in f.message, codes.QUOTA),
        trips={"code-quota": "expected RATE_LIMIT, got QUOTA"},
    ),
    Mutant(
        name="bare-429-is-an-empty-account",
        broken="Reports a 429 without a body as QUOTA.",
        factory=recoded(
            lambda f: f.code == codes.RATE_LIMIT and "empty body" in f.message, codes.QUOTA
        ),
        trips={
            "code-rate-limit": "expected RATE_LIMIT, got QUOTA",
            "retry-after-seconds": "expected RATE_LIMIT, got failure QUOTA",
            "single-attempt": "expected RATE_LIMIT, got QUOTA",
        },
    ),
    Mutant(
        name="invented-5xx-keeps-its-number",
        broken="Knows 500 to 504 only: any other 5xx is HTTP_<status>.",
        factory=failing(
            lambda f, _: (
                dataclasses.replace(f, code=f"HTTP_{f.status}")
                if f.code == codes.SERVER and (f.status or 0) > 504
                else f
            )
        ),
        trips={
            "code-server": "expected SERVER, got HTTP_5",
            "retry-after-seconds": "expected SERVER, got HTTP_529",
        },
    ),
    Mutant(
        name="request-timeout-is-the-servers",
        broken="Reports 408 as SERVER.",
        factory=recoded(_status(408, codes.TIMEOUT), codes.SERVER),
        trips={
            "code-other-status": "expected TIMEOUT, got SERVER",
            "structured-before-text": "expected TIMEOUT, got SERVER",
        },
    ),
    Mutant(
        name="conflict-is-a-bad-request",
        broken="Reports every 4xx without a rule as INVALID_REQUEST.",
        factory=recoded(lambda f: f.code.startswith("HTTP_4"), codes.INVALID_REQUEST),
        trips={"code-other-status": "expected HTTP_409, got INVALID_REQUEST"},
    ),
    Mutant(
        name="filtered-answer-is-unknown",
        broken="Does not know content_filter as a finish reason.",
        factory=recoded(
            lambda f: f.code == codes.CONTENT_FILTER and "'content_filter'" in f.message,
            codes.UNKNOWN,
        ),
        trips={
            "code-content-filter": "expected CONTENT_FILTER, got UNKNOWN",
            "finish-mapping": "expected CONTENT_FILTER, got UNKNOWN",
        },
    ),
    Mutant(
        name="filtered-prompt-is-a-bad-request",
        broken="Reports a 400 by the content filter as INVALID_REQUEST.",
        factory=recoded(_status(400, codes.CONTENT_FILTER), codes.INVALID_REQUEST),
        trips={"code-content-filter": "expected CONTENT_FILTER, got INVALID_REQUEST"},
    ),
    Mutant(
        name="status-decides-before-the-code",
        broken="Lets the HTTP status decide before the code in the body.",
        factory=failing(_status_decides),
        trips={
            "structured-before-text": "expected QUOTA, got RATE_LIMIT",
            "code-quota": "expected QUOTA, got RATE_LIMIT",
            "error-body-robust": "expected QUOTA, got failure RATE_LIMIT",
        },
    ),
    Mutant(
        name="generic-type-decides-before-the-status",
        broken="Lets the type invalid_request_error decide before a status of 408.",
        factory=failing(_generic_type_decides),
        trips={"structured-before-text": "expected TIMEOUT, got INVALID_REQUEST"},
    ),
    Mutant(
        name="frames-have-their-own-classifier",
        broken="Reports each error inside a 200 as SERVER, whatever it names.",
        factory=failing(_frames_are_server),
        trips={
            "in-band-error": "got SERVER",
            "structured-before-text": "got SERVER",
            "code-content-filter": "expected CONTENT_FILTER, got SERVER",
            "not-a-stream": "expected RATE_LIMIT, got SERVER",
            "structured_before_text/same_error_in_both_places": "got failure SERVER",
        },
    ),
)
