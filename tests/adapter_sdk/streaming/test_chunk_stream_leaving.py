"""The stream of one call is left early or cancelled: what its reader sees, and what is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import ModuleType

import anyio
import anyio.lowlevel
import httpx
import pytest
import trio
from typing_extensions import override

from adapter_sdk import Chunk, ChunkStream
from adapter_sdk.testing import Exchange, Scripted, run_virtual

from .chat_answer import GOOD, GOOD_CHUNKS, HELD, OPEN, REQUEST, Example
from .lanes import Backend, both_backends, lanes
from .scripted_play import play
from .waiting import settle, until

# ---- leaving -----------------------------------------------------------------------------


async def leave_by_break(stream: ChunkStream) -> None:
    async for _ in stream:
        break


async def leave_by_aclose(stream: ChunkStream) -> None:
    await anext(stream)
    await stream.aclose()
    await stream.aclose()


async def leave_a_block(stream: ChunkStream) -> None:
    async with stream as same:
        assert same is stream
        await anext(stream)


async def leave_a_block_by_an_error(stream: ChunkStream) -> None:
    with suppress(ZeroDivisionError):
        async with stream:
            await anext(stream)
            raise ZeroDivisionError


@lanes
@pytest.mark.parametrize(
    "leave", [leave_by_break, leave_by_aclose, leave_a_block, leave_a_block_by_an_error]
)
def test_leaving_early_reports_nothing_and_closes_the_connection(
    backend: Backend, library: ModuleType, leave: Callable[[ChunkStream], Awaitable[None]]
) -> None:
    async def test(adapter: Example, scripted: Scripted) -> None:
        stream = adapter.stream(REQUEST)
        await leave(stream)
        if leave is leave_by_break:
            del stream  # the last reference: a loop that is left keeps none
            await settle()
        else:
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        assert (scripted.open_responses, anyio.current_time()) == (0, 0.0)

    play(backend, library, [HELD], test)


@both_backends
def test_a_stream_that_is_closed_by_another_task_ends_for_its_reader(backend: Backend) -> None:
    async def test(adapter: Example, scripted: Scripted) -> list[Chunk]:
        stream = adapter.stream(REQUEST)
        seen: list[Chunk] = []

        async def read() -> None:
            seen.extend([chunk async for chunk in stream])

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            await until(1.0)
            await stream.aclose()
        assert (anyio.current_time(), scripted.open_responses) == (1.0, 0)
        return seen

    assert play(backend, httpx, [HELD], test) == OPEN


# ---- cancellation ------------------------------------------------------------------------


@lanes
@pytest.mark.parametrize(
    "exchange",
    [
        pytest.param(Exchange(None, ending="hold-before-headers"), id="before-the-head"),
        pytest.param(HELD, id="in-the-body"),
    ],
)
def test_cancellation_propagates_with_the_connection_closed(
    backend: Backend, library: ModuleType, exchange: Exchange
) -> None:
    async def test(adapter: Example, scripted: Scripted) -> list[object]:
        seen: list[object] = []
        stream = adapter.stream(REQUEST)
        with anyio.CancelScope() as scope:
            scope.deadline = 3.0
            try:
                async for chunk in stream:
                    seen.append(chunk)
            except BaseException as error:  # why: it goes on, the test only notes it
                seen.append((type(error), scripted.open_responses))
                raise
        assert (scope.cancelled_caught, anyio.current_time()) == (True, 3.0)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
        assert [chunk async for chunk in adapter.stream(REQUEST)] == GOOD_CHUNKS
        return seen

    cancelled = asyncio.CancelledError if backend == "asyncio" else trio.Cancelled
    expected = [*(OPEN if exchange is HELD else []), (cancelled, 0)]
    assert play(backend, library, [exchange, GOOD], test) == expected


def test_a_task_that_is_cancelled_twice_a_tick_apart_ends_as_cancelled() -> None:
    async def test(adapter: Example, scripted: Scripted) -> None:
        async def consume() -> None:
            async for _ in adapter.stream(REQUEST):
                pass

        task = asyncio.get_running_loop().create_task(consume())
        await until(1.0)
        task.cancel()
        await anyio.lowlevel.checkpoint()
        task.cancel()
        (result,) = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(result, asyncio.CancelledError)
        await settle()
        assert scripted.open_responses == 0
        assert [chunk async for chunk in adapter.stream(REQUEST)] == GOOD_CHUNKS

    play("asyncio", httpx, [HELD, GOOD], test)


class Unusual(BaseException):
    """What no ``except Exception`` catches."""


@both_backends
@pytest.mark.parametrize("error", [Unusual("x"), KeyboardInterrupt(), SystemExit(3)])
def test_a_base_exception_of_the_transport_arrives_unchanged(
    backend: Backend, error: BaseException
) -> None:
    class Transport(httpx.AsyncBaseTransport):
        @override
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise error

    async def main() -> None:
        async with httpx.AsyncClient(transport=Transport()) as client:
            stream = Example(http_client=client, api_key="k").stream(REQUEST)
            with pytest.raises(type(error)) as caught:
                await anext(stream)
            assert caught.value is error
            with pytest.raises(StopAsyncIteration):
                await anext(stream)

    run_virtual(backend, main)
