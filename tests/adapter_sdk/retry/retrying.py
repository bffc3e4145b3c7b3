"""A log, a failure, and the rest of a chain: what an executor needs around it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import AbortSignal, LlmFailure, codes
from adapter_sdk.retry import (
    RETRY,
    RETRY_STARTED,
    AlwaysRetry,
    Backoff,
    Decision,
    NormalRetry,
    RetryPolicy,
)

Backend = Literal["asyncio", "trio"]
lanes = pytest.mark.parametrize("backend", ["asyncio", "trio"])

SERVER: Final = LlmFailure(message="broken", code=codes.SERVER, status=500)
AUTH: Final = LlmFailure(message="who?", code=codes.AUTH, status=401)
STEADY: Final = Backoff(jitter_ratio=0)
NORMAL: Final = NormalRetry(backoff=STEADY)
ALWAYS: Final = AlwaysRetry(backoff=STEADY)


@dataclass(frozen=True)
class Event:
    type: str
    seq: int
    data: Mapping[str, Any]


@dataclass
class Log:
    """A log in memory that also notes the loop's time of each event, in seconds."""

    events: list[Event] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def append(self, type_: str, data: Mapping[str, Any], /) -> Event:
        event = Event(type_, len(self.events), dict(data))
        self.events.append(event)
        self.times.append(anyio.current_time())
        return event

    def open(self, turn: int, step: int, provider: str) -> None:
        self.append("turn/start", {"turn": turn})
        self.append("step/start", {"turn": turn, "step": step, "provider": provider})

    def retries(self) -> list[tuple[str, int, str]]:
        return [
            (e.type.removeprefix("llm/"), e.data["retry"], e.data["retryId"])
            for e in self.events
            if e.type in (RETRY, RETRY_STARTED)
        ]


@dataclass(frozen=True)
class Payload:
    failure: LlmFailure = SERVER
    retry_policy: RetryPolicy | None = NORMAL
    turn: int = 1
    step: int = 1
    provider: str = "acme"
    signal: AbortSignal | None = None


@dataclass
class Downstream:
    """The rest of the chain: answers, and counts how often it was asked."""

    decision: Decision = None
    asked: int = 0

    async def __call__(self, _: Payload) -> Decision:
        self.asked += 1
        await anyio.lowlevel.checkpoint()
        return self.decision


def ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"id-{next(numbers)}"


def hinted(ms: int) -> LlmFailure:
    return replace(SERVER, code=codes.RATE_LIMIT, status=429, provider_retry_after_ms=ms)


def coded(code: str) -> LlmFailure:
    return LlmFailure(message="no", code=code)
