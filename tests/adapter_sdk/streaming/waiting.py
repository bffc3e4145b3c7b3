"""Wait without a sleep: for the other tasks, for a time span, for an instant."""

from __future__ import annotations

import anyio
import anyio.lowlevel


async def settle() -> None:
    """Let every other task go as far as it can without time."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


async def until(when: float) -> None:
    with anyio.move_on_after(when - anyio.current_time()):
        await anyio.Event().wait()


async def at_least(seconds: float) -> None:
    with anyio.move_on_after(seconds):
        await anyio.Event().wait()
