"""Middleware of the runtime: its order, what it may change, and whose its errors are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from adapter_sdk import Chunk, Finish, LlmRequest, LlmRuntime, Middleware, TextDelta
from adapter_sdk._runtime import Next

from .foreign_adapter import GOOD, HI, REQUEST, Foreign, chunks_of, failed, runtime_with
from .noting_middleware import named

pytestmark = pytest.mark.anyio


async def test_middleware_goes_from_the_outside_in() -> None:
    seen: list[str] = []
    runtime = runtime_with(Foreign(tuple(GOOD)), named("outer", seen), named("inner", seen))
    assert await chunks_of(runtime.stream("example", REQUEST)) == GOOD
    assert seen == ["outer in", "inner in", "inner out", "outer out"]


async def test_middleware_may_change_the_request_and_the_chunks_and_sees_normal_ones() -> None:
    asked = LlmRequest(model="other", messages=REQUEST.messages)

    async def shout(request: LlmRequest, call_next: Next) -> AsyncIterator[Chunk]:
        async for chunk in call_next(asked):
            yield TextDelta(0, chunk.text.upper()) if isinstance(chunk, TextDelta) else chunk

    adapter = Foreign((*HI, ValueError("x")))
    expected = [HI[0], TextDelta(0, "HI"), failed("UNKNOWN", "ValueError: x")]
    assert await chunks_of(runtime_with(adapter, shout).stream("example", REQUEST)) == expected
    assert adapter.calls == [(asked, None)]


def raises_at_once(request: LlmRequest, call_next: Next) -> AsyncIterator[Chunk]:
    raise LookupError("of the middleware")


async def raises_before(request: LlmRequest, call_next: Next) -> AsyncIterator[Chunk]:
    raise LookupError("of the middleware")
    yield HI[0]


async def raises_in_between(request: LlmRequest, call_next: Next) -> AsyncIterator[Chunk]:
    async for chunk in call_next(request):
        yield chunk
        raise LookupError("of the middleware")


@pytest.mark.parametrize("layer", [raises_at_once, raises_before, raises_in_between])
async def test_an_error_of_middleware_stays_an_exception(layer: Middleware) -> None:
    adapter = Foreign(tuple(GOOD))
    with pytest.raises(LookupError, match="of the middleware"):
        await chunks_of(runtime_with(adapter, layer).stream("example", REQUEST))
    assert adapter.closed == len(adapter.calls)


async def test_middleware_is_not_asked_for_a_call_that_cannot_be_made() -> None:
    seen: list[str] = []
    runtime = LlmRuntime(middleware=[named("layer", seen)])
    (finish,) = await chunks_of(runtime.stream("x", REQUEST))
    assert isinstance(finish, Finish)
    assert seen == []
