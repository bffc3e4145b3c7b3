"""A call in a task of its own, cancelled as its backend does it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

import anyio
import anyio.abc

from .._bench import CLOSING_LIMIT_S
from .._observe import CONTENT


class OwnTask:
    """Runs ``call`` beside the scenario; an async context manager that leaves nothing behind.

    Attributes:
        reading: Set once the first content chunk has come; ``call`` tells by ``read``.
        ended: Set once the task has ended.
        error: What ended it, a cancellation included; None where it returned.
    """

    def __init__(self, call: Callable[[OwnTask], Awaitable[None]]) -> None:
        self._call = call
        self._stack = AsyncExitStack()
        self._scopes = (anyio.CancelScope(), anyio.CancelScope())
        self._task: asyncio.Task[None] | None = None
        self.reading = anyio.Event()
        self.ended = anyio.Event()
        self.error: BaseException | None = None

    async def __aenter__(self) -> Self:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # trio: there is no asyncio loop
            group = await self._stack.enter_async_context(anyio.create_task_group())
            group.start_soon(self._run_in_scopes)
        else:
            self._task = loop.create_task(self._run())
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cancel()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=CLOSING_LIMIT_S)
        await self._stack.aclose()

    async def read(self, stream: Any) -> None:
        """Read ``stream`` to its end, or until the task is cancelled."""
        async with stream:
            async for chunk in stream:
                if isinstance(chunk, CONTENT):
                    self.reading.set()

    def cancel(self, *, again: bool = False) -> None:
        """Cancel the task, natively; ``again`` for the second time."""
        if self._task is not None:
            self._task.cancel()
        else:
            self._scopes[not again].cancel()

    async def has_ended(self, within_s: float) -> bool:
        """Wait for the end, and return whether it came in time."""
        with anyio.move_on_after(within_s):
            await self.ended.wait()
        return self.ended.is_set()

    async def is_reading(self, within_s: float) -> bool:
        """Wait for the first content chunk, and return whether it came in time."""
        with anyio.move_on_after(within_s):
            await self.reading.wait()
        return self.reading.is_set()

    @property
    def was_cancelled(self) -> bool:
        """Whether the cancellation came out unchanged."""
        return isinstance(self.error, anyio.get_cancelled_exc_class())

    def how(self) -> str:
        """Return how it ended, in a few words."""
        if not self.ended.is_set():
            return "no end"
        if self.error is None:
            return "an end without an exception"
        return f"{type(self.error).__name__}: {self.error}".rstrip(": ")

    async def _run_in_scopes(self) -> None:
        outer, inner = self._scopes
        with outer, inner:
            await self._run()

    async def _run(self) -> None:
        try:
            await self._call(self)
        except anyio.get_cancelled_exc_class() as error:
            self.error = error
            raise
        except BaseException as error:  # noqa: BLE001 - why: the scenario looks at it
            self.error = error
        finally:
            self.ended.set()
