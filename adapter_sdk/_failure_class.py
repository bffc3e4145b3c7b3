"""A coarser view of failures, for policies and people. Derived, never stored."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from . import _codes as codes

if TYPE_CHECKING:
    from ._failure import LlmFailure


class FailureClass(StrEnum):
    """Who or what stands in the way of an answer.

    Source: contract section 3, design note 000.
    """

    AUTH = "auth"
    RATE_LIMIT = "rate-limit"
    QUOTA = "quota"
    INVALID_REQUEST = "invalid-request"
    UNSUPPORTED = "unsupported"
    TIMEOUT = "timeout"
    TRANSPORT = "transport"
    PROVIDER_OVERLOADED = "provider-overloaded"
    PROVIDER_UNAVAILABLE = "provider-unavailable"
    PROVIDER_BUG = "provider-bug"
    PROTOCOL = "protocol"
    SAFETY = "safety"
    ABORTED = "aborted"
    UNKNOWN = "unknown"


_CLASSES: Final = {
    codes.AUTH: FailureClass.AUTH,
    codes.MISSING_CREDENTIAL: FailureClass.AUTH,
    codes.INVALID_CREDENTIAL: FailureClass.AUTH,
    codes.RATE_LIMIT: FailureClass.RATE_LIMIT,
    codes.QUOTA: FailureClass.QUOTA,
    codes.INVALID_REQUEST: FailureClass.INVALID_REQUEST,
    codes.CONTEXT_WINDOW_EXCEEDED: FailureClass.INVALID_REQUEST,
    codes.UNKNOWN_MODEL: FailureClass.INVALID_REQUEST,
    codes.UNSUPPORTED_OPTION: FailureClass.UNSUPPORTED,
    codes.UNSUPPORTED_CONTENT: FailureClass.UNSUPPORTED,
    codes.UNSUPPORTED_REASONING_EFFORT: FailureClass.UNSUPPORTED,
    codes.TIMEOUT: FailureClass.TIMEOUT,
    codes.TRANSPORT: FailureClass.TRANSPORT,
    codes.SERVER: FailureClass.PROVIDER_UNAVAILABLE,
    codes.EMPTY_RESPONSE: FailureClass.PROVIDER_BUG,
    codes.STREAM_CLOSED: FailureClass.PROTOCOL,
    codes.MALFORMED_RESPONSE: FailureClass.PROTOCOL,
    codes.CONTENT_FILTER: FailureClass.SAFETY,
    codes.ABORTED: FailureClass.ABORTED,
    # Misuse of the registry is a fault of the calling program: no provider was asked.
    codes.NO_ADAPTER: FailureClass.INVALID_REQUEST,
    codes.DUPLICATE_ADAPTER: FailureClass.INVALID_REQUEST,
    codes.INVALID_ADAPTER: FailureClass.INVALID_REQUEST,
    codes.INVALID_PREPARED_CALL: FailureClass.INVALID_REQUEST,
    codes.REGISTRATION_DISPOSED: FailureClass.INVALID_REQUEST,
    codes.DISCOVERY_FAILED: FailureClass.PROVIDER_UNAVAILABLE,
    codes.DISCOVERY_UNSUPPORTED: FailureClass.UNSUPPORTED,
    codes.UNKNOWN: FailureClass.UNKNOWN,
}

# 503 is the standard's, 529 Anthropic's way to say so; a 429 needs the words.
_OVERLOADED_STATUSES: Final = frozenset({503, 529})
_OVERLOADED: Final = re.compile(
    r"\boverload|\btoo busy\b|\b(?:at|over|out of|no|insufficient) capacity\b", re.IGNORECASE
)


def classify_failure(failure: LlmFailure) -> FailureClass:
    """Return the class of a failure. Every code has one, ``HTTP_<status>`` included."""
    found = _CLASSES.get(failure.code)
    if found is FailureClass.PROVIDER_UNAVAILABLE and failure.status in _OVERLOADED_STATUSES:
        return FailureClass.PROVIDER_OVERLOADED
    if found is FailureClass.RATE_LIMIT and _OVERLOADED.search(failure.message):
        return FailureClass.PROVIDER_OVERLOADED
    return found or _class_of_status(failure.code)


def _class_of_status(code: str) -> FailureClass:
    """Return the class of ``HTTP_<status>``: a redirect is a wrong address or a gateway."""
    match code.removeprefix("HTTP_")[0]:
        case "4":
            return FailureClass.INVALID_REQUEST
        case "1" | "2" | "3":
            return FailureClass.PROTOCOL
        case "5":
            return FailureClass.PROVIDER_UNAVAILABLE
        case _:
            return FailureClass.UNKNOWN
