"""Run an async function under virtual time: an hour of waiting takes no time at all.

For runs in process, without sockets: time jumps to the next timer as soon as nothing
is ready, and nothing else can be ready but what the process itself does. Sockets and
threads are outside of that. Under asyncio, sockets and executors get a short real wait
before time jumps. Under trio time does not wait for them: limits may pass while a
thread works. Neither takes a thread at work for a deadlock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, TypeVarTuple, Unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")


def run_virtual(
    backend: Literal["asyncio", "trio"],
    async_fn: Callable[[Unpack[_Arguments]], Coroutine[Any, Any, _Result]],
    *args: *_Arguments,
) -> _Result:
    """Run ``async_fn(*args)`` on ``backend`` and return its result.

    The loop's clock (``loop.time()``, ``trio.current_time()``, ``anyio.current_time()``)
    starts at 0.0 s and moves by jumps to the next timer alone.

    Raises:
        DeadlockError: No task can run and no timer is set.
        BaseException: Whatever ``async_fn`` raises, unchanged.

    """
    if backend == "asyncio":
        from ._virtual_asyncio import run_asyncio

        return run_asyncio(async_fn, *args)
    from ._virtual_trio import run_trio  # here: the package does not depend on trio

    return run_trio(async_fn, *args)
