"""Three broken adapters: each a good one with one promise not kept."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Any, Self

from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    BaseAdapter,
    Chunk,
    ChunkStream,
    Finish,
    LlmFailure,
    LlmRequest,
    codes,
)
from adapter_sdk.dialects import OpenAIChat


class Good(BaseAdapter):
    """Keeps every promise; the others differ from it in one."""

    dialect = OpenAIChat(terminal="done-sentinel", reasoning_efforts=("low", "high"))
    default_base_url = "https://api.good.invalid/v1"
    api_key_env = "GOOD_API_KEY"
    request_id_headers = ("x-request-id", "x-trace-id")


class Retrying(Good):
    """Makes a failed call once more behind its caller's back."""

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return _Twice(super().stream(request, abort), lambda: super(Retrying, self).stream(request))


class _Twice:
    """A stream that begins again where the first one failed before any content."""

    def __init__(self, first: ChunkStream, again: Any) -> None:
        self.source, self.again = first, again
        self.current: AsyncIterator[Chunk] = self._chunks()

    async def _chunks(self) -> AsyncIterator[Chunk]:
        chunk = await anext(self.source)
        if isinstance(chunk, Finish) and chunk.failure is not None and chunk.failure.status:
            self.source = self.again()
            chunk = await anext(self.source)
        yield chunk
        async for following in self.source:
            yield following

    def __aiter__(self) -> AsyncIterator[Chunk]:
        return self.current

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.source.aclose()


class AuthAsInvalidRequest(Good):
    """Reports a refused key as a refused request."""

    @override
    def refine_failure(self, failure: LlmFailure, payload: object) -> LlmFailure:
        if failure.code != codes.AUTH:
            return failure
        return dataclasses.replace(failure, code=codes.INVALID_REQUEST)


class TruncationAccepted(Good):
    """Takes a clean end without terminal evidence for a whole answer."""

    @override
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return _Credulous(super().stream(request, abort))


class _Credulous(_Twice):
    def __init__(self, first: ChunkStream) -> None:
        super().__init__(first, None)

    @override
    async def _chunks(self) -> AsyncIterator[Chunk]:
        async for chunk in self.source:
            failure = chunk.failure if isinstance(chunk, Finish) else None
            if failure is not None and failure.code == codes.STREAM_CLOSED:
                yield Finish(STOP)
                return
            yield chunk
