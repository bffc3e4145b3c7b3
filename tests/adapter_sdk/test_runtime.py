"""The normalising boundary: whatever an adapter does, its caller sees chunks and one finish."""

from __future__ import annotations

import gc
import json
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import anyio
import httpx
import pytest
from typing_extensions import override

from adapter_sdk import (
    STOP,
    AbortSignal,
    Adapter,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    LlmError,
    LlmFailure,
    LlmRequest,
    LlmRuntime,
    Middleware,
    PreparedCall,
    TextDelta,
    user,
)
from adapter_sdk._runtime import Next

pytestmark = pytest.mark.anyio

REQUEST = LlmRequest(model="m", messages=(user("hi"),))
HI: list[Chunk] = [BlockStart(0, "text"), TextDelta(0, "Hi")]
GOOD: list[Chunk] = [*HI, Finish(STOP)]
FAILURE = LlmFailure(message="busy", code="SERVER", status=503)
ABORT = LlmFailure(message="stop", code="ABORTED")


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


# ---- registry ----------------------------------------------------------------------------


class NoStream:
    stream = "a word"


@pytest.mark.parametrize(
    ("name", "adapter", "code", "message"),
    [
        pytest.param(
            "",
            Foreign(),
            "INVALID_ADAPTER",
            "an adapter needs a name that is not blank",
            id="empty",
        ),
        pytest.param(
            " \t",
            Foreign(),
            "INVALID_ADAPTER",
            "an adapter needs a name that is not blank",
            id="blank",
        ),
        pytest.param(
            5,
            Foreign(),
            "INVALID_ADAPTER",
            "an adapter needs a name that is not blank",
            id="number",
        ),
        pytest.param(
            "b", object(), "INVALID_ADAPTER", "b: object has no stream method", id="no-stream"
        ),
        pytest.param(
            "b", NoStream(), "INVALID_ADAPTER", "b: NoStream has no stream method", id="no-method"
        ),
        pytest.param(
            "taken",
            Foreign(),
            "DUPLICATE_ADAPTER",
            "taken: an adapter has this name; dispose of it first",
            id="taken",
        ),
    ],
)
async def test_what_cannot_be_registered_is_refused(
    name: Any, adapter: Any, code: str, message: str
) -> None:
    runtime = LlmRuntime()
    first = Foreign(tuple(GOOD))
    runtime.register("taken", first)
    with pytest.raises(LlmError) as caught:
        runtime.register(name, adapter)
    assert caught.value.failure == LlmFailure(message=message, code=code)
    assert await chunks_of(runtime.stream("taken", REQUEST)) == GOOD
    assert len(first.calls) == 1


async def test_a_name_is_free_again_after_dispose() -> None:
    runtime = LlmRuntime()
    first = runtime.register("example", Foreign())
    first.dispose()
    second = runtime.register("example", Foreign(tuple(GOOD)))
    first.dispose()  # takes nothing away from the second
    assert (first.disposed, second.disposed, second.provider) == (True, False, "example")
    assert await chunks_of(runtime.stream("example", REQUEST)) == GOOD


async def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    runtime = LlmRuntime()
    none = "no adapter is called 'x'; there are: none"
    assert await chunks_of(runtime.stream("x", REQUEST)) == [failed("NO_ADAPTER", none)]
    runtime.register("b", Foreign())
    runtime.register("a", Foreign())
    known = "no adapter is called 'x'; there are: a, b"
    assert await chunks_of(runtime.stream("x", REQUEST)) == [failed("NO_ADAPTER", known)]
    with pytest.raises(LlmError) as caught:
        runtime.prepare("x", REQUEST)
    assert caught.value.failure == LlmFailure(message=known, code="NO_ADAPTER")


async def test_a_prepared_call_keeps_its_adapter_and_its_request() -> None:
    adapter = Foreign(tuple(GOOD))
    runtime = runtime_with(adapter)
    call = runtime.prepare("example", REQUEST)
    assert adapter.calls == []
    signal = AbortSignal()
    assert await chunks_of(runtime.stream(call, abort=signal)) == GOOD
    assert adapter.calls == [(REQUEST, signal)]
    assert repr(call) == f"PreparedCall(request={REQUEST!r})"


