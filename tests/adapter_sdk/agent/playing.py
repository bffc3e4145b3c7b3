"""An adapter that plays chunks, and what a loop needs around it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import anyio

from adapter_sdk import (
    STOP,
    TOOL_CALLS,
    AbortSignal,
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    LlmRuntime,
    Message,
    Middleware,
    TextBlock,
    TextDelta,
    ToolCallBlock,
)
from adapter_sdk.agent import RequestErrorChain, StepLoop
from adapter_sdk.session import Event, SessionLog

REQUEST: Final = LlmRequest(model="m", messages=())
BUSY: Final = LlmFailure(message="busy", code="SERVER", status=503)
FULL: Final = LlmFailure(message="too long", code="CONTEXT_WINDOW_EXCEEDED", status=400)

Play: TypeAlias = Sequence[Chunk | BaseException | Callable[[], Any]]
"""Chunks to yield, exceptions to raise, functions to call and, where they return one, await."""


def says(text: str) -> list[Chunk]:
    return [BlockStart(0, "text"), TextDelta(0, text), BlockEnd(0, TextBlock(text)), Finish(STOP)]


def half(text: str) -> list[Chunk]:
    return [BlockStart(0, "text"), TextDelta(0, text)]


def fails(failure: LlmFailure, *before: Chunk) -> list[Chunk]:
    return [*before, Finish(FinishReason("error", failure))]


def calls(*blocks: ToolCallBlock) -> list[Chunk]:
    chunks: list[Chunk] = []
    for index, block in enumerate(blocks):
        chunks += [BlockStart(index, "tool-call"), BlockEnd(index, block)]
    return [*chunks, Finish(TOOL_CALLS)]


@dataclass
class Player:
    """Plays the n-th script for the n-th request, and notes what it was asked."""

    scripts: Sequence[Play]
    requests: list[LlmRequest] = field(default_factory=list)
    closed: int = 0

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> AsyncIterable[Chunk]:
        self.requests.append(request)
        return self._play(self.scripts[len(self.requests) - 1])

    async def _play(self, script: Play) -> AsyncGenerator[Chunk, None]:
        try:
            for step in script:
                if isinstance(step, BaseException):
                    raise step
                if callable(step):
                    awaited = step()
                    if awaited is not None:
                        await awaited
                else:
                    yield step
        finally:
            self.closed += 1

    @property
    def asked(self) -> list[tuple[Message, ...]]:
        """The messages of each request."""
        return [request.messages for request in self.requests]


def loop_over(
    log: SessionLog,
    player: Player,
    *listeners: Any,
    middleware: Sequence[Middleware] = (),
    request: LlmRequest = REQUEST,
    **options: Any,
) -> StepLoop:
    runtime = LlmRuntime(middleware=middleware)
    runtime.register("example", player)
    chain = RequestErrorChain()
    for listener in listeners:
        chain.register(listener)
    return StepLoop(
        log, runtime, provider="example", request=request, request_error=chain, **options
    )


def types_of(events: Sequence[Event]) -> list[str]:
    return [event.type for event in events]


async def for_ever() -> None:
    await anyio.Event().wait()
