"""An adapter of somebody else's, a runtime around it, and the chunks that it gives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import dataclass, field

from adapter_sdk import (
    STOP,
    AbortSignal,
    Adapter,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    LlmRuntime,
    Middleware,
    TextDelta,
    user,
)

REQUEST = LlmRequest(model="m", messages=(user("hi"),))
HI: list[Chunk] = [BlockStart(0, "text"), TextDelta(0, "Hi")]
GOOD: list[Chunk] = [*HI, Finish(STOP)]


def failed(code: str, message: str) -> Finish:
    return Finish(FinishReason("error", LlmFailure(message=message, code=code)))


@dataclass
class Foreign:
    """An adapter of somebody else's: plays its steps, raises what is an exception."""

    steps: tuple[Chunk | BaseException, ...] = ()
    at_dispatch: BaseException | None = None
    at_close: BaseException | None = None
    calls: list[tuple[LlmRequest, AbortSignal | None]] = field(default_factory=list)
    closed: int = 0

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> AsyncIterable[Chunk]:
        self.calls.append((request, abort))
        if self.at_dispatch is not None:
            raise self.at_dispatch
        return self._play()

    async def _play(self) -> AsyncGenerator[Chunk, None]:
        try:
            for step in self.steps:
                if isinstance(step, BaseException):
                    raise step
                yield step
        finally:
            self.closed += 1
            if self.at_close is not None:
                raise self.at_close


def runtime_with(adapter: Adapter, *middleware: Middleware) -> LlmRuntime:
    runtime = LlmRuntime(middleware=middleware)
    runtime.register("example", adapter)
    return runtime


async def chunks_of(stream: AsyncIterable[Chunk]) -> list[Chunk]:
    return [chunk async for chunk in stream]
