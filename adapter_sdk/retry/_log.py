"""What retry asks of an event log, and the words that it reads and writes there.

Structural on purpose: a log of any make will do, and none is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from .. import LlmFailure
from ._backoff import Delay
from ._policy import NormalRetry, RetryPolicy

RETRY: Final = "llm/retry"
RETRY_STARTED: Final = "llm/retry-started"

# Events of the step loop that are read here: `turn/start {turn}`, `step/start {turn, step,
# provider}`, `request/header {provider?}`, `assistant/chunk {turn, step, chunk}`, `turn/end
# {turn, error?}`.
TURN_START: Final = "turn/start"
TURN_END: Final = "turn/end"
STEP_START: Final = "step/start"
STEP_END: Final = "step/end"
REQUEST_HEADER: Final = "request/header"
ASSISTANT_CHUNK: Final = "assistant/chunk"
ASSISTANT_MESSAGE: Final = "assistant/message"


class LoggedEvent(Protocol):
    """One event: its type, its number from 0, and its data (JSON, camelCase keys)."""

    @property
    def type(self) -> str:
        """For example ``llm/retry``."""
        ...

    @property
    def seq(self) -> int:
        """Its number in the log, from 0."""
        ...

    @property
    def data(self) -> Mapping[str, Any]:
        """JSON with camelCase keys."""
        ...


class TimedEvent(LoggedEvent, Protocol):
    """An event that also says when it was appended."""

    @property
    def time_ms(self) -> int:
        """Milliseconds since 1970, by the log's own clock."""
        ...


class RetryLog(Protocol):
    """A log to append to. ``append`` is synchronous and returns when the event is in it."""

    @property
    def events(self) -> Sequence[LoggedEvent]:
        """Everything so far, oldest first."""
        ...

    def append(self, type: str, data: Mapping[str, Any], /) -> object:  # noqa: A002 - why: the log's own word
        """Add one event; what it raises ends the call that wanted it."""
        ...


def retry_data(
    *,
    retry_id: str,
    turn: int,
    step: int,
    provider: str,
    policy: RetryPolicy,
    retry: int,
    delay: Delay,
    failure: LlmFailure,
) -> dict[str, Any]:
    """Return the data of ``llm/retry``; ``maxRetries`` is left out where there is no limit."""
    data: dict[str, Any] = {
        "retryId": retry_id,
        "turn": turn,
        "step": step,
        "provider": provider,
        "mode": policy.mode,
        "policyKey": policy.key,
        "retry": retry,
        "delayMs": delay.ms,
        "failure": failure.to_json(),
    }
    if isinstance(policy, NormalRetry):
        data["maxRetries"] = policy.max_retries
    return data


def started_data(*, retry_id: str, turn: int, step: int, retry: int) -> dict[str, Any]:
    """Return the data of ``llm/retry-started``."""
    return {"retryId": retry_id, "turn": turn, "step": step, "retry": retry}
