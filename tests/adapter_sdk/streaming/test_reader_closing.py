"""The end of a reader: closed, cancelled or dropped, it closes its source."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass

import anyio
import anyio.lowlevel

from adapter_sdk import AbortSignal
from adapter_sdk._clock import Timer, running_clock
from adapter_sdk._limits import CLOSING_S
from adapter_sdk._reader import Reader

from .lanes import Backend, both_backends
from .reading import Source, outcome, reading, run
from .waiting import at_least, settle


@both_backends
def test_closing_ends_the_source_and_is_quick_and_harmless_twice(backend: Backend) -> None:
    async def test() -> tuple[float, bool]:
        source = Source(("a", 99))
        reader = reading(source.run())
        await reader.next()
        await reader.aclose()
        await reader.aclose()
        return anyio.current_time(), source.closed.is_set()

    assert run(backend, test) == (0.0, True)


@both_backends
def test_closing_waits_for_a_source_that_closes_within_its_time(backend: Backend) -> None:
    async def test() -> tuple[float, bool]:
        closed = anyio.Event()

        async def slow() -> AsyncGenerator[str, None]:
            try:
                yield "a"
                await anyio.Event().wait()
            finally:
                with anyio.CancelScope(shield=True):
                    await at_least(CLOSING_S / 2)
                closed.set()

        reader = reading(slow())
        await reader.next()
        await reader.aclose()
        return anyio.current_time(), closed.is_set()

    assert run(backend, test) == (CLOSING_S / 2, True)


@both_backends
def test_a_reader_that_was_never_read_closes_its_source(backend: Backend) -> None:
    async def test() -> bool:
        source = Source((99,))
        reader = reading(source.run())
        await settle()
        await reader.aclose()
        return source.closed.is_set()

    assert run(backend, test)


@both_backends
def test_a_close_from_another_task_ends_the_wait(backend: Backend) -> None:
    async def test() -> list[tuple[float, object]]:
        reader = reading(Source((99,)).run())
        seen: list[tuple[float, object]] = []
        async with anyio.create_task_group() as group:

            async def wait() -> None:
                seen.append(await outcome(reader))

            group.start_soon(wait)
            await settle()
            await reader.aclose()
        return seen

    ((at, end),) = run(backend, test)
    assert (at, type(end)) == (0.0, StopAsyncIteration)


@both_backends
def test_cancellation_of_the_consumer_leaves_the_reader_to_be_closed(backend: Backend) -> None:
    async def test() -> tuple[bool, bool, bool]:
        source = Source(("a", 99))
        reader = reading(source.run())
        await reader.next()
        with anyio.move_on_after(3) as scope:
            await reader.next()
        open_still = not source.closed.is_set()
        with anyio.CancelScope() as cancelled:
            cancelled.cancel()
            await reader.aclose()  # shielded: the source closes all the same
        return scope.cancelled_caught, open_still, source.closed.is_set()

    assert run(backend, test) == (True, True, True)


def test_a_task_that_is_cancelled_twice_still_closes_the_source() -> None:
    async def test() -> tuple[bool, bool]:
        closed = anyio.Event()

        async def slow_to_close() -> AsyncGenerator[str, None]:
            try:
                yield "a"
                await anyio.Event().wait()
            finally:
                with anyio.CancelScope(shield=True):
                    await at_least(CLOSING_S / 2)
                closed.set()

        reader = reading(slow_to_close())

        async def consume() -> None:
            try:
                while True:
                    await reader.next()
            finally:
                await reader.aclose()

        task = asyncio.get_running_loop().create_task(consume())
        await settle()
        task.cancel()
        await anyio.lowlevel.checkpoint()
        task.cancel()
        (result,) = await asyncio.gather(task, return_exceptions=True)
        await closed.wait()
        return isinstance(result, asyncio.CancelledError), closed.is_set()

    assert run("asyncio", test) == (True, True)


@both_backends
def test_a_reader_that_is_dropped_is_collected_and_its_source_closed(backend: Backend) -> None:
    async def test() -> tuple[bool, bool]:
        source = Source(("a", 99))
        signal = AbortSignal()
        reader = reading(source.run(), abort=signal)
        await reader.next()
        dropped = weakref.ref(reader)
        gc.disable()
        try:
            del reader
            await settle()
            # By its reference count alone.
            return dropped() is None, source.closed.is_set()
        finally:
            gc.enable()

    assert run(backend, test) == (True, True)


class WatchedClock:
    """The loop's clock; notes which thread takes its timers back."""

    def __init__(self) -> None:
        self._clock = running_clock()
        self.monotonic, self.utc_now = self._clock.monotonic, self._clock.utc_now
        self.cancelled_by: list[threading.Thread] = []

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        return WatchedTimer(self._clock.call_at(when, callback), self.cancelled_by)


@dataclass
class WatchedTimer:
    timer: Timer
    cancelled_by: list[threading.Thread]

    def cancel(self) -> None:
        self.cancelled_by.append(threading.current_thread())
        self.timer.cancel()


@both_backends
def test_a_reader_that_another_thread_drops_is_closed_in_its_loop(backend: Backend) -> None:
    async def test() -> tuple[bool, set[threading.Thread]]:
        source = Source(("a", 99))
        clock = WatchedClock()
        kept = [reading(source.run(), clock=clock)]
        await kept[0].next()
        kept[0].deadline(500)
        with anyio.move_on_after(1):  # the clocks run
            await kept[0].next()
        thread = threading.Thread(target=kept.clear)  # as the garbage collector may
        thread.start()
        thread.join()
        assert clock.cancelled_by == []
        await settle()
        return source.closed.is_set(), set(clock.cancelled_by)

    assert run(backend, test) == (True, {threading.current_thread()})


@both_backends
def test_a_reader_that_outlives_its_loop_is_dropped_in_silence(backend: Backend) -> None:
    signal = AbortSignal()
    kept = []

    async def test() -> None:
        reader = reading(Source(("a", 99)).run(), abort=signal)
        kept.append(reader)
        await reader.next()

    run(backend, test)
    kept.clear()
    assert vars(signal)["_listeners"] == {}
    signal.abort("nobody listens any more")


def test_a_reader_is_closed_in_another_loop_after_its_own_was_closed() -> None:
    async def first() -> Reader[str]:
        reader = reading(Source(("a", 99)).run())
        await reader.next()
        return reader

    loop = asyncio.new_event_loop()
    reader = loop.run_until_complete(first())
    loop.close()
    run("asyncio", reader.aclose)
