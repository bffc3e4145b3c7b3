"""Which failures are recovered from, and how far from the failed route that may lead.

A view derived from ``classify_failure``; nothing is classified here.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from .. import FailureClass, LlmFailure, classify_failure, codes

FailoverScope: TypeAlias = Literal["never", "same-model", "compatible-model"]
"""Where the next response may come from after a failure.

- ``never``: nowhere; the failure ends the call.
- ``same-model``: any route to the same model, the failed one included.
- ``compatible-model``: those, and the routes to models that the caller called compatible.
"""

# Design note 000: 408, 409, 425, 429, 5xx and transport failures recover; 400, 401, 403, local
# refusals, aborts and protocol faults do not. What is wrong with a whole provider or a model that
# is full may be asked of another model; what is wrong with one account or one connection may not.
_SCOPES: Final[dict[FailureClass, FailoverScope]] = {
    FailureClass.PROVIDER_OVERLOADED: "compatible-model",
    FailureClass.PROVIDER_UNAVAILABLE: "compatible-model",
    FailureClass.RATE_LIMIT: "same-model",
    FailureClass.TIMEOUT: "same-model",
    FailureClass.TRANSPORT: "same-model",
    # An answer without content is transient by default (contract, section 3).
    FailureClass.PROVIDER_BUG: "same-model",
}

# Their class is that of other 4xx, but both say "not now": RFC 9110 section 15.5.10, RFC 8470.
_SCOPES_OF_CODES: Final[dict[str, FailoverScope]] = {
    codes.http_status_code(409): "same-model",
    codes.http_status_code(425): "same-model",
}


def failover_scope(failure: LlmFailure) -> FailoverScope:
    """Return how far recovery from ``failure`` may lead."""
    by_code = _SCOPES_OF_CODES.get(failure.code)
    return by_code or _SCOPES.get(classify_failure(failure), "never")
