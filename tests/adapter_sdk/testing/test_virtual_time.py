"""Under virtual time waiting costs nothing, order is kept, and a deadlock is an error."""

from __future__ import annotations

import asyncio
import hashlib
from time import monotonic
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread
import pytest
import trio

from adapter_sdk.testing import DeadlockError, run_virtual

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

Backend = Literal["asyncio", "trio"]
HOUR_S = 3600.0

both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])


async def until(when: float) -> None:
    """Wait for a virtual instant by a deadline."""
    with anyio.move_on_after(when - anyio.current_time()):
        await anyio.Event().wait()


@both_backends
def test_hours_take_no_time(backend: Backend) -> None:
    async def wait_a_thousand_hours() -> tuple[float, float]:
        began = anyio.current_time()
        for hours in range(1000):
            await until(hours * HOUR_S)
        return began, anyio.current_time()

    began = monotonic()
    assert run_virtual(backend, wait_a_thousand_hours) == (0.0, 999 * HOUR_S)
    assert monotonic() - began < 5


@both_backends
def test_timers_fire_in_order_and_at_their_instant(backend: Backend) -> None:
    async def run() -> list[tuple[str, float]]:
        fired: list[tuple[str, float]] = []

        async def fire(name: str, when: float) -> None:
            await until(when)
            fired.append((name, anyio.current_time()))

        async with anyio.create_task_group() as group:
            for name, when in [("late", 86_400.0 * 3), ("early", 0.25), ("middle", 300.0)]:
                group.start_soon(fire, name, when)
        return fired

    assert run_virtual(backend, run) == [("early", 0.25), ("middle", 300.0), ("late", 259_200.0)]


@both_backends
def test_work_that_is_ready_goes_before_any_jump(backend: Backend) -> None:
    async def run() -> list[tuple[int, float]]:
        seen = []
        done = 0

        async def work() -> None:
            nonlocal done
            for _ in range(100):
                await anyio.lowlevel.checkpoint()
                done += 1

        async with anyio.create_task_group() as group:
            group.start_soon(work)
            await until(1.0)
            seen.append((done, anyio.current_time()))
        return seen

    assert run_virtual(backend, run) == [(100, 1.0)]


def test_asyncio_timeout_fires_at_the_virtual_instant() -> None:
    async def run() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(300):
                await asyncio.get_running_loop().create_future()
        return asyncio.get_running_loop().time()

    assert run_virtual("asyncio", run) == 300.0


def test_trio_move_on_after_fires_at_the_virtual_instant() -> None:
    async def run() -> float:
        with trio.move_on_after(300):
            await trio.Event().wait()
        return trio.current_time()

    assert run_virtual("trio", run) == 300.0


def work_for_a_while() -> bytes:
    """Some milliseconds of work that lets other threads run."""
    return hashlib.pbkdf2_hmac("sha256", b"", b"", 10_000)


async def wait_for_nothing() -> None:
    await anyio.Event().wait()


async def wait_for_each_other() -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(wait_for_nothing)
        group.start_soon(wait_for_nothing)


async def wait_for_nothing_later() -> None:
    await until(HOUR_S)
    await wait_for_nothing()


async def swallow_the_cancellation() -> None:
    try:
        await wait_for_nothing()
    finally:
        raise ValueError("cleaning up went wrong")


async def wait_shielded() -> None:
    with anyio.CancelScope(shield=True):
        await wait_for_nothing()


@both_backends
@pytest.mark.parametrize(
    "async_fn",
    [
        wait_for_nothing,
        wait_for_each_other,
        wait_for_nothing_later,
        swallow_the_cancellation,
        wait_shielded,
    ],
)
def test_a_deadlock_is_reported_with_who_waits_where(
    backend: Backend, async_fn: Callable[[], Awaitable[None]]
) -> None:
    async def run() -> None:
        await async_fn()

    with pytest.raises(
        DeadlockError, match=r"nothing will ever happen; waiting: .*wait_\w+ \(test_virtual"
    ):
        run_virtual(backend, run)


@both_backends
def test_arguments_go_in_and_results_and_errors_come_out_unchanged(backend: Backend) -> None:
    async def divide(dividend: int, divisor: int) -> float:
        return dividend / divisor

    assert run_virtual(backend, divide, 1, 4) == 0.25
    with pytest.raises(ZeroDivisionError):
        run_virtual(backend, divide, 1, 0)


@both_backends
def test_a_thread_at_work_is_no_deadlock(backend: Backend) -> None:
    async def run() -> bytes:
        return await anyio.to_thread.run_sync(work_for_a_while)

    assert run_virtual(backend, run) == work_for_a_while()


def test_asyncio_waits_for_its_executor_before_time_jumps() -> None:
    async def run() -> tuple[bytes, float]:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(300):
            result = await loop.run_in_executor(None, work_for_a_while)
        return result, loop.time()

    assert run_virtual("asyncio", run) == (work_for_a_while(), 0.0)
