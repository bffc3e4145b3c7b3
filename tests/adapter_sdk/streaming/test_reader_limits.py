"""Whatever the source does, a limit ends the consumer's wait at its instant."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator

import anyio
import anyio.to_thread
import pytest

from adapter_sdk import Expiry
from adapter_sdk._clock import running_clock
from adapter_sdk._limits import CLOSING_S
from adapter_sdk._reader import Interrupted, Reader
from adapter_sdk.testing import ManualClock

from .lanes import Backend, both_backends
from .reading import IDLE_S, Source, outcome, reading, run
from .waiting import at_least, settle


@both_backends
def test_silence_ends_the_wait_at_the_limit(backend: Backend) -> None:
    async def test() -> list[tuple[float, object]]:
        source = Source((2, "a", 99, "b"))
        reader = reading(source.run())
        seen = [await outcome(reader)]
        reader.pulse()
        seen += [await outcome(reader), await outcome(reader)]
        assert reader.cause == Expiry("idle", IDLE_S, 12.0)
        await reader.aclose()
        assert source.closed.is_set()
        return seen

    expiry = Expiry("idle", IDLE_S, 12.0)
    assert run(backend, test) == [(2.0, "a"), (12.0, expiry), (12.0, expiry)]


@both_backends
def test_items_without_progress_meet_the_progress_limit(backend: Backend) -> None:
    async def test() -> list[tuple[float, object]]:
        source = Source(("a", 8, "b", 8, "c", 8, "d", 8, "e"))
        reader = reading(source.run(), progress=25.0)
        seen = []
        for progress in (True, False, False, False, False):
            seen.append(await outcome(reader))
            reader.pulse(progress=progress)
        await reader.aclose()
        return seen

    assert run(backend, test) == [
        (0.0, "a"),
        (8.0, "b"),
        (16.0, "c"),
        (24.0, "d"),
        (25.0, Expiry("progress", 25.0, 25.0)),
    ]


@both_backends
def test_the_consumers_pause_is_no_silence(backend: Backend) -> None:
    async def test() -> list[tuple[float, object]]:
        reader = reading(Source(("a", 9, "b")).run())
        seen = [await outcome(reader)]
        await at_least(10_000)
        seen.append(await outcome(reader))
        await at_least(10_000)
        seen.append(await outcome(reader))
        return seen[:2]

    assert run(backend, test) == [(0.0, "a"), (10_000.0, "b")]


@both_backends
def test_a_pulse_while_the_consumer_waits_re_arms_the_limit(backend: Backend) -> None:
    async def test() -> tuple[float, object]:
        reader = reading(Source((15, "a")).run())
        running_clock().call_at(8.0, reader.pulse)
        return await outcome(reader)

    assert run(backend, test) == (15.0, "a")


@both_backends
def test_a_deadline_ends_the_wait_unless_it_is_met(backend: Backend) -> None:
    async def test() -> list[tuple[float, object]]:
        missed = reading(Source((9, "a")).run())
        missed.deadline(4.0)
        seen = [await outcome(missed)]
        await missed.aclose()
        met = reading(Source((5, "a")).run())
        met.deadline(4.0).close()
        seen.append(await outcome(met))
        return seen

    assert run(backend, test) == [(4.0, Expiry("deadline", 4.0, 4.0)), (9.0, "a")]


@both_backends
def test_a_reader_that_is_closed_leaves_no_timer_behind(backend: Backend) -> None:
    async def test() -> list[int]:
        clock = ManualClock()
        source = Source(("a", 9))
        reader = Reader(
            source.run(), idle_timeout=9.0, progress_timeout=99.0, abort=None, clock=clock
        )
        await reader.next()
        with anyio.move_on_after(1):
            await reader.next()
        reader.deadline(5.0)
        pending = [clock.pending]
        await reader.aclose()
        return [*pending, clock.pending]

    assert run(backend, test) == [2, 0]


@both_backends
def test_a_source_that_ignores_cancellation_cannot_hold_the_caller(backend: Backend) -> None:
    async def test() -> list[tuple[float, object]]:
        released, closed = anyio.Event(), anyio.Event()

        async def stubborn() -> AsyncGenerator[str, None]:
            try:
                yield "a"
                with anyio.CancelScope(shield=True):
                    while not released.is_set():
                        try:
                            await released.wait()
                        except asyncio.CancelledError:
                            continue
                yield "b"
            finally:
                closed.set()

        reader = reading(stubborn())
        seen = [await outcome(reader), await outcome(reader)]
        await reader.aclose()
        seen.append((anyio.current_time(), closed.is_set()))
        released.set()
        await closed.wait()
        return seen

    assert run(backend, test) == [
        (0.0, "a"),
        (IDLE_S, Expiry("idle", IDLE_S, IDLE_S)),
        (IDLE_S + CLOSING_S, False),
    ]


@pytest.mark.anyio
async def test_a_source_that_is_stuck_in_a_thread_cannot_hold_the_caller() -> None:
    released = threading.Event()

    async def stuck() -> AsyncGenerator[str, None]:
        await anyio.to_thread.run_sync(released.wait)
        yield "a"

    reader = reading(stuck(), idle=0.05)
    began = anyio.current_time()
    try:
        with pytest.raises(Interrupted) as caught:
            await reader.next()
        await reader.aclose()
        took = anyio.current_time() - began
    finally:
        released.set()
    assert isinstance(caught.value.cause, Expiry)
    assert (caught.value.cause.limit, took < 5) == ("idle", True)
    await settle()
