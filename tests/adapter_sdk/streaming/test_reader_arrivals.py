"""Reading a source in a task of its own: what arrives, and how far the reader goes ahead."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from adapter_sdk import AbortSignal
from adapter_sdk._clock import running_clock
from adapter_sdk._reader import FIRST_READ_AHEAD, READ_AHEAD, READ_AHEAD_BYTES, Reader

from .lanes import Backend, both_backends
from .reading import Source, outcome, reading, run
from .waiting import settle


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
