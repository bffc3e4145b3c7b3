"""A task of one's own and a way to be woken, on asyncio and trio.

No task group: a call's reader must outlive a cancelled caller for as long as it takes to
close its connection, and a group may not span the yields of a stream.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import anyio

from ._clock import in_trio

if TYPE_CHECKING:
    import asyncio

    import trio

Run: TypeAlias = Callable[[], Awaitable[None]]


class Wakeup(Protocol):
    """One waiter at a time; a wake without a waiter is lost, so check the condition first."""

    def wait(self) -> Awaitable[None]:
        """Sleep until ``wake``. Await it at once; no coroutine, for each wait would make one."""
        ...

    def wake(self) -> None:
        """Let the waiter, where there is one, go on."""
        ...


class OwnTask(Protocol):
    """A task that nobody waits for unless they choose to."""

    def cancel(self) -> None:
        """Ask it to end; only in its loop. Harmless once it or the loop has ended."""
        ...

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Have ``callback`` called in its loop, soon; nothing happens once the loop has gone.

        Safe from any thread and from the garbage collector.
        """
        ...


class _AsyncioWakeup:
    __slots__ = ("_future", "_loop")

    def __init__(self) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] | None = None

    def wait(self) -> Awaitable[None]:
        self._future = self._loop.create_future()
        return self._future

    def wake(self) -> None:
        future, self._future = self._future, None
        if future is not None and not future.done():  # done: its waiter was cancelled
            future.set_result(None)


class _TrioWakeup:
    __slots__ = ("_task", "_trio")

    def __init__(self) -> None:
        import trio

        self._trio = trio
        self._task: trio.lowlevel.Task | None = None

    def wait(self) -> Awaitable[None]:
        self._task = self._trio.lowlevel.current_task()

        def abort(_: Callable[[], Any]) -> trio.lowlevel.Abort:
            self._task = None
            aborted: trio.lowlevel.Abort = self._trio.lowlevel.Abort.SUCCEEDED
            return aborted

        return self._trio.lowlevel.wait_task_rescheduled(abort)

    def wake(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            self._trio.lowlevel.reschedule(task)


class _AsyncioTask:
    def __init__(self, run: Run, on_done: Callable[[], None]) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._scope = scope = anyio.CancelScope()

        async def main() -> None:
            with scope:
                await run()

        self._task = self._loop.create_task(main())
        # A callback, for a task that is cancelled before it starts never runs its own code.
        self._task.add_done_callback(lambda _: on_done())

    def cancel(self) -> None:
        # Through a scope, never ``Task.cancel``: clients shield their closing with anyio, which
        # a native cancellation passes through. It would leave the pool's slot taken for good.
        if not self._task.done() and not self._loop.is_closed():
            self._scope.cancel()

    def call_soon(self, callback: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # closed
            self._loop.call_soon_threadsafe(callback)


class _TrioTask:
    def __init__(self, run: Run, on_done: Callable[[], None]) -> None:
        import trio

        self._trio = trio
        self._scope = scope = trio.CancelScope()
        self._token = trio.lowlevel.current_trio_token()

        async def main() -> None:
            try:
                with scope:
                    await run()
            finally:
                on_done()

        # A system task has its own context unless it is given the caller's.
        trio.lowlevel.spawn_system_task(main, context=contextvars.copy_context())

    def cancel(self) -> None:
        self._scope.cancel()

    def call_soon(self, callback: Callable[[], None]) -> None:
        with contextlib.suppress(self._trio.RunFinishedError):
            self._token.run_sync_soon(callback)


def new_wakeup() -> Wakeup:
    """Return a wake-up for the running loop."""
    return _TrioWakeup() if in_trio() else _AsyncioWakeup()


def spawn(run: Run, *, on_done: Callable[[], None]) -> OwnTask:
    """Start ``run`` in a task of its own; it raises nothing but its own cancellation.

    ``on_done`` is called in the loop once the task has ended, however it ended.
    """
    return _TrioTask(run, on_done) if in_trio() else _AsyncioTask(run, on_done)
