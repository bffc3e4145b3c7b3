"""A run under virtual time in which nothing will ever happen."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOOPS: Final = frozenset({"asyncio", "trio", "anyio"})


class DeadlockError(RuntimeError):
    """Every task waits and no timer is set; the message names who waits where."""

    def __init__(self, coroutines: Iterable[object]) -> None:
        waiting = "; ".join(sorted(_place(coroutine) for coroutine in coroutines))
        super().__init__(f"deadlock: nothing will ever happen; waiting: {waiting}")


def _place(coroutine: object) -> str:
    """Follow what ``coroutine`` awaits down to the last line that is not a loop's own."""
    place = "unknown"
    inner: object | None = coroutine
    while inner is not None:
        frame = getattr(inner, "cr_frame", None) or getattr(inner, "gi_frame", None)
        if frame is not None and frame.f_globals.get("__name__", "").split(".")[0] not in _LOOPS:
            file = PurePath(frame.f_code.co_filename).name
            place = f"{frame.f_code.co_qualname} ({file}:{frame.f_lineno})"
        inner = getattr(inner, "cr_await", None) or getattr(inner, "gi_yieldfrom", None)
    return place
