"""Null adapters: they do nothing useful, and the kit must see that nearly everywhere.

The measure is the share of MUST checks that do not pass, of those that apply.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, ClassVar, Final, Self

import anyio
from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    BlockEnd,
    BlockStart,
    Chunk,
    Declaration,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    TextBlock,
    TextDelta,
    codes,
)

from .._result import Result, Status
from ._good import Good

# kit.md and the requirement itself: what a null adapter may not fall below.
LEAST_SHARE: Final = 0.8


class _Null:
    """Takes what an adapter takes, and uses none of it."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    @staticmethod
    def declaration() -> Declaration:
        """Return what the good twin promises."""
        return Good.declaration()

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        """Return a stream of ``chunks``."""
        return _Stream(self.chunks(request))

    async def chunks(self, request: LlmRequest) -> AsyncGenerator[Chunk, None]:
        """Yield what the call brings."""
        yield Finish(STOP)

    async def aclose(self) -> None:
        """Close nothing."""


class _Stream:
    def __init__(self, source: AsyncGenerator[Chunk, None]) -> None:
        self.source = source

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        return await anext(self.source)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self.source.aclose()


class AlwaysSuccess(_Null):
    """Says hello, whatever it is asked."""

    @override
    async def chunks(self, request: LlmRequest) -> AsyncGenerator[Chunk, None]:
        yield BlockStart(0, "text")
        yield TextDelta(0, "Hello")
        yield BlockEnd(0, TextBlock("Hello"))
        yield Finish(STOP)


class AlwaysUnknown(_Null):
    """Fails, whatever it is asked."""

    @override
    async def chunks(self, request: LlmRequest) -> AsyncGenerator[Chunk, None]:
        failure = LlmFailure(message="something went wrong", code=codes.UNKNOWN)
        yield Finish(FinishReason("error", failure))


class NeverReturns(_Null):
    """Waits for ever."""

    @override
    async def chunks(self, request: LlmRequest) -> AsyncGenerator[Chunk, None]:
        await anyio.sleep_forever()
        yield Finish(STOP)


class AnswersOfTheLastRun(_Null):
    """Really asks once for each conversation, and then says what it was told then."""

    known: ClassVar[dict[str, list[Chunk]]] = {}

    @override
    async def chunks(self, request: LlmRequest) -> AsyncGenerator[Chunk, None]:
        key = repr(request)
        if key not in self.known:
            good = Good(**self.options)
            try:
                self.known[key] = [chunk async for chunk in good.stream(request)]
            finally:
                await good.aclose()
        for chunk in self.known[key]:
            yield chunk


# A call that never ends costs a wall-clock wait in every check over a socket, so the one
# that never returns is judged in process alone, where time is virtual.
NULLS: Final[dict[str, Callable[..., Any]]] = {
    "always-success": AlwaysSuccess,
    "always-unknown": AlwaysUnknown,
    "never-returns": NeverReturns,
    "answers-of-the-last-run": AnswersOfTheLastRun,
}


def share_that_fails(results: Iterable[Result]) -> tuple[int, int]:
    """Return how many MUST checks do not pass, and how many there are that apply."""
    musts = [
        r for r in results if r.check.requirement.level == "must" and r.status is not Status.NA
    ]
    return sum(r.status is not Status.PASS for r in musts), len(musts)
