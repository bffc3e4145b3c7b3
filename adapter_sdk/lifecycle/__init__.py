"""Responses and routes: one stream that goes on until one response is whole.

For people who call a model directly. It never joins two responses, retries and fails over before
anything is committed, and ends in committed or failed. It stands on the adapters and on the
arithmetic of ``adapter_sdk.retry``; nothing in the core of the SDK knows this package.
"""

from __future__ import annotations

from ._capabilities import RouteCapabilities
from ._client import LifecycleStream, LlmClient
from ._diagnostics import Action, Diagnostic, Listener
from ._events import (
    AssistantChunk,
    LifecycleEvent,
    OpenChunk,
    Outcome,
    ResponseCommitted,
    ResponseFailed,
    ResponseInterrupted,
    ResponseStart,
    RouteInfo,
    event_from_json,
)
from ._failover import FailoverScope, failover_scope
from ._policy import (
    FailedResponse,
    GiveUp,
    Recovery,
    RecoveryPolicy,
    ResponseLimits,
)
from ._rows import ResponseFold, ResponseRow
from ._view import LiveResponses, response_view

__all__ = [
    "Action",
    "AssistantChunk",
    "Diagnostic",
    "FailedResponse",
    "FailoverScope",
    "GiveUp",
    "LifecycleEvent",
    "LifecycleStream",
    "Listener",
    "LiveResponses",
    "LlmClient",
    "OpenChunk",
    "Outcome",
    "Recovery",
    "RecoveryPolicy",
    "ResponseCommitted",
    "ResponseFailed",
    "ResponseFold",
    "ResponseInterrupted",
    "ResponseLimits",
    "ResponseRow",
    "ResponseStart",
    "RouteCapabilities",
    "RouteInfo",
    "event_from_json",
    "failover_scope",
    "response_view",
]
