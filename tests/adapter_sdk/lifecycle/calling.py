"""A foreign adapter that follows a script, and what a call over it was seen to do."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import (
    STOP,
    AbortSignal,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    TextDelta,
    TokenUsage,
    UsageReport,
    codes,
    user,
)
from adapter_sdk.lifecycle import (
    AssistantChunk,
    LifecycleEvent,
    LlmClient,
    Recovery,
    ResponseCommitted,
    ResponseFailed,
    ResponseInterrupted,
    ResponseStart,
)
from adapter_sdk.retry import Backoff
from adapter_sdk.testing import run_virtual

Backend = Literal["asyncio", "trio"]
lanes = pytest.mark.parametrize("backend", ["asyncio", "trio"])

REQUEST: Final = LlmRequest(model="m", messages=(user("Hi"),))
STEADY: Final = Backoff(initial_delay_ms=200, max_delay_ms=600_000, jitter_ratio=0)
RECOVERY: Final = Recovery(backoff=STEADY)


def failure(code: str = codes.SERVER, **facts: Any) -> LlmFailure:
    return LlmFailure(message="no", code=code, **facts)


SERVER: Final = failure(status=500)
AUTH: Final = failure(codes.AUTH, status=401)
TIMEOUT: Final = failure(codes.TIMEOUT)

End = LlmFailure | Exception | Literal["stop", "hang", "no-finish"]


@dataclass(frozen=True)
class Says:
    """One response: some text, then its end. A failure is in band, an exception is thrown."""

    text: str = ""
    end: End = "stop"
    after_s: float = 0.0


@dataclass
class Adapter:
    """A foreign adapter: no ``BaseAdapter``, raises at will, does not hear the signal."""

    script: list[Says]
    asked_s: list[float] = field(default_factory=list)
    closed_s: list[float] = field(default_factory=list)

    async def stream(
        self, request: LlmRequest, abort: AbortSignal | None = None
    ) -> AsyncIterator[Chunk]:
        says = self.script[min(len(self.asked_s), len(self.script) - 1)]
        self.asked_s.append(round(anyio.current_time(), 6))
        try:
            await wait_s(says.after_s)
            if says.text:
                yield TextDelta(0, says.text)
            match says.end:
                case "stop":
                    yield UsageReport(TokenUsage(1, 2))
                    yield Finish(STOP)
                case "hang":
                    await anyio.Event().wait()
                case "no-finish":
                    pass
                case Exception() as error:
                    raise error
                case LlmFailure() as failed:
                    kind = "aborted" if failed.code == codes.ABORTED else "error"
                    yield Finish(FinishReason(kind, failed))
        finally:
            self.closed_s.append(round(anyio.current_time(), 6))


async def wait_s(seconds: float) -> None:
    """Let virtual time pass without a sleep of a library."""
    if seconds:
        from adapter_sdk.retry._pause import pause

        await pause(round(seconds * 1000))


def new_client(recovery: Any = RECOVERY, **options: Any) -> LlmClient:
    numbers = itertools.count()
    return LlmClient(recovery=recovery, new_id=lambda: f"r{next(numbers)}", **options)


@dataclass
class Seen:
    """Events with their virtual times, in seconds."""

    events: list[LifecycleEvent] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        return [word(event) for event in self.events]

    @property
    def outcome(self) -> LifecycleEvent:
        return self.events[-1]


def word(event: LifecycleEvent) -> str:
    match event:
        case ResponseStart():
            return f"start {event.response_id} {event.route_id}"
        case AssistantChunk(chunk=TextDelta(text=text)):
            return f"text {event.response_id} {text}"
        case AssistantChunk():
            return event.chunk.type
        case ResponseInterrupted():
            wait = f" {event.scheduled_retry_ms} {event.delay_source}"
            waits = event.scheduled_retry_ms is not None
            return f"interrupted {event.response_id} {event.failure.code}" + wait * waits
        case ResponseFailed():
            return f"failed {event.response_id} {event.failure.code}"
        case ResponseCommitted():
            return f"committed {event.response_id} {event.message.text}"


async def watch(
    client: LlmClient,
    request: LlmRequest = REQUEST,
    *,
    abort: AbortSignal | None = None,
    on_event: Callable[[LifecycleEvent], Awaitable[None]] | None = None,
) -> Seen:
    seen = Seen()
    async with client.stream(request, abort=abort) as events:
        async for event in events:
            seen.events.append(event)
            seen.times.append(round(anyio.current_time(), 6))
            if on_event is not None:
                await on_event(event)
    return seen


def run(backend: Backend, function: Callable[[], Any]) -> Any:
    return run_virtual(backend, function)
