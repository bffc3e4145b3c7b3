"""Witnesses of lateness: how late this machine wakes the kit, while a play goes on.

A limit that runs out on a busy machine is no fault of the adapter. What is measured here decides
nothing: it earns another look with more room, in which a wrong adapter is wrong again.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from threading import Event, Thread
from typing import Final, Self

import anyio

# The narrowest case is silent for 0.9 of the limit: half of what is left for everything else.
LATE_SHARE: Final = 0.05

# How often a witness looks, as a share of the idle limit. It may not be a load itself.
_LOOKS: Final = 0.05


class LoopWitness:
    """Measures how late an event loop wakes up.

    Args:
        idle_s: The idle limit of the call, in seconds.
        now: The loop's clock, in seconds.
        sleep: Waits in the loop.
    """

    def __init__(
        self,
        idle_s: float,
        *,
        now: Callable[[], float] = anyio.current_time,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._idle_s, self._every_s = idle_s, _LOOKS * idle_s
        self._now, self._sleep = now, sleep
        self._due: float | None = None
        self._late_s = 0.0

    @property
    def late_s(self) -> float:
        """The longest delay so far, in seconds, also of a look that is still due."""
        if self._due is None:
            return self._late_s
        return max(self._late_s, self._now() - self._due)

    @property
    def is_late(self) -> bool:
        """Whether that may cost a verdict."""
        return self.late_s >= LATE_SHARE * self._idle_s

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Look again and again, until the block ends."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.run)
            yield
            group.cancel_scope.cancel()

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            self._late_s = self.late_s
            self._due = self._now() + self._every_s
            await self._sleep(self._every_s)


class ThreadWitness:
    """Measures how late a thread of this process wakes up, while it is entered.

    Args:
        idle_s: The idle limit of what is played meanwhile, in seconds.
        now: A monotonic clock, in seconds.
        wait: Waits so many seconds, or until the end; returns whether the end has come.
    """

    def __init__(
        self,
        idle_s: float,
        *,
        now: Callable[[], float] = time.monotonic,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._idle_s, self._every_s = idle_s, _LOOKS * idle_s
        self._over = Event()
        self._now, self._wait = now, wait or self._over.wait
        self._thread = Thread(target=self._run, name="dsh-witness", daemon=True)
        self.late_s = 0.0

    @property
    def is_late(self) -> bool:
        """Whether the longest delay so far, in ``late_s``, may cost a verdict."""
        return self.late_s >= LATE_SHARE * self._idle_s

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        over = False
        while not over:
            due = self._now() + self._every_s
            over = self._wait(self._every_s)
            self.late_s = max(self.late_s, self._now() - due)
