"""Reading a source in a task of its own: whatever the source does, the consumer's wait ends."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from adapter_sdk import AbortSignal, Expiry
from adapter_sdk._clock import running_clock
from adapter_sdk._limits import CLOSING_S
from adapter_sdk._reader import (
    FIRST_READ_AHEAD,
    READ_AHEAD,
    READ_AHEAD_BYTES,
    Aborted,
    Interrupted,
    Reader,
)
from adapter_sdk.testing import ManualClock, run_virtual

Backend = Literal["asyncio", "trio"]

both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])

IDLE_S = 10.0


@dataclass
class Source:
    """Yields what it is told to; notes how far it came and whether it was closed."""

    script: tuple[object, ...]
    yielded: int = 0
    closed: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> AsyncGenerator[str, None]:
        try:
            for step in self.script:
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, (int, float)):
                    await at_least(step)
                else:
                    self.yielded += 1
                    yield str(step)
        finally:
            self.closed.set()


async def at_least(seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await anyio.Event().wait()


async def settle() -> None:
    """Let every other task go as far as it can without time."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


def reading(
    source: AsyncGenerator[str, None],
    *,
    idle: float = IDLE_S,
    progress: float | None = None,
    abort: AbortSignal | None = None,
) -> Reader[str]:
    return Reader(
        source, idle_timeout=idle, progress_timeout=progress, abort=abort, clock=running_clock()
    )


async def outcome(reader: Reader[str]) -> tuple[float, object]:
    """Return when ``next`` came back, and what it returned or raised."""
    try:
        item: object = await reader.next()
    except Interrupted as interruption:
        item = interruption.cause
    except BaseException as error:  # noqa: BLE001 - why: it is compared by the test
        item = error
    return anyio.current_time(), item


