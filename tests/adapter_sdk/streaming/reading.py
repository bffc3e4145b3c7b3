"""A source that does what it is told to, a reader of it, and what one wait came to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio

from adapter_sdk import AbortSignal
from adapter_sdk._clock import Clock, running_clock
from adapter_sdk._reader import Interrupted, Reader
from adapter_sdk.testing import run_virtual

from .lanes import Backend
from .waiting import at_least

IDLE_S = 10.0


@dataclass
class Source:
    """Yields what it is told to; notes how far it came and whether it was closed."""

    script: tuple[object, ...]
    yielded: int = 0
    closed: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> AsyncGenerator[str, None]:
        try:
            for step in self.script:
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, (int, float)):
                    await at_least(step)
                else:
                    self.yielded += 1
                    yield str(step)
        finally:
            self.closed.set()


def reading(
    source: AsyncGenerator[str, None],
    *,
    idle: float = IDLE_S,
    progress: float | None = None,
    abort: AbortSignal | None = None,
    clock: Clock | None = None,
) -> Reader[str]:
    return Reader(
        source,
        idle_timeout=idle,
        progress_timeout=progress,
        abort=abort,
        clock=clock or running_clock(),
    )


async def outcome(reader: Reader[str]) -> tuple[float, object]:
    """Return when ``next`` came back, and what it returned or raised."""
    try:
        item: object = await reader.next()
    except Interrupted as interruption:
        item = interruption.cause
    except BaseException as error:  # noqa: BLE001 - why: it is compared by the test
        item = error
    return anyio.current_time(), item


def run(backend: Backend, test: Callable[[], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        return await test()

    return run_virtual(backend, main)
