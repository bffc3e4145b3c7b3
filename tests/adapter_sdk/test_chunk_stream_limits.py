"""Time and the caller's signal: which of them ends a call, when, and as what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
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
    Finish,
    FinishReason,
    LlmFailure,
    LlmRequest,
    ProviderRequestId,
    TextBlock,
    TextDelta,
    TokenUsage,
    UsageReport,
    user,
)
from adapter_sdk._clock import running_clock
from adapter_sdk.dialects import OpenAIChat
from adapter_sdk.dialects.openai_chat import Terminal
from adapter_sdk.testing import (
    Exchange,
    Pause,
    Repeat,
    Scripted,
    Send,
    Step,
    run_virtual,
    scripted_client,
)

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

IDLE_S, PROGRESS_S = 10.0, 25.0
REQUEST = LlmRequest(model="m", messages=(user("hi"),))
HEADERS = (("content-type", "text/event-stream"), ("x-request-id", "req_1"))
HI = Send(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n')
EMPTY = Send(b'data: {"choices":[{"delta":{}}]}\n\n')
STOPPED = Send(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')
USAGE = Send(b'data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":1}}\n\n')
DONE = Send(b"data: [DONE]\n\n")
COMMENT = Send(b": keep-alive\n\n")
COLON = Send(b":\n\n")
END = (STOPPED, USAGE, DONE)

OPEN: list[Chunk] = [BlockStart(0, "text"), TextDelta(0, "Hi")]
COUNTS = UsageReport(TokenUsage(4, 1))
GOOD_END: list[Chunk] = [BlockEnd(0, TextBlock("Hi")), COUNTS, Finish(STOP)]
GOOD_CHUNKS = OPEN + GOOD_END

IDLE = "no event and no comment for 10 s, the idle limit"
PROGRESS = "no text, reasoning or arguments for 25 s, the progress limit"


class Example(BaseAdapter):
    dialect = OpenAIChat(terminal="done-sentinel")
    default_base_url = "http://api.example/v1"


class Lenient(Example):
    dialect = OpenAIChat(terminal="finish-reason")


def answer(*steps: Step, ending: Literal["eof", "hold", "cut"] = "hold") -> Exchange:
    return Exchange(200, HEADERS, steps=steps, ending=ending)


def ended(code: str, message: str, *, status: int | None = 200) -> Finish:
    failure = LlmFailure(
        message=message,
        code=code,
        status=status,
        request_id=None if status is None else ProviderRequestId("req_1"),
    )
    return Finish(FinishReason("aborted" if code == "ABORTED" else "error", failure))


@dataclass
class Call:
    """One call on a virtual clock, and what its consumer does between two chunks."""

    exchange: Exchange
    backend: Backend = "asyncio"
    library: ModuleType = httpx
    terminal: Terminal = "done-sentinel"
    pauses: dict[int, float] = field(default_factory=dict)
    abort_at: float | None = None
    abort_order: Literal["first", "last", "task"] = "first"
    signal: AbortSignal = field(default_factory=AbortSignal)
    options: dict[str, Any] = field(default_factory=dict)

    def run(self) -> tuple[float, list[Chunk], int]:
        """Return when it ended, its chunks, and how many requests were seen."""
        return run_virtual(self.backend, self._run)

    async def _run(self) -> tuple[float, list[Chunk], int]:
        scripted = scripted_client([self.exchange], library=self.library)
        kind = Lenient if self.terminal == "finish-reason" else Example
        limits = {"idle_timeout": IDLE_S, "progress_timeout": PROGRESS_S, **self.options}
        adapter = kind(http_client=scripted.client, api_key="k", **limits)
        async with anyio.create_task_group() as group:
            self._order_abort(group)
            chunks: list[Chunk] = []
            async for chunk in adapter.stream(REQUEST, self.signal):
                chunks.append(chunk)
                if len(chunks) in self.pauses:
                    await until(anyio.current_time() + self.pauses[len(chunks)])
            at = anyio.current_time()
            assert scripted.open_responses == 0
            group.cancel_scope.cancel()
        await scripted.client.aclose()
        return at, chunks, len(scripted.requests)

    def _order_abort(self, group: Any) -> None:
        at = self.abort_at
        if at is None:
            return
        clock = running_clock()

        def order() -> None:
            clock.call_at(at, lambda: self.signal.abort("stop"))

        async def abort() -> None:
            await until(at)
            self.signal.abort("stop")

        if self.abort_order == "first":
            order()
        elif self.abort_order == "last":
            clock.call_at(at / 2, order)
        else:
            group.start_soon(abort)


async def until(when: float) -> None:
    with anyio.move_on_after(when - anyio.current_time()):
        await anyio.Event().wait()


# ---- the limits --------------------------------------------------------------------------

HELD_BEFORE = Exchange(None, ending="hold-before-headers")


@lanes
@pytest.mark.parametrize(
    ("exchange", "options", "at", "expected"),
    [
        pytest.param(HELD_BEFORE, {}, 10.0, [ended("TIMEOUT", IDLE, status=None)], id="no-head"),
        pytest.param(answer(), {}, 10.0, [ended("TIMEOUT", IDLE)], id="no-event"),
        pytest.param(
            answer(Pause(4.0), HI), {}, 14.0, [*OPEN, ended("TIMEOUT", IDLE)], id="after-text"
        ),
        pytest.param(
            answer(HI, STOPPED, USAGE),
            {},
            10.0,
            [*OPEN, COUNTS, ended("TIMEOUT", IDLE)],
            id="after-the-finish-and-before-its-sentinel",
        ),
        pytest.param(
            answer(*(Pause(8.0), COMMENT) * 3, HI, *END),
            {"progress_timeout": None},
            24.0,
            GOOD_CHUNKS,
            id="comments-re-arm",
        ),
        pytest.param(
            answer(*(Pause(8.0), COLON) * 3, HI, *END),
            {"progress_timeout": None},
            24.0,
            GOOD_CHUNKS,
            id="bare-colons-re-arm",
        ),
        pytest.param(
            answer(*(Pause(8.0), EMPTY) * 3, HI, *END),
            {},
            24.0,
            GOOD_CHUNKS,
            id="events-without-content-re-arm",
        ),
        pytest.param(
            answer(COMMENT, *(Pause(8.0), Send(b"data: {")) * 3),
            {},
            10.0,
            [ended("TIMEOUT", IDLE)],
            id="bytes-of-an-unfinished-event-do-not",
        ),
        pytest.param(
            answer(HI, *(Pause(4.0), EMPTY) * 7, *END),
            {},
            25.0,
            [*OPEN, ended("TIMEOUT", PROGRESS)],
            id="the-progress-limit-comes-before-a-good-end",
        ),
        pytest.param(
            answer(Repeat((COMMENT,), every_seconds=4.0)),
            {},
            25.0,
            [ended("TIMEOUT", PROGRESS)],
            id="comments-are-no-progress",
        ),
        pytest.param(
            answer(HI, Repeat((EMPTY,), every_seconds=4.0)),
            {},
            25.0,
            [*OPEN, ended("TIMEOUT", PROGRESS)],
            id="events-without-content-are-no-progress",
        ),
        pytest.param(
            answer(Repeat((COMMENT,), every_seconds=4.0)),
            {"progress_timeout": None, "idle_timeout": 3.0},
            3.0,
            [ended("TIMEOUT", "no event and no comment for 3 s, the idle limit")],
            id="without-a-progress-limit-idle-is-left",
        ),
        pytest.param(
            answer(*(Pause(8.0), COMMENT) * 125, HI, *END),
            {"progress_timeout": None},
            1000.0,
            GOOD_CHUNKS,
            id="without-a-progress-limit-comments-keep-a-call-alive-past-the-default",
        ),
        pytest.param(
            answer(*(HI, Pause(9.0)) * 6, *END),
            {},
            54.0,
            [
                BlockStart(0, "text"),
                *[TextDelta(0, "Hi")] * 6,
                BlockEnd(0, TextBlock("Hi" * 6)),
                COUNTS,
                Finish(STOP),
            ],
            id="a-slow-healthy-stream-lives",
        ),
        pytest.param(
            HELD_BEFORE,
            {"header_timeout": 2.5},
            2.5,
            [ended("TIMEOUT", "no response within 2.5 s, the header limit", status=None)],
            id="header-limit",
        ),
        pytest.param(
            answer(Pause(9.0), HI, *END),
            {"header_timeout": 2.5},
            9.0,
            GOOD_CHUNKS,
            id="the-header-limit-ends-with-the-head",
        ),
    ],
)
def test_a_limit_ends_the_call_at_its_instant(
    backend: Backend,
    library: ModuleType,
    exchange: Exchange,
    options: dict[str, Any],
    at: float,
    expected: list[Chunk],
) -> None:
    call = Call(exchange, backend, library, options=options)
    assert call.run() == (at, expected, 1)


class SlowHead(httpx.AsyncBaseTransport):
    """Its head comes after 6 s, its first event 8 s later."""

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await until(6.0)

        async def body() -> AsyncIterator[bytes]:
            await until(14.0)
            yield b"".join(step.data for step in (HI, *END))

        return httpx.Response(200, headers=HEADERS, content=body())


@both_backends
def test_the_head_re_arms_the_idle_limit(backend: Backend) -> None:
    async def run() -> tuple[float, list[Chunk]]:
        async with httpx.AsyncClient(transport=SlowHead()) as client:
            adapter = Example(http_client=client, api_key="k", idle_timeout=IDLE_S)
            chunks = [chunk async for chunk in adapter.stream(REQUEST)]
            return anyio.current_time(), chunks

    assert run_virtual(backend, run) == (14.0, GOOD_CHUNKS)


@both_backends
@pytest.mark.parametrize(
    ("exchange", "pauses", "at", "expected"),
    [
        pytest.param(
            answer(HI, Pause(9.0), *END), {1: 500.0}, 500.0, GOOD_CHUNKS, id="at-the-first-chunk"
        ),
        pytest.param(
            answer(HI, Pause(9.0), *END), {2: 500.0}, 500.0, GOOD_CHUNKS, id="between-two-reads"
        ),
        pytest.param(
            answer(HI), {2: 500.0}, 510.0, [*OPEN, ended("TIMEOUT", IDLE)], id="and-then-silence"
        ),
        pytest.param(
            answer(HI, Pause(505.0), *END),
            {2: 500.0},
            505.0,
            GOOD_CHUNKS,
            id="and-an-answer-after-it",
        ),
        pytest.param(
            answer(*(COMMENT, Pause(6.0)) * 4, HI, *END),
            {2: 5000.0},
            5024.0,
            GOOD_CHUNKS,
            id="after-waits-that-had-used-most-of-the-progress-limit",
        ),
    ],
)
def test_the_consumers_pause_never_counts(
    backend: Backend,
    exchange: Exchange,
    pauses: dict[int, float],
    at: float,
    expected: list[Chunk],
) -> None:
    assert Call(exchange, backend, pauses=pauses).run() == (at, expected, 1)


@both_backends
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_an_error_body_that_stalls_costs_neither_code_nor_facts(
    backend: Backend, coding: str
) -> None:
    headers = (*HEADERS, ("retry-after", "7"), ("content-encoding", coding))
    steps = (Send(b'{"error":{"message":"sl'),)
    exchange = Exchange(429, headers, steps=steps, ending="hold")
    at, (finish,), requests = Call(exchange, backend).run()
    assert isinstance(finish, Finish)
    assert finish.failure is not None
    facts = finish.failure.to_json()
    facts.pop("message")
    assert (at, requests, facts) == (
        10.0,
        1,
        {
            "code": "RATE_LIMIT",
            "status": 429,
            "providerRetryAfterMs": 7_000,
            "requestId": "req_1",
        },
    )


@both_backends
def test_an_error_body_that_drips_is_read_for_one_idle_limit_alone(backend: Backend) -> None:
    exchange = Exchange(503, (), steps=(Repeat((Send(b"x"),), every_seconds=1.0),))
    at, (finish,), _ = Call(exchange, backend).run()
    assert isinstance(finish, Finish)
    assert (at, finish.failure and finish.failure.code) == (10.0, "SERVER")


# ---- the evidence that needs no marker ---------------------------------------------------


@both_backends
@pytest.mark.parametrize(
    ("exchange", "idle", "pauses", "at"),
    [
        pytest.param(answer(HI, STOPPED, USAGE), 10.0, {}, 1.0, id="waits-a-second-for-usage"),
        pytest.param(answer(HI, STOPPED, USAGE), 0.5, {}, 0.25, id="or-half-a-shorter-idle-limit"),
        pytest.param(answer(HI, STOPPED, Pause(0.5), USAGE), 10.0, {}, 1.0, id="usage-in-time"),
        pytest.param(answer(HI, STOPPED, USAGE, DONE), 10.0, {}, 0.0, id="the-sentinel-ends-it"),
        pytest.param(
            answer(HI, STOPPED, USAGE, ending="cut"), 10.0, {}, 0.0, id="a-cut-ends-it-well-too"
        ),
        pytest.param(
            answer(HI, STOPPED, Pause(0.5), USAGE, ending="eof"), 10.0, {}, 0.5, id="clean-end"
        ),
        pytest.param(
            Exchange(200, HEADERS, steps=(Send(HI.data + STOPPED.data), Pause(0.1), USAGE, DONE)),
            10.0,
            {2: 60.0},
            60.0,
            id="usage-that-came-while-the-consumer-was-away",
        ),
    ],
)
def test_a_finish_reason_is_enough_where_it_is_declared(
    backend: Backend, exchange: Exchange, idle: float, pauses: dict[int, float], at: float
) -> None:
    call = Call(
        exchange, backend, terminal="finish-reason", pauses=pauses, options={"idle_timeout": idle}
    )
    assert call.run() == (at, GOOD_CHUNKS, 1)


# ---- the caller's signal -----------------------------------------------------------------


@lanes
@pytest.mark.parametrize("order", ["first", "last", "task"])
@pytest.mark.parametrize(
    ("exchange", "abort_at", "at", "expected"),
    [
        pytest.param(
            HELD_BEFORE, 3.0, 3.0, [ended("ABORTED", "stop", status=None)], id="before-the-head"
        ),
        pytest.param(answer(HI), 3.0, 3.0, [*OPEN, ended("ABORTED", "stop")], id="in-the-body"),
        pytest.param(
            answer(HI, STOPPED, USAGE),
            3.0,
            3.0,
            [*OPEN, COUNTS, ended("ABORTED", "stop")],
            id="usage-is-kept",
        ),
        pytest.param(answer(HI), 10.0, 10.0, [*OPEN, ended("ABORTED", "stop")], id="a-tie"),
        pytest.param(
            HELD_BEFORE, 10.0, 10.0, [ended("ABORTED", "stop", status=None)], id="a-tie-early"
        ),
        pytest.param(
            answer(HI), 10.5, 10.0, [*OPEN, ended("TIMEOUT", IDLE)], id="the-limit-was-first"
        ),
        pytest.param(answer(HI, Pause(2.0), *END), 2.5, 2.0, GOOD_CHUNKS, id="after-the-end"),
    ],
)
def test_the_signal_ends_the_call_unless_something_was_first(
    backend: Backend,
    library: ModuleType,
    order: Literal["first", "last", "task"],
    exchange: Exchange,
    abort_at: float,
    at: float,
    expected: list[Chunk],
) -> None:
    call = Call(exchange, backend, library, abort_at=abort_at, abort_order=order)
    assert call.run() == (at, expected, 1)


@lanes
def test_a_signal_that_was_set_before_sends_nothing(backend: Backend, library: ModuleType) -> None:
    signal = AbortSignal()
    signal.abort("too early")
    call = Call(answer(HI, *END), backend, library, signal=signal)
    assert call.run() == (0.0, [ended("ABORTED", "too early", status=None)], 0)


@both_backends
def test_a_signal_between_two_reads_drops_what_had_arrived(backend: Backend) -> None:
    exchange = answer(HI, *END)
    call = Call(exchange, backend, pauses={1: 5.0}, abort_at=2.0)
    assert call.run() == (5.0, [OPEN[0], ended("ABORTED", "stop")], 1)


@both_backends
def test_a_signal_after_the_limit_has_run_out_changes_nothing(backend: Backend) -> None:
    # The usage is handed out first; the abort comes before the finish is.
    exchange = answer(HI, STOPPED, USAGE)
    call = Call(exchange, backend, pauses={3: 5.0}, abort_at=12.0)
    assert call.run() == (15.0, [*OPEN, COUNTS, ended("TIMEOUT", IDLE)], 1)


def play_two(
    backend: Backend, test: Callable[[Example, Scripted], Awaitable[Any]], *exchanges: Exchange
) -> Any:
    async def main() -> Any:
        scripted = scripted_client(exchanges)
        adapter = Example(http_client=scripted.client, api_key="k", idle_timeout=IDLE_S)
        result = await test(adapter, scripted)
        await scripted.client.aclose()
        return result

    return run_virtual(backend, main)


@both_backends
def test_one_signal_stops_every_call_that_it_was_given_to(backend: Backend) -> None:
    async def test(adapter: Example, scripted: Scripted) -> Sequence[Finish]:
        signal = AbortSignal()
        finishes: list[Finish] = []

        async def read() -> None:
            finishes.extend(
                [c async for c in adapter.stream(REQUEST, signal) if isinstance(c, Finish)]
            )

        async with anyio.create_task_group() as group:
            group.start_soon(read)
            group.start_soon(read)
            await until(2.0)
            signal.abort("stop")
        assert anyio.current_time() == 2.0
        return finishes

    expected = ended("ABORTED", "stop")
    assert play_two(backend, test, answer(HI), answer(HI)) == [expected, expected]


# ---- native cancellation -----------------------------------------------------------------


@both_backends
@pytest.mark.parametrize("cancelled", ["before-it", "after-it"])
@pytest.mark.parametrize("cause", ["signal", "limit"])
def test_native_cancellation_beats_a_signal_or_a_limit_of_the_same_instant(
    backend: Backend, cause: str, cancelled: str
) -> None:
    async def test(adapter: Example, scripted: Scripted) -> list[object]:
        signal, clock, seen = AbortSignal(), running_clock(), list[object]()
        with anyio.CancelScope() as scope:
            ends = [scope.cancel, *([signal.abort] if cause == "signal" else [])]

            def order() -> None:
                for end in ends if cancelled == "before-it" else reversed(ends):
                    clock.call_at(IDLE_S, end)

            # The limit's own timer is set at the first wait: before or after ours.
            if cancelled == "before-it":
                order()
            else:
                clock.call_at(IDLE_S / 2, order)
            try:
                async for chunk in adapter.stream(REQUEST, signal):
                    seen.append(chunk)
            except BaseException as error:
                seen.append((type(error), scripted.open_responses))
                raise
        assert (scope.cancelled_caught, anyio.current_time()) == (True, IDLE_S)
        return seen

    native = asyncio.CancelledError if backend == "asyncio" else trio.Cancelled
    assert play_two(backend, test, answer(HI)) == [*OPEN, (native, 0)]
