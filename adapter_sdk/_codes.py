"""The closed list of failure codes.

A new code needs a case and a written decision. Whether a code is worth a retry
is policy; ``TRANSIENT_CODES`` is the default that policies start from.
"""

from __future__ import annotations

import re
from typing import Final

RATE_LIMIT: Final = "RATE_LIMIT"
SERVER: Final = "SERVER"
TIMEOUT: Final = "TIMEOUT"
TRANSPORT: Final = "TRANSPORT"
EMPTY_RESPONSE: Final = "EMPTY_RESPONSE"

AUTH: Final = "AUTH"
QUOTA: Final = "QUOTA"
INVALID_REQUEST: Final = "INVALID_REQUEST"
CONTEXT_WINDOW_EXCEEDED: Final = "CONTEXT_WINDOW_EXCEEDED"
CONTENT_FILTER: Final = "CONTENT_FILTER"

STREAM_CLOSED: Final = "STREAM_CLOSED"
MALFORMED_RESPONSE: Final = "MALFORMED_RESPONSE"

ABORTED: Final = "ABORTED"

MISSING_CREDENTIAL: Final = "MISSING_CREDENTIAL"
INVALID_CREDENTIAL: Final = "INVALID_CREDENTIAL"
UNSUPPORTED_OPTION: Final = "UNSUPPORTED_OPTION"
UNSUPPORTED_CONTENT: Final = "UNSUPPORTED_CONTENT"
UNSUPPORTED_REASONING_EFFORT: Final = "UNSUPPORTED_REASONING_EFFORT"
UNKNOWN_MODEL: Final = "UNKNOWN_MODEL"

NO_ADAPTER: Final = "NO_ADAPTER"
DUPLICATE_ADAPTER: Final = "DUPLICATE_ADAPTER"
INVALID_ADAPTER: Final = "INVALID_ADAPTER"
INVALID_PREPARED_CALL: Final = "INVALID_PREPARED_CALL"
REGISTRATION_DISPOSED: Final = "REGISTRATION_DISPOSED"

# Of asking a provider which models it has (design of the profile adapter), never of a call.
DISCOVERY_FAILED: Final = "DISCOVERY_FAILED"
DISCOVERY_UNSUPPORTED: Final = "DISCOVERY_UNSUPPORTED"

UNKNOWN: Final = "UNKNOWN"

TRANSIENT_CODES: Final = frozenset({RATE_LIMIT, SERVER, TIMEOUT, TRANSPORT, EMPTY_RESPONSE})

REFUSED_CODES: Final = frozenset(
    {AUTH, QUOTA, INVALID_REQUEST, CONTEXT_WINDOW_EXCEEDED, CONTENT_FILTER}
)

LOCAL_CODES: Final = frozenset(
    {
        MISSING_CREDENTIAL,
        INVALID_CREDENTIAL,
        UNSUPPORTED_OPTION,
        UNSUPPORTED_CONTENT,
        UNSUPPORTED_REASONING_EFFORT,
        UNKNOWN_MODEL,
    }
)

REGISTRY_CODES: Final = frozenset(
    {NO_ADAPTER, DUPLICATE_ADAPTER, INVALID_ADAPTER, INVALID_PREPARED_CALL, REGISTRATION_DISPOSED}
)

DISCOVERY_CODES: Final = frozenset({DISCOVERY_FAILED, DISCOVERY_UNSUPPORTED})

CODES: Final = (
    TRANSIENT_CODES
    | REFUSED_CODES
    | LOCAL_CODES
    | REGISTRY_CODES
    | DISCOVERY_CODES
    | {STREAM_CLOSED, MALFORMED_RESPONSE, ABORTED, UNKNOWN}
)

_HTTP_STATUS_CODE: Final = re.compile(r"HTTP_[1-9][0-9]{2}\Z")


def http_status_code(status: int) -> str:
    """Return the code of a status that has no rule of its own: ``HTTP_<status>``."""
    return f"HTTP_{status}"


def is_code(value: str) -> bool:
    """Whether ``value`` is in the closed list, the open family ``HTTP_<status>`` included."""
    return value in CODES or _HTTP_STATUS_CODE.match(value) is not None
