"""Virtual time on asyncio: a selector that jumps where another would block."""

from __future__ import annotations

import asyncio
import selectors
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeVar, TypeVarTuple, Unpack

from typing_extensions import override

from ._deadlock import DeadlockError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Executor

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")

# Real seconds. A job of an executor that a test can want is done in far less than the
# first; the second only separates a slow machine from a deadlock. The third is for
# threads that nobody told us of.
_OUTSIDE_WAIT_S: Final = 0.05
_OUTSIDE_LIMIT_S: Final = 5.0
_UNKNOWN_THREADS_WAIT_S: Final = 0.1

# The loop's own wake-up socket (``call_soon_threadsafe``); any other is real input.
_OWN_FDS: Final = 1

_Ready = list[tuple[selectors.SelectorKey, int]]


def run_asyncio(
    async_fn: Callable[[Unpack[_Arguments]], Coroutine[Any, Any, _Result]],
    *args: *_Arguments,
) -> _Result:
    """See ``run_virtual``."""
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(async_fn(*args))


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.jobs = 0
        self.waiting: Callable[[], list[object]] = list

    @override
    def select(self, timeout: float | None = None) -> _Ready:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is not None:
            if self._outside():
                ready = super().select(_OUTSIDE_WAIT_S)
            if not ready:
                self.now_s += timeout
            return ready
        return self._select_without_timer()

    def _select_without_timer(self) -> _Ready:
        # Only somebody outside can go on now: wait for real, but not for ever.
        limit_s = 0.0
        if self._outside():
            limit_s = _OUTSIDE_LIMIT_S
        elif threading.active_count() > 1:
            limit_s = _UNKNOWN_THREADS_WAIT_S
        end = monotonic() + limit_s
        while (left := end - monotonic()) > 0:
            if ready := super().select(left):
                return ready
        raise DeadlockError(self.waiting())

    def _outside(self) -> bool:
        return self.jobs > 0 or len(self.get_map()) > _OWN_FDS


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        self._jumping.waiting = lambda: [task.get_coro() for task in asyncio.all_tasks(self)]

    @override
    def time(self) -> float:
        return self._jumping.now_s

    @override
    def run_in_executor(
        self,
        executor: Executor | None,
        func: Callable[[Unpack[_Arguments]], _Result],
        *args: *_Arguments,
    ) -> asyncio.Future[_Result]:
        future = super().run_in_executor(executor, func, *args)
        self._jumping.jobs += 1
        future.add_done_callback(self._job_done)
        return future

    def _job_done(self, future: asyncio.Future[Any]) -> None:
        self._jumping.jobs -= 1

    @override
    async def shutdown_default_executor(self, *args: Any) -> None:
        self._jumping.jobs += 1  # a thread does it, and Python 3.12 sets a timer beside it
        try:
            await super().shutdown_default_executor(*args)
        finally:
            self._jumping.jobs -= 1
