"""The caller's signal and native cancellation: which of them ends a call, when, and as what."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Any, Literal

import anyio
import pytest
import trio

from adapter_sdk import AbortSignal, Chunk, Finish
from adapter_sdk._clock import running_clock
from adapter_sdk.testing import Exchange, Pause, Scripted, run_virtual, scripted_client

from .chat_answer import COUNTS, GOOD_CHUNKS, HI, OPEN, REQUEST, STOPPED, USAGE, Example
from .lanes import Backend, both_backends, lanes
from .timed_call import END, HELD_BEFORE, IDLE, IDLE_S, Call, answer, ended
from .waiting import until

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
            except BaseException as error:  # why: it goes on, the test only notes it
                seen.append((type(error), scripted.open_responses))
                raise
        assert (scope.cancelled_caught, anyio.current_time()) == (True, IDLE_S)
        return seen

    native = asyncio.CancelledError if backend == "asyncio" else trio.Cancelled
    assert play_two(backend, test, answer(HI)) == [*OPEN, (native, 0)]