MISUSE = "a call is what this runtime's prepare returned, alone"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(
            lambda runtime: ("example",),
            "INVALID_PREPARED_CALL",
            "example: a name needs a request beside it",
            id="a-name-alone",
        ),
        pytest.param(lambda runtime: (None, REQUEST), "INVALID_PREPARED_CALL", MISUSE, id="none"),
        pytest.param(lambda runtime: (REQUEST,), "INVALID_PREPARED_CALL", MISUSE, id="a-request"),
        pytest.param(
            lambda runtime: (runtime.prepare("example", REQUEST), REQUEST),
            "INVALID_PREPARED_CALL",
            MISUSE,
            id="a-call-and-a-request",
        ),
        pytest.param(
            lambda runtime: (runtime_with(Foreign()).prepare("example", REQUEST),),
            "INVALID_PREPARED_CALL",
            MISUSE,
            id="a-call-of-another-runtime",
        ),
    ],
)
async def test_a_call_that_was_not_prepared_here_is_refused(
    arguments: Callable[[LlmRuntime], Any], code: str, message: str
) -> None:
    adapter = Foreign(tuple(GOOD))
    runtime = runtime_with(adapter)
    assert await chunks_of(runtime.stream(*arguments(runtime))) == [failed(code, message)]
    assert adapter.calls == []


async def test_a_call_whose_adapter_was_taken_out_is_refused_and_one_in_flight_goes_on() -> None:
    adapter = Foreign(tuple(GOOD))
    runtime = LlmRuntime()
    registration = runtime.register("example", adapter)
    call: PreparedCall = runtime.prepare("example", REQUEST)
    running = runtime.stream("example", REQUEST)
    begun = await anext(running)
    registration.dispose()
    assert [begun, *await chunks_of(running)] == GOOD
    assert await chunks_of(runtime.stream(call)) == [
        failed("REGISTRATION_DISPOSED", "example: the adapter was taken out after prepare")
    ]
    assert len(adapter.calls) == 1


async def test_a_prepared_call_never_goes_to_the_successor_of_its_adapter() -> None:
    successor = Foreign(tuple(GOOD))
    runtime = LlmRuntime()
    registration = runtime.register("example", Foreign(tuple(GOOD)))
    call = runtime.prepare("example", REQUEST)
    registration.dispose()
    runtime.register("example", successor)
    assert await chunks_of(runtime.stream(call)) == [
        failed("REGISTRATION_DISPOSED", "example: the adapter was taken out after prepare")
    ]
    assert successor.calls == []


# ---- adapters that misbehave -------------------------------------------------------------


class NoIterator:
    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> Any:
        return [Finish(STOP)]


class NothingToClose:
    """Its stream is an iterator and no more: without ``aclose``."""

    def stream(self, request: LlmRequest, abort: AbortSignal | None = None) -> AsyncIterable[Chunk]:
        return Bare(iter(GOOD))


class Bare:
    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self.chunks = chunks

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        for chunk in self.chunks:
            return chunk
        raise StopAsyncIteration


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [
        pytest.param(Foreign(tuple(GOOD)), GOOD, id="good"),
        pytest.param(NothingToClose(), GOOD, id="has-nothing-to-close"),
        pytest.param(
            Foreign((*HI, Finish(FinishReason("error", FAILURE)))),
            [*HI, Finish(FinishReason("error", FAILURE))],
            id="reports-a-failure",
        ),
        pytest.param(
            Foreign((*GOOD, TextDelta(0, "late"), Finish(STOP))),
            GOOD,
            id="goes-on-after-its-finish",
        ),
        pytest.param(Foreign((*GOOD, ValueError("late"))), GOOD, id="raises-after-its-finish"),
        pytest.param(
            Foreign(tuple(HI)),
            [*HI, failed("STREAM_CLOSED", "the adapter's stream ended without a finish")],
            id="ends-without-a-finish",
        ),
        pytest.param(
            Foreign(),
            [failed("STREAM_CLOSED", "the adapter's stream ended without a finish")],
            id="yields-nothing",
        ),
        pytest.param(
            Foreign(at_dispatch=KeyError("k")),
            [failed("UNKNOWN", "KeyError: 'k'")],
            id="raises-at-dispatch",
        ),
        pytest.param(
            Foreign(at_dispatch=LlmError(FAILURE)),
            [Finish(FinishReason("error", FAILURE))],
            id="raises-its-failure-at-dispatch",
        ),
        pytest.param(
            Foreign((*HI, LlmError(FAILURE))),
            [*HI, Finish(FinishReason("error", FAILURE))],
            id="raises-its-failure-in-between",
        ),
        pytest.param(
            Foreign((*HI, LlmError(ABORT))),
            [*HI, Finish(FinishReason("aborted", ABORT))],
            id="raises-an-abort",
        ),
        pytest.param(
            Foreign((*HI, ValueError("two\nlines\x00"))),
            [*HI, failed("UNKNOWN", "ValueError: two lines")],
            id="raises-what-nobody-knows",
        ),
        pytest.param(
            Foreign((*HI, httpx.ReadTimeout("slow"))),
            [*HI, failed("TIMEOUT", "the client's own read limit fired (ReadTimeout: slow)")],
            id="leaks-a-timeout-of-its-client",
        ),
        pytest.param(
            Foreign((ConnectionResetError(),)),
            [failed("TRANSPORT", "ConnectionResetError")],
            id="leaks-a-reset",
        ),
        pytest.param(
            Foreign((ExceptionGroup("g", [httpx.ConnectError("refused")]),)),
            [failed("TRANSPORT", "no connection to the provider (ConnectError: refused)")],
            id="leaks-a-group",
        ),
        pytest.param(
            NoIterator(),
            [failed("UNKNOWN", "TypeError: 'list' object is not an async iterable")],
            id="returns-no-stream",
        ),
    ],
)
async def test_what_an_adapter_does_becomes_chunks_and_one_finish(
    adapter: Any, expected: list[Chunk]
) -> None:
    assert await chunks_of(runtime_with(adapter).stream("example", REQUEST)) == expected
    for chunk in expected:
        if isinstance(chunk, Finish) and chunk.failure is not None:
            stored = json.loads(json.dumps(chunk.failure.to_json()))
            assert LlmFailure.from_json(stored) == chunk.failure


