"""A task of one's own, and a way to be woken, on both loops."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import Literal

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from adapter_sdk._clock import running_clock
from adapter_sdk._tasks import OwnTask, new_wakeup, spawn
from adapter_sdk.testing import run_virtual

Backend = Literal["asyncio", "trio"]

both_backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])
holder: contextvars.ContextVar[str] = contextvars.ContextVar("holder", default="nobody")


class Ended:
    """Notes what a task did, and lets a test wait for its end."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.event = anyio.Event()

    def __call__(self) -> None:
        self.seen.append("done")
        self.event.set()

    async def wait_for_ever(self) -> None:
        self.seen.append("began")
        try:
            await anyio.Event().wait()
        except anyio.get_cancelled_exc_class():
            self.seen.append("cancelled")
            raise


@both_backends
def test_a_task_runs_by_itself_and_tells_when_it_is_done(backend: Backend) -> None:
    async def run() -> list[str]:
        ended = Ended()

        async def work() -> None:
            ended.seen.append("work")

        spawn(work, on_done=ended)
        ended.seen.append("spawned")
        await ended.event.wait()
        return ended.seen

    assert run_virtual(backend, run) == ["spawned", "work", "done"]


@both_backends
def test_a_task_that_is_cancelled_ends_and_tells(backend: Backend) -> None:
    async def run() -> list[str]:
        ended = Ended()
        task = spawn(ended.wait_for_ever, on_done=ended)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        task.cancel()
        await ended.event.wait()
        task.cancel()
        return ended.seen

    assert run_virtual(backend, run) == ["began", "cancelled", "done"]


@both_backends
def test_a_task_that_is_cancelled_before_it_began_tells_too(backend: Backend) -> None:
    async def run() -> list[str]:
        ended = Ended()
        spawn(ended.wait_for_ever, on_done=ended).cancel()
        await ended.event.wait()
        return ended.seen

    assert run_virtual(backend, run)[-1] == "done"


@pytest.mark.anyio
async def test_another_thread_has_a_task_cancelled_in_its_own() -> None:
    ended = Ended()
    task = spawn(ended.wait_for_ever, on_done=ended)
    threads: list[threading.Thread] = []

    def cancel() -> None:
        threads.append(threading.current_thread())
        task.cancel()

    await anyio.lowlevel.checkpoint()
    await anyio.to_thread.run_sync(task.call_soon, cancel)
    with anyio.fail_after(5):
        await ended.event.wait()
    assert ended.seen == ["began", "cancelled", "done"]
    assert threads == [threading.current_thread()]


@both_backends
def test_nothing_is_called_after_the_loop_has_gone(backend: Backend) -> None:
    tasks: list[OwnTask] = []
    seen: list[str] = []

    async def run() -> None:
        ended = Ended()
        ended.seen = seen
        tasks.append(spawn(ended.wait_for_ever, on_done=ended))
        await anyio.lowlevel.checkpoint()

    run_virtual(backend, run)
    before = list(seen)
    tasks[0].call_soon(lambda: seen.append("called"))
    assert seen == before


@both_backends
def test_a_task_has_a_copy_of_its_makers_context(backend: Backend) -> None:
    async def run() -> list[str]:
        ended = Ended()
        holder.set("the maker")

        async def work() -> None:
            ended.seen.append(holder.get())
            holder.set("the task")

        spawn(work, on_done=ended)
        await ended.event.wait()
        return [*ended.seen, holder.get()]

    assert run_virtual(backend, run) == ["the maker", "done", "the maker"]


async def woken_by(wake: Callable[[], None], wait: Callable[[], Awaitable[None]]) -> float:
    running_clock().call_at(anyio.current_time() + 5, wake)
    await wait()
    return anyio.current_time()


@both_backends
def test_a_waiter_goes_on_when_it_is_woken(backend: Backend) -> None:
    async def run() -> float:
        wakeup = new_wakeup()
        return await woken_by(wakeup.wake, wakeup.wait)

    assert run_virtual(backend, run) == 5.0


@both_backends
def test_two_wakes_at_once_are_one_and_none_is_kept(backend: Backend) -> None:
    async def run() -> list[float]:
        wakeup = new_wakeup()
        wakeup.wake()  # nobody waits: lost

        def twice() -> None:
            wakeup.wake()
            wakeup.wake()

        return [await woken_by(twice, wakeup.wait), await woken_by(twice, wakeup.wait)]

    assert run_virtual(backend, run) == [5.0, 10.0]


@both_backends
def test_a_waiter_that_was_cancelled_leaves_the_wakeup_usable(backend: Backend) -> None:
    async def run() -> tuple[bool, float]:
        wakeup = new_wakeup()
        with anyio.move_on_after(1) as scope:
            await wakeup.wait()
        wakeup.wake()
        return scope.cancelled_caught, await woken_by(wakeup.wake, wakeup.wait)

    assert run_virtual(backend, run) == (True, 6.0)
