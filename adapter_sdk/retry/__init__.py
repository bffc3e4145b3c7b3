"""Retries for a step loop: policy, executor, events, their invariants, and what a person sees.

An adapter never retries. A product that wants retries mounts ``RetryExecutor`` on its loop's
``request_error`` chain; nothing in the core of the SDK knows this package.
"""

from __future__ import annotations

from ._backoff import AboveCap, Backoff, Delay, DelaySource, Random, choose_delay
from ._executor import Decision, Register, RequestError, RetryExecutor
from ._invariants import RetryInvariant, check_retry_events
from ._live_table import LiveRetries, retry_table
from ._log import RETRY, RETRY_STARTED, LoggedEvent, RetryLog, TimedEvent
from ._plain_lines import RetryLines, plain_lines
from ._policy import (
    DEFAULT_RETRY_POLICY,
    AlwaysRetry,
    NormalRetry,
    RetryPolicy,
    parse_retry_policy,
)
from ._status import RetryFold, RetryRow, retry_status

__all__ = [
    "DEFAULT_RETRY_POLICY",
    "RETRY",
    "RETRY_STARTED",
    "AboveCap",
    "AlwaysRetry",
    "Backoff",
    "Decision",
    "Delay",
    "DelaySource",
    "LiveRetries",
    "LoggedEvent",
    "NormalRetry",
    "Random",
    "Register",
    "RequestError",
    "RetryExecutor",
    "RetryFold",
    "RetryInvariant",
    "RetryLines",
    "RetryLog",
    "RetryPolicy",
    "RetryRow",
    "TimedEvent",
    "check_retry_events",
    "choose_delay",
    "parse_retry_policy",
    "plain_lines",
    "retry_status",
    "retry_table",
]
