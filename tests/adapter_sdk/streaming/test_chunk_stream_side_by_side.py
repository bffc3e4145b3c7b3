"""Several readers, calls and scopes at once: who may wait, and what calls share."""

from __future__ import annotations

from types import ModuleType

import anyio
import httpx
import pytest

from adapter_sdk import AbortSignal, Chunk, Finish, LlmFailure
from adapter_sdk.testing import Exchange, Pause, Scripted

from .chat_answer import (
    DONE,
    GOOD,
    GOOD_CHUNKS,
    HEADERS,
    HI,
    OPEN,
    REQUEST,
    STOPPED,
    USAGE,
    Example,
)
from .lanes import Backend, both_backends, lanes
from .scripted_play import play
from .waiting import settle, until


@both_backends
def test_only_one_task_may_wait_for_the_next_chunk(backend: Backend) -> None:
    slow = Exchange(200, HEADERS, steps=(Pause(2.0), HI, STOPPED, USAGE, DONE))

    async def test(adapter: Example, scripted: Scripted) -> list[Chunk]:
        stream = adapter.stream(REQUEST)
        seen: list[Chunk] = []

        async def read() -> None:
            seen.append(await anext(stream))

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await until(1.0)
            with pytest.raises(RuntimeError) as caught:
                await anext(stream)
        assert str(caught.value) == ("another task is already waiting for this stream's next chunk")
        return seen + [chunk async for chunk in stream]

    assert play(backend, httpx, [slow], test) == GOOD_CHUNKS


@lanes
def test_calls_side_by_side_share_nothing(backend: Backend, library: ModuleType) -> None:
    def slow(name: str) -> Exchange:
        headers = (HEADERS[0], ("x-request-id", name))
        return Exchange(200, headers, steps=(HI, Pause(2.0), STOPPED, USAGE, DONE))

    async def test(adapter: Example, scripted: Scripted) -> dict[str, list[Chunk]]:
        signal = AbortSignal()
        seen: dict[str, list[Chunk]] = {}

        async def read(name: str, abort: AbortSignal | None) -> None:
            seen[name] = [chunk async for chunk in adapter.stream(REQUEST, abort)]

        async with anyio.create_task_group() as group:
            group.start_soon(read, "aborted", signal)
            await settle()
            group.start_soon(read, "going on", None)
            await until(1.0)
            signal.abort("stop")
        return seen

    failure = LlmFailure(message="stop", code="ABORTED", status=200)
    found = play(backend, library, [slow("req_a"), slow("req_b")], test)
    assert found["going on"] == GOOD_CHUNKS
    *chunks, finish = found["aborted"]
    assert chunks == OPEN
    assert finish.failure.request_id == "req_a"
    assert (finish.failure.code, finish.failure.message) == (failure.code, failure.message)


@both_backends
def test_a_call_knows_nothing_of_the_one_before_it(backend: Backend) -> None:
    first = Exchange(429, (("x-request-id", "req_1"), ("retry-after", "9")), body=b"")
    second = Exchange(500, (), body=b"")

    async def test(adapter: Example, scripted: Scripted) -> list[LlmFailure | None]:
        return [
            chunk.failure
            for _ in range(2)
            async for chunk in adapter.stream(REQUEST)
            if isinstance(chunk, Finish)
        ]

    one, two = play(backend, httpx, [first, second], test)
    assert (one.code, one.request_id, one.provider_retry_after_ms) == ("RATE_LIMIT", "req_1", 9000)
    assert (two.code, two.request_id, two.provider_retry_after_ms) == ("SERVER", None, None)


@both_backends
def test_no_cancel_scope_spans_a_chunk(backend: Backend) -> None:
    async def test(adapter: Example, scripted: Scripted) -> list[Chunk]:
        seen: list[Chunk] = []
        one, two = adapter.stream(REQUEST), adapter.stream(REQUEST)
        with anyio.CancelScope():
            seen.append(await anext(one))
        with anyio.CancelScope() as outer:
            seen.append(await anext(two))
            with anyio.CancelScope() as inner:
                seen.append(await anext(one))
                inner.cancel()
            seen.append(await anext(two))
            outer.cancel()
        return seen + [chunk async for chunk in one] + [chunk async for chunk in two]

    expected = [OPEN[0], OPEN[0], OPEN[1], OPEN[1], *GOOD_CHUNKS[2:], *GOOD_CHUNKS[2:]]
    assert play(backend, httpx, [GOOD, GOOD], test) == expected
