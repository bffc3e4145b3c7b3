"""A clock that only a test moves."""

from __future__ import annotations

import heapq
import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class ManualClock:
    """See ``Clock``: starts at 0.0 s and at ``wall``, and stands until ``advance``."""

    def __init__(self, *, wall: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        self._now = 0.0
        self._wall = wall
        self._order = itertools.count()
        self._timers: list[tuple[float, int, _ManualTimer]] = []
        self.timers_made = 0

    def monotonic(self) -> float:
        """See ``Clock``."""
        return self._now

    def utc_now(self) -> datetime:
        """See ``Clock``."""
        return self._wall + timedelta(seconds=self._now)

    def call_at(self, when: float, callback: Callable[[], None]) -> _ManualTimer:
        """See ``Clock``."""
        timer = _ManualTimer(callback)
        self.timers_made += 1
        heapq.heappush(self._timers, (when, next(self._order), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Move on, and fire each timer at its own instant on the way, in order."""
        until = self._now + seconds
        while self._timers and self._timers[0][0] <= until:
            when, _, timer = heapq.heappop(self._timers)
            self._now = max(self._now, when)
            timer.fire()
        self._now = until

    @property
    def pending(self) -> int:
        """Timers that have neither fired nor been cancelled."""
        return sum(timer.is_pending for _, _, timer in self._timers)


class _ManualTimer:
    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback: Callable[[], None] | None = callback

    @property
    def is_pending(self) -> bool:
        return self._callback is not None

    def cancel(self) -> None:
        self._callback = None

    def fire(self) -> None:
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()
