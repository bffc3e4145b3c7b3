"""Virtual time on trio: its own mock clock, and a watch for the deadlock it cannot see."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeVar, TypeVarTuple, Unpack

import outcome
import trio
import trio.testing

from ._deadlock import DeadlockError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")

# Real seconds, as under asyncio.
_THREAD_WAIT_S: Final = 0.05
_THREAD_LIMIT_S: Final = 5.0


def run_trio(
    async_fn: Callable[[Unpack[_Arguments]], Coroutine[Any, Any, _Result]],
    *args: *_Arguments,
) -> _Result:
    """See ``run_virtual``."""
    watch = _DeadlockWatch()

    async def main() -> _Result:
        with watch.scope:
            trio.lowlevel.spawn_system_task(watch.run, trio.lowlevel.current_task())
            return await async_fn(*args)
        raise RuntimeError("cancelled by the watch alone, which has an error to raise")

    try:
        result = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    except BaseException as error:  # why: whatever the code under test raises goes on
        # Whatever the cancelled tasks made of it: the deadlock came first.
        if watch.error is not None:
            raise watch.error from error
        raise
    if watch.error is not None:
        raise watch.error
    return result


class _DeadlockWatch:
    """The mock clock spins for ever where no timer is set; this ends the run instead."""

    def __init__(self) -> None:
        self.scope = trio.CancelScope()
        self.error: DeadlockError | None = None

    async def run(self, main: trio.lowlevel.Task) -> None:
        while True:
            await self._nothing_is_running()
            next_timer_s = trio.lowlevel.current_statistics().seconds_to_next_deadline
            if next_timer_s < math.inf:
                # Out of the way until then, or the clock would never jump.
                await trio.sleep(max(0.0, next_timer_s))
            elif self.error is None:
                self.error = DeadlockError(task.coro for task in _tree(main))
                self.scope.cancel()
            else:
                _end_shielded_waits(main)

    async def _nothing_is_running(self) -> None:
        await trio.testing.wait_all_tasks_blocked()
        threads = trio.to_thread.current_default_thread_limiter()
        waited_s = 0.0
        while threads.borrowed_tokens and waited_s < _THREAD_LIMIT_S:
            await trio.testing.wait_all_tasks_blocked(_THREAD_WAIT_S)
            waited_s += _THREAD_WAIT_S


def _end_shielded_waits(main: trio.lowlevel.Task) -> None:
    # Cancellation does not reach behind a shield. What a shielded task waits for still
    # has it on its list after this; the run is lost anyway, and hanging would be worse.
    for task in _tree(main):
        if not any(nursery.child_tasks for nursery in task.child_nurseries):
            trio.lowlevel.reschedule(task, outcome.Error(DeadlockError([task.coro])))


def _tree(task: trio.lowlevel.Task) -> Iterator[trio.lowlevel.Task]:
    yield task
    for nursery in task.child_nurseries:
        for child in nursery.child_tasks:
            yield from _tree(child)