class Unusual(BaseException):
    pass


@pytest.mark.parametrize(
    ("steps", "closed"),
    [
        pytest.param(tuple(GOOD), 1, id="good"),
        pytest.param((*HI, ValueError("x")), 1, id="raises"),
        pytest.param((), 1, id="yields-nothing"),
    ],
)
async def test_the_adapters_stream_is_closed_at_the_end(
    steps: tuple[Chunk | BaseException, ...], closed: int
) -> None:
    adapter = Foreign(steps)
    await chunks_of(runtime_with(adapter).stream("example", REQUEST))
    assert adapter.closed == closed


@pytest.mark.parametrize("error", [Unusual("x"), KeyboardInterrupt()])
@pytest.mark.parametrize("when", ["dispatch", "iteration"])
async def test_a_base_exception_stays_what_it_is(error: BaseException, when: str) -> None:
    adapter = Foreign(at_dispatch=error) if when == "dispatch" else Foreign((*HI, error))
    with pytest.raises(type(error)) as caught:
        await chunks_of(runtime_with(adapter).stream("example", REQUEST))
    assert caught.value is error


async def test_an_error_of_cleaning_up_stays_an_exception() -> None:
    adapter = Foreign(tuple(GOOD), at_close=OSError("closing"))
    stream = runtime_with(adapter).stream("example", REQUEST)
    seen = [await anext(stream) for _ in GOOD]
    with pytest.raises(OSError, match="closing"):
        await anext(stream)
    assert seen == GOOD


async def test_cancellation_passes_through_and_closes_the_adapters_stream() -> None:
    class Silent(Foreign):
        @override
        async def _play(self) -> AsyncGenerator[Chunk, None]:
            try:
                await anyio.Event().wait()
                yield HI[0]
            finally:
                self.closed += 1

    adapter = Silent()
    with anyio.CancelScope() as scope:
        scope.deadline = anyio.current_time() + 0.01
        await chunks_of(runtime_with(adapter).stream("example", REQUEST))
    assert (scope.cancelled_caught, adapter.closed) == (True, 1)


# ---- middleware --------------------------------------------------------------------------


def named(name: str, seen: list[str]) -> Middleware:
    async def layer(request: LlmRequest, call_next: Next) -> AsyncIterator[Chunk]:
        seen.append(f"{name} in")
        try:
            async for chunk in call_next(request):
                yield chunk
        finally:
            seen.append(f"{name} out")

    return layer


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


# ---- leaving early -----------------------------------------------------------------------


@pytest.fixture
def no_generator_is_left_to_the_collector() -> Iterator[None]:
    """Trio warns of async generators that were not closed; here, where it is an error."""
    yield
    gc.collect()


@pytest.mark.parametrize("layers", [0, 1, 2])
@pytest.mark.usefixtures("no_generator_is_left_to_the_collector")
async def test_leaving_early_closes_everything_underneath(layers: int) -> None:
    seen: list[str] = []
    adapter = Foreign(tuple(GOOD))
    runtime = runtime_with(adapter, *(named(f"layer {n}", seen) for n in range(layers)))
    async with runtime.stream("example", REQUEST) as stream:
        assert await anext(stream) == HI[0]
    assert adapter.closed == 1
    assert len(seen) == 2 * layers
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    await stream.aclose()


async def test_an_error_of_the_consumer_is_its_own_and_closes_the_call() -> None:
    adapter = Foreign(tuple(GOOD))
    with pytest.raises(ZeroDivisionError):  # noqa: PT012 - why: the block is what is tested
        async with runtime_with(adapter).stream("example", REQUEST) as stream:
            await anext(stream)
            raise ZeroDivisionError
    assert adapter.closed == 1
