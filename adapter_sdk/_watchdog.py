"""Limits that run: idle and progress (rearmable), and a deadline (one shot).

A lazy timer: activity only notes the instant, and the one timer that is pending looks at the
last instant when it wakes. A scope or a timer for each read costs ten times that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ._clock import Clock, Timer, running_clock
from ._limits import checked_limit, checked_optional_limit


@dataclass(frozen=True, slots=True)
class Expiry:
    """Which limit ran out, of how many seconds, and the instant at which it was due."""

    limit: Literal["idle", "progress", "deadline"]
    seconds: float
    at: float


class IdleWatchdog:
    """Two clocks that run only while the caller waits for the next item.

    ``arm()`` when a wait begins, ``disarm()`` when it ends, ``pulse()`` for whatever arrives:
    any activity re-arms the idle limit, ``progress=True`` the progress limit as well. What
    arrives without ending the wait is told by ``pulse()`` alone. When a limit runs out during
    a wait, ``expired`` is set and ``on_expired`` is called with it, once.

    Args:
        idle_timeout: Seconds of waiting without any activity.
        progress_timeout: Seconds of waiting without progress; None switches it off.
        on_expired: Called from the loop; wakes the waiting caller and does not raise.
        clock: Defaults to the running loop's.

    Raises:
        ValueError: A limit is not positive, finite and at most 2,147,483.647 s.

    Source: contract section 4.
    """

    __slots__ = (
        "_armed",
        "_armed_at",
        "_call_at",
        "_idle_from_s",
        "_now",
        "_on_expired",
        "_progress_from_s",
        "_timer",
        "_waited_s",
        "expired",
        "idle_timeout",
        "progress_timeout",
    )

    def __init__(
        self,
        *,
        idle_timeout: float,
        progress_timeout: float | None = None,
        on_expired: Callable[[Expiry], None],
        clock: Clock | None = None,
    ) -> None:
        self.idle_timeout = checked_limit("idle_timeout", idle_timeout)
        self.progress_timeout = checked_optional_limit("progress_timeout", progress_timeout)
        self.expired: Expiry | None = None
        clock = clock or running_clock()
        self._now = clock.monotonic
        self._call_at = clock.call_at
        self._on_expired = on_expired
        self._timer: Timer | None = None
        # Both clocks are marks on a third one, that of all waits: a pause moves none of them.
        self._waited_s = self._idle_from_s = self._progress_from_s = 0.0
        self._armed = False
        self._armed_at = 0.0

    def arm(self) -> None:
        """A wait begins: the clocks go on from where they stood."""
        self._armed_at = self._now()
        self._armed = True
        if self._timer is None:
            self._timer = self._call_at(self._due().at, self._wake)

    def disarm(self) -> None:
        """The wait is over: the clocks stand still."""
        if self._armed:
            self._waited_s += self._now() - self._armed_at
            self._armed = False

    def pulse(self, *, progress: bool = False) -> None:
        """Note activity: an event or a comment, or ``progress``: text, reasoning, arguments."""
        if progress:
            self.progress()
        elif self._armed:
            self._idle_from_s = self._waited_s + self._now() - self._armed_at
        else:
            self._idle_from_s = self._waited_s

    def progress(self) -> None:
        """Note progress, as ``pulse(progress=True)`` does; of nearly all events it is called."""
        if self._armed:
            waited_s = self._waited_s + self._now() - self._armed_at
            self._idle_from_s = self._progress_from_s = waited_s
        else:
            self._idle_from_s = self._progress_from_s = self._waited_s

    def close(self) -> None:
        """Stop for good; nothing is called any more."""
        self._armed = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self) -> Expiry:
        """Return what runs out first if the wait goes on."""
        origin = self._armed_at - self._waited_s
        idle = Expiry("idle", self.idle_timeout, origin + self._idle_from_s + self.idle_timeout)
        if self.progress_timeout is None:
            return idle
        due = origin + self._progress_from_s + self.progress_timeout
        return idle if idle.at <= due else Expiry("progress", self.progress_timeout, due)

    def _wake(self) -> None:
        self._timer = None
        if not self._armed or self.expired is not None:
            return
        due = self._due()
        if due.at > self._now():
            self._timer = self._call_at(due.at, self._wake)
            return
        self.expired = due
        self._armed = False
        self._on_expired(due)


class Deadline:
    """One limit, one shot: ``on_expired`` is called once after ``seconds`` unless closed before.

    Raises:
        ValueError: ``seconds`` is not positive, finite and at most 2,147,483.647 s.
    """

    __slots__ = ("_on_expired", "_timer", "expired", "seconds")

    def __init__(
        self, seconds: float, *, on_expired: Callable[[Expiry], None], clock: Clock | None = None
    ) -> None:
        self.seconds = checked_limit("seconds", seconds)
        self.expired: Expiry | None = None
        self._on_expired = on_expired
        clock = clock or running_clock()
        at = clock.monotonic() + self.seconds
        self._timer: Timer | None = clock.call_at(at, lambda: self._fire(at))

    def _fire(self, at: float) -> None:
        if self._timer is None:
            return
        self._timer = None
        self.expired = Expiry("deadline", self.seconds, at)
        self._on_expired(self.expired)

    def close(self) -> None:
        """Take it back; harmless once it has expired."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
