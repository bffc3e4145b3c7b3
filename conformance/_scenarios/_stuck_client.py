"""A client whose reads ignore cancellation, until the scenario lets them go."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

import anyio
import anyio.to_thread

from .._good_streams import EVENT_STREAM
from ._raising_client import COMMENT, Place

Grip: TypeAlias = Literal["shielded", "thread"]

# The last resort: no thread outlives a scenario that breaks.
_THREAD_LIMIT_S: Final = 20.0


class StuckClient:
    """See the module. Make it in the loop that uses it.

    Attributes:
        client: An ``AsyncClient``; its answer, or the body behind a comment, never comes.
    """

    def __init__(self, library: ModuleType, *, grip: Grip, at: Place) -> None:
        self._library: Any = library
        self._grip = grip
        self._released = anyio.Event()
        self._thread_may_go = threading.Event()
        self._waits = 0
        self._last_wait_over = anyio.Event()
        self.client = self._new_client(at)

    async def release(self, *, within_s: float) -> None:
        """Let every read go, and wait until each has gone."""
        self._thread_may_go.set()
        self._released.set()
        with anyio.move_on_after(within_s):
            while self._waits:
                await self._last_wait_over.wait()

    async def _hold(self) -> None:
        self._waits += 1
        try:
            if self._grip == "thread":
                await anyio.to_thread.run_sync(self._thread_may_go.wait, _THREAD_LIMIT_S)
            else:
                await self._wait_shielded()
        finally:
            self._waits -= 1
            if not self._waits:
                self._last_wait_over.set()
                self._last_wait_over = anyio.Event()
        raise self._library.ReadError("let go by the kit")

    async def _wait_shielded(self) -> None:
        while not self._released.is_set():
            try:
                with anyio.CancelScope(shield=True):
                    await self._released.wait()
            except asyncio.CancelledError:  # a task's own ``cancel`` passes every scope
                continue

    def _new_client(self, at: Place) -> Any:
        http: Any = self._library
        hold = self._hold

        class Body(http.AsyncByteStream):  # type: ignore[misc]  # why: two libraries, one base
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield COMMENT
                await hold()

        class Transport(http.AsyncBaseTransport):  # type: ignore[misc]  # why: as above
            async def handle_async_request(self, request: Any) -> Any:
                await request.aread()
                if at == "send":
                    await hold()
                return http.Response(200, headers=EVENT_STREAM, stream=Body())

        return http.AsyncClient(transport=Transport(), timeout=None)
