"""Wait for a while, unless somebody has a reason to stop earlier."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel

from .. import AbortSignal, Deadline

if TYPE_CHECKING:
    from .._clock import Clock


async def pause(
    delay_ms: int,
    *,
    signal: AbortSignal | None = None,
    wake: anyio.Event | None = None,
    clock: Clock | None = None,
) -> None:
    """Return after ``delay_ms``, at an abort, or when ``wake`` is set; leave no timer behind.

    The caller looks at the signal afterwards: an abort of the very same instant wins.
    """
    if delay_ms <= 0:
        await anyio.lowlevel.checkpoint()
        return
    woken = wake or anyio.Event()
    timer = Deadline(delay_ms / 1000, on_expired=lambda _: woken.set(), clock=clock)
    release: Callable[[], None] | None = None
    try:
        if signal is not None:
            release = signal.on_abort(woken.set)
        await woken.wait()
    finally:
        timer.close()
        if release is not None:
            release()