def run(backend: Backend, test: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await test()

    return run_virtual(backend, main)


# ---- what arrives ------------------------------------------------------------------------


@both_backends
def test_items_come_in_order_and_then_the_end(backend: Backend) -> None:
    async def test() -> None:
        source = Source(("a", 2, "b", "c"))
        reader = reading(source.run())
        seen = [await outcome(reader) for _ in range(3)]
        assert seen == [(0.0, "a"), (2.0, "b"), (2.0, "c")]
        for _ in range(2):
            with pytest.raises(StopAsyncIteration):
                await reader.next()
        assert source.closed.is_set()
        await reader.aclose()

    run(backend, test)


class Unusual(BaseException):
    """What no ``except Exception`` catches."""


@both_backends
@pytest.mark.parametrize("error", [ValueError("x"), OSError(), Unusual("x"), KeyboardInterrupt()])
def test_what_the_source_raises_arrives_unchanged_after_the_items(
    backend: Backend, error: BaseException
) -> None:
    async def test() -> None:
        source = Source(("a", error))
        reader = reading(source.run())
        await settle()
        assert [(await outcome(reader))[1] for _ in range(3)] == ["a", error, error]
        assert source.closed.is_set()

    run(backend, test)


@both_backends
def test_what_the_source_raises_while_it_is_closed_does_not_hide_the_first_error(
    backend: Backend,
) -> None:
    class Clumsy:
        def __init__(self, script: list[object]) -> None:
            self.script = iter(script)

        def __aiter__(self) -> Clumsy:
            return self

        async def __anext__(self) -> str:
            step = next(self.script)
            if isinstance(step, BaseException):
                raise step
            return str(step)

        async def aclose(self) -> None:
            raise OSError("closing")

    async def test() -> tuple[object, object]:
        first = ValueError("first")
        failing: Any = Clumsy([first])
        ending: Any = Clumsy([StopAsyncIteration()])
        found = (await outcome(reading(failing)))[1], (await outcome(reading(ending)))[1]
        assert found[0] is first
        return found

    assert isinstance(run(backend, test)[1], StopAsyncIteration)


@both_backends
def test_the_reader_goes_a_bounded_number_of_items_ahead(backend: Backend) -> None:
    async def test() -> list[int]:
        source = Source(tuple("x" * 3 * READ_AHEAD))
        reader = reading(source.run())
        await settle()
        ahead = [source.yielded]
        for taken in range(1, 9):
            await reader.next()
            await settle()
            ahead.append(source.yielded - taken)
        await reader.aclose()
        return ahead

    few = FIRST_READ_AHEAD
    assert run(backend, test) == [few, 2 * few, 4 * few, 8 * few, *[READ_AHEAD] * 5]


@both_backends
def test_the_reader_goes_a_bounded_number_of_bytes_ahead(backend: Backend) -> None:
    size = READ_AHEAD_BYTES // 4

    async def test() -> list[int]:
        yielded = 0

        async def source() -> AsyncGenerator[bytes, None]:
            nonlocal yielded
            for _ in range(20):
                yielded += 1
                yield bytes(size)

        reader = Reader(
            source(), idle_timeout=1, progress_timeout=None, abort=None, clock=running_clock()
        )
        await settle()
        ahead = [yielded]
        await reader.next()
        await settle()
        ahead.append(yielded)
        ahead.append(len(reader.ready()))
        await settle()
        ahead.append(yielded)
        await reader.aclose()
        return ahead

    assert run(backend, test) == [4, 5, 4, 9]


@both_backends
def test_what_is_ready_comes_at_once_and_nothing_after_the_end(backend: Backend) -> None:
    async def test() -> list[object]:
        source = Source(("a", "b", "c"))
        reader = reading(source.run())
        seen: list[object] = [reader.ready(), await reader.next()]
        await settle()
        return [*seen, reader.ready(), reader.ready(), (await outcome(reader))[1]]

    *items, end = run(backend, test)
    assert items == [[], "a", ["b", "c"], []]
    assert isinstance(end, StopAsyncIteration)


@both_backends
def test_what_was_ready_when_a_limit_or_the_signal_ended_the_call_is_left(
    backend: Backend,
) -> None:
    async def test() -> tuple[list[str], list[str]]:
        abort = AbortSignal()
        reader = reading(Source(("a", "b")).run(), abort=abort)
        await settle()
        abort.abort("no more")
        late = reading(Source(("a", "b")).run())
        deadline = late.deadline(1)
        await settle()
        await anyio.lowlevel.checkpoint()
        return reader.ready(), late.ready() if deadline.expired is None else []

    assert run(backend, test) == ([], ["a", "b"])


@both_backends
def test_a_bounded_reader_still_delivers_everything(backend: Backend) -> None:
    async def test() -> list[str]:
        source = Source(tuple(str(n) for n in range(100)))
        reader = reading(source.run())
        await settle()
        return [await reader.next() for _ in range(100)]

    assert run(backend, test) == [str(n) for n in range(100)]


# ---- limits ------------------------------------------------------------------------------


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


# ---- the caller's signal -----------------------------------------------------------------


@both_backends
@pytest.mark.parametrize("first", ["abort-is-set-up-first", "limit-is-set-up-first"])
@pytest.mark.parametrize(
    ("at", "expected"),
    [
        pytest.param(4.0, (4.0, Aborted("stop", 4.0)), id="abort-before-the-limit"),
        pytest.param(IDLE_S, (IDLE_S, Aborted("stop", IDLE_S)), id="a-tie-is-the-callers"),
        pytest.param(11.0, (IDLE_S, Expiry("idle", IDLE_S, IDLE_S)), id="abort-after-the-limit"),
    ],
)
def test_of_abort_and_limit_the_first_cause_counts(
    backend: Backend, first: str, at: float, expected: tuple[float, object]
) -> None:
    async def test() -> tuple[float, object]:
        signal = AbortSignal()
        reader = reading(Source((99,)).run(), abort=signal)

        def order() -> None:
            running_clock().call_at(at, lambda: signal.abort("stop"))

        if first == "abort-is-set-up-first":
            order()
        else:
            running_clock().call_at(0.5, order)
        seen = await outcome(reader)
        await at_least(5)
        again = await outcome(reader)
        assert again == (seen[0] + 5, expected[1])
        await reader.aclose()
        return seen

    assert run(backend, test) == expected


@pytest.mark.parametrize(
    ("abort_at", "expected"),
    [
        pytest.param(IDLE_S, Aborted("stop", IDLE_S), id="at-the-instant-at-which-it-was-due"),
        pytest.param(IDLE_S + 0.01, Expiry("idle", IDLE_S, IDLE_S), id="an-instant-later"),
    ],
)
def test_an_abort_that_comes_second_wins_a_tie_and_nothing_else(
    abort_at: float, expected: object
) -> None:
    async def test() -> object:
        clock, signal = ManualClock(), AbortSignal()
        reader = Reader(
            Source((1,)).run(),
            idle_timeout=IDLE_S,
            progress_timeout=None,
            abort=signal,
            clock=clock,
        )
        async with anyio.create_task_group() as group:
            group.start_soon(outcome, reader)
            await settle()
            clock.advance(IDLE_S)
            clock.advance(abort_at - IDLE_S)
            signal.abort("stop")
        await reader.aclose()
        return reader.cause

    assert run("asyncio", test) == expected


@both_backends
def test_an_abort_leaves_what_had_arrived(backend: Backend) -> None:
    async def test() -> list[tuple[float, object]]:
        signal = AbortSignal()
        reader = reading(Source(("a", "b")).run(), abort=signal)
        seen = [await outcome(reader)]
        await settle()
        signal.abort("stop")
        seen.append(await outcome(reader))
        await reader.aclose()
        return seen

    assert run(backend, test) == [(0.0, "a"), (0.0, Aborted("stop", 0.0))]


@both_backends
def test_a_signal_that_was_set_before_ends_the_first_wait(backend: Backend) -> None:
    async def test() -> tuple[float, object]:
        signal = AbortSignal()
        signal.abort("early")
        reader = reading(Source(("a",)).run(), abort=signal)
        seen = await outcome(reader)
        await reader.aclose()
        return seen

    assert run(backend, test) == (0.0, Aborted("early", 0.0))


@both_backends
def test_a_signal_after_the_close_changes_nothing_and_is_forgotten(backend: Backend) -> None:
    async def test() -> object:
        signal = AbortSignal()
        reader = reading(Source(("a",)).run(), abort=signal)
        await reader.aclose()
        signal.abort("late")
        return reader.cause

    assert run(backend, test) is None


# ---- the end -----------------------------------------------------------------------------


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
