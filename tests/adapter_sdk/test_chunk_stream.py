"""The stream of one call: when it sends, who may read it, how it is left, what it leaks."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any, Literal

import anyio
import anyio.lowlevel
import httpx
import httpx2
import pytest
import trio
from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    BaseAdapter,
    BlockEnd,
    BlockStart,
    Chunk,
    ChunkStream,
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    TextBlock,
    TextDelta,
    TokenUsage,
    UsageReport,
    WireRequest,
    user,
)
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.dialects.openai_chat import ChatTranslator
from adapter_sdk.testing import Exchange, Pause, Scripted, Send, run_virtual, scripted_client

Backend = Literal["asyncio", "trio"]

lanes = pytest.mark.parametrize(
    ("backend", "library"),
    [
        pytest.param(backend, library, id=f"{backend}-{library.__name__}")
        for backend in ("asyncio", "trio")
        for library in (httpx, httpx2)
    ],
)
both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])

REQUEST = LlmRequest(model="m", messages=(user("hi"),))
HEADERS = (("content-type", "text/event-stream"), ("x-request-id", "req_1"))
HI = Send(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
STOPPED = Send(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')
USAGE = Send(b'data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1}}\n\n')
DONE = Send(b"data: [DONE]\n\n")
GOOD = Exchange(200, HEADERS, steps=(HI, STOPPED, USAGE, DONE))
HELD = Exchange(200, HEADERS, steps=(HI,), ending="hold")

OPEN: list[Chunk] = [BlockStart(0, "text"), TextDelta(0, "Hi")]
GOOD_CHUNKS: list[Chunk] = [
    *OPEN,
    BlockEnd(0, TextBlock("Hi")),
    UsageReport(TokenUsage(4, 1)),
    Finish(STOP),
]


class Example(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel")
    default_base_url = "http://api.example/v1"


def play(
    backend: Backend,
    library: ModuleType,
    exchanges: Sequence[Exchange],
    test: Callable[[Example, Scripted], Awaitable[Any]],
) -> Any:
    """Run ``test`` under virtual time; afterwards nothing is open, whatever it did."""

    async def main() -> Any:
        scripted = scripted_client(exchanges, library=library)
        adapter = Example(http_client=scripted.client, api_key="sk-1", idle_timeout=10.0)
        try:
            return await test(adapter, scripted)
        finally:
            gc.collect()
            await settle()
            await scripted.client.aclose()
            assert scripted.open_responses == 0

    return run_virtual(backend, main)


async def settle() -> None:
    """Let every other task go as far as it can without time."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


async def until(when: float) -> None:
    with anyio.move_on_after(when - anyio.current_time()):
        await anyio.Event().wait()


@lanes
def test_a_call_sends_one_request_once_it_is_read_and_ends_with_its_finish(
    backend: Backend, library: ModuleType
) -> None:
    async def test(adapter: Example, scripted: Scripted) -> None:
        stream = adapter.stream(REQUEST)
        await settle()
        assert scripted.requests == []
        assert [chunk async for chunk in stream] == GOOD_CHUNKS
        assert (len(scripted.requests), scripted.open_responses) == (1, 0)
        for _ in range(2):
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        assert len(scripted.requests) == 1

    play(backend, library, [GOOD], test)


@both_backends
def test_a_stream_that_is_never_read_sends_nothing(backend: Backend) -> None:
    async def test(adapter: Example, scripted: Scripted) -> None:
        adapter.stream(REQUEST)
        left = adapter.stream(REQUEST)
        await left.aclose()
        await settle()
        with pytest.raises(StopAsyncIteration):
            await anext(left)
        assert scripted.requests == []

    play(backend, httpx, [GOOD], test)


@both_backends
def test_the_marker_ends_the_call_although_the_connection_stays_open(backend: Backend) -> None:
    held = Exchange(200, HEADERS, steps=(HI, STOPPED, USAGE, DONE), ending="hold")

    async def test(adapter: Example, scripted: Scripted) -> None:
        assert [chunk async for chunk in adapter.stream(REQUEST)] == GOOD_CHUNKS
        assert (anyio.current_time(), scripted.open_responses) == (0.0, 0)

    play(backend, httpx, [held], test)


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


class Noting(Example):
    """Notes when its client is made and when a call's request is."""

    def __init__(self, scripted: Scripted, notes: list[str]) -> None:
        super().__init__(http_client=scripted.client, api_key="sk-1")
        self.notes = notes

    @override
    def open(self) -> None:
        self.notes.append("open")
        super().open()

    @override
    async def wire_request(self, request: LlmRequest) -> WireRequest:
        self.notes.append("request")
        return await super().wire_request(request)


@both_backends
def test_the_client_is_made_before_any_limit_of_the_call_runs(backend: Backend) -> None:
    async def test(adapter: Example, scripted: Scripted) -> list[str]:
        notes: list[str] = []
        stream = Noting(scripted, notes).stream(REQUEST)
        assert notes == []
        assert [chunk async for chunk in stream] == GOOD_CHUNKS
        return notes

    assert play(backend, httpx, [GOOD], test)[:2] == ["open", "request"]


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
            except BaseException as error:
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


# ---- several at once ---------------------------------------------------------------------


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


# ---- bugs of an author -------------------------------------------------------------------


@both_backends
@pytest.mark.parametrize("method", ["event", "close"])
def test_a_bug_of_the_dialect_is_a_failure_with_the_facts_of_the_call(
    backend: Backend, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> list[Chunk]:
        raise KeyError("choices")

    monkeypatch.setattr(ChatTranslator, method, broken)
    exchange = Exchange(200, HEADERS, steps=(HI,) if method == "event" else (Send(b": c\n\n"),))

    async def test(adapter: Example, scripted: Scripted) -> list[Chunk]:
        return [chunk async for chunk in adapter.stream(REQUEST)]

    (finish,) = play(backend, httpx, [exchange], test)
    assert finish.failure.to_json() == {
        "message": "KeyError: 'choices'",
        "code": "UNKNOWN",
        "status": 200,
        "requestId": "req_1",
    }
    assert finish.reason == FinishReason("error", finish.failure)
