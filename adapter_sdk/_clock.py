"""Time. The only module that reads a clock or lets it wake anybody.

``asyncio`` and ``trio`` are imported where one of them runs, so that neither costs an import.
"""

from __future__ import annotations

import contextvars
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Timer(Protocol):
    """A wake-up that has been ordered."""

    def cancel(self) -> None:
        """Take it back; harmless once it has fired."""
        ...


class Clock(Protocol):
    """What the time-keeping parts ask of time; tests pass a manual one."""

    def monotonic(self) -> float:
        """Seconds since some fixed instant; never goes back."""
        ...

    def utc_now(self) -> datetime:
        """The wall clock, aware."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Call ``callback`` once ``monotonic()`` has reached ``when``; it does not raise."""
        ...


class AsyncioClock:
    """The clock of the running event loop."""

    def __init__(self) -> None:
        import asyncio

        self._loop = asyncio.get_running_loop()
        self.monotonic = self._loop.time
        # It is read twice a wait. The standard loop's method only calls this, at twice the price.
        if type(self._loop).time is asyncio.BaseEventLoop.time:
            self.monotonic = time.monotonic

    def utc_now(self) -> datetime:
        """See ``Clock``."""
        return datetime.now(UTC)

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """See ``Clock``."""
        # An empty context: a timer outlives nothing that the caller holds in its own.
        return self._loop.call_at(when, callback, context=contextvars.Context())


class TrioClock:
    """The clock of the running trio loop."""

    def __init__(self) -> None:
        import trio

        self._trio = trio
        self.monotonic = trio.lowlevel.current_clock().current_time

    def utc_now(self) -> datetime:
        """See ``Clock``."""
        return datetime.now(UTC)

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """See ``Clock``."""
        scope = self._trio.CancelScope()

        async def fire() -> None:
            with scope:
                await self._trio.sleep_until(when)
                callback()

        self._trio.lowlevel.spawn_system_task(fire, context=contextvars.Context())
        return scope


def wall_time_ms() -> int:
    """Return the wall clock: milliseconds since 1970 UTC. Needs no running loop."""
    return int(datetime.now(UTC).timestamp() * 1000)


def in_trio() -> bool:
    """Whether the caller runs in a trio task (also where a guest run shares an asyncio loop)."""
    # Another thread may be in the middle of importing trio: then nothing runs in it yet.
    lowlevel = getattr(sys.modules.get("trio"), "lowlevel", None)
    return lowlevel is not None and bool(lowlevel.in_trio_task())


def running_clock() -> Clock:
    """Return the clock of the loop that the caller runs in.

    Raises:
        RuntimeError: No asyncio or trio loop is running.
    """
    return TrioClock() if in_trio() else AsyncioClock()
