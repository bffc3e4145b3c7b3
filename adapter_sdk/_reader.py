"""Reads a source in a task of its own, for one consumer, under limits.

Why a task: a limit or an abort ends the *consumer's* wait, whatever the source does. A
transport that ignores cancellation (shielded, or stuck in a thread) cannot hold the caller.
The reader goes at most a few reads ahead of its consumer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import anyio

from ._abort import AbortSignal
from ._clock import Clock
from ._http import Source
from ._limits import CLOSING_S
from ._tasks import OwnTask, new_wakeup, spawn
from ._watchdog import Deadline, Expiry, IdleWatchdog

T = TypeVar("T")

# What may wait for a slow consumer. Many small reads, for each pause of the reader costs a turn
# of the loop; few large ones.
READ_AHEAD: Final = 64
# Few at first and twice as many after each pause: the first text does not wait for the next ones.
FIRST_READ_AHEAD: Final = 4
READ_AHEAD_BYTES: Final = 512 * 1024


@dataclass(frozen=True, slots=True)
class Aborted:
    """The caller's signal ended the wait, at this instant."""

    reason: str
    at: float


class Interrupted(Exception):
    """A wait that was ended from outside: by a limit or by the caller's signal."""

    def __init__(self, cause: Expiry | Aborted) -> None:
        super().__init__(cause)
        self.cause = cause


class _Mailbox(Generic[T]):
    """What the reading task and its consumer share.

    It knows nothing of the consumer, so a stream that is dropped is collected at once.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.items: deque[T] = deque()
        self.held_bytes = 0
        self.end: BaseException | None = None
        self.cause: Expiry | Aborted | None = None
        self.stopping = False
        self.closed = anyio.Event()
        self.arrival = new_wakeup()
        self.room = new_wakeup()
        # What ends with the call: limits that run, the task. Called once, in the loop.
        self.stops: list[Callable[[], None]] = []
        self.forget_abort: Callable[[], None] | None = None

    async def fill(self, source: Source[T]) -> None:
        """The reading task: everything that ends the source is kept for the consumer."""
        try:
            items, wake = self.items, self.arrival.wake
            ahead = FIRST_READ_AHEAD
            async for item in source:
                items.append(item)
                if isinstance(item, bytes):
                    self.held_bytes += len(item)
                wake()
                while len(items) >= ahead or self.held_bytes >= READ_AHEAD_BYTES:
                    await self.room.wait()
                    ahead = min(READ_AHEAD, 2 * ahead)
        except BaseException as error:  # noqa: BLE001 - why: the consumer gets it, unchanged
            # What the reader itself has asked for is no finding of the source.
            self.end = StopAsyncIteration() if self.stopping else error
        else:
            self.end = StopAsyncIteration()
        finally:
            try:
                await source.aclose()
            except BaseException as error:  # noqa: BLE001 - why: the first cause is kept
                self.end = error if self.end is None else self.end

    def stop(self) -> None:
        # Once only: a second cancellation would break off the closing that the first began.
        if self.stopping:
            return
        self.stopping = True
        if self.forget_abort is not None:
            self.forget_abort()
        stops, self.stops = self.stops, []
        for stop in stops:
            stop()

    def ended(self) -> None:
        if self.end is None:  # cancelled before it ran
            self.end = StopAsyncIteration()
        self.arrival.wake()
        self.closed.set()

    def expire(self, expiry: Expiry) -> None:
        if self.cause is None:
            self.cause = expiry
        self.arrival.wake()

    @property
    def cause_leaves_items(self) -> bool:
        """Whether what has arrived is still to be read: a deadline runs in pauses as well."""
        return isinstance(self.cause, Expiry) and self.cause.limit == "deadline"

    def abort(self, reason: str) -> None:
        at = self.clock.monotonic()
        # The first cause decides, by the instant at which it was due; a tie is the caller's.
        if self.cause is None or (isinstance(self.cause, Expiry) and at <= self.cause.at):
            self.cause = Aborted(reason, at)
        self.arrival.wake()


class Reader(Generic[T]):
    """One consumer's view of a source. Create it in the loop that will read.

    Args:
        source: Started at once; closed by the reader. Its exceptions reach the consumer
            unchanged, after everything that arrived before them.
        idle_timeout: See ``IdleWatchdog``.
        progress_timeout: See ``IdleWatchdog``.
        abort: Ends a wait with ``Interrupted``.
        clock: What the limits are measured on.

    Attributes:
        pulse: Notes activity; see ``IdleWatchdog.pulse``.
        progress: Notes progress; see ``IdleWatchdog.progress``.
    """

    def __init__(
        self,
        source: Source[T],
        *,
        idle_timeout: float,
        progress_timeout: float | None,
        abort: AbortSignal | None,
        clock: Clock,
    ) -> None:
        self._task: OwnTask | None = None
        box: _Mailbox[T] = _Mailbox(clock)
        self._box = box
        self._watchdog = IdleWatchdog(
            idle_timeout=idle_timeout,
            progress_timeout=progress_timeout,
            on_expired=box.expire,
            clock=clock,
        )
        self.pulse, self.progress = self._watchdog.pulse, self._watchdog.progress
        box.stops.append(self._watchdog.close)
        if abort is not None:
            signal = abort
            box.forget_abort = abort.on_abort(lambda: box.abort(signal.reason or "aborted"))
        self._task = task = spawn(lambda: box.fill(source), on_done=box.ended)
        box.stops.append(task.cancel)

    @property
    def cause(self) -> Expiry | Aborted | None:
        """What ended the call from outside: the first cause, of a tie the caller's signal."""
        return self._box.cause

    def deadline(self, seconds: float) -> Deadline:
        """Return a one-shot limit on this reader; close it once it is met."""
        limit = Deadline(seconds, on_expired=self._box.expire, clock=self._box.clock)
        self._box.stops.append(limit.close)
        return limit

    def ready(self) -> list[T]:
        """Return all items that are here: none where something has ended the call."""
        box = self._box
        if not box.items or (box.cause is not None and not box.cause_leaves_items):
            return []
        items = list(box.items)
        box.items.clear()
        box.held_bytes = 0
        box.room.wake()
        return items

    async def next(self) -> T:
        """Return the next item.

        Raises:
            StopAsyncIteration: The source has ended, or another task has closed the reader.
            Interrupted: A limit ran out or the signal fired; items that wait are left, but
                for those that arrived before a deadline.
            BaseException: Whatever the source raised.
        """
        box = self._box
        while True:
            if box.cause is not None and not (box.items and box.cause_leaves_items):
                raise Interrupted(box.cause)
            if box.items:
                item = box.items.popleft()
                if isinstance(item, bytes):
                    box.held_bytes -= len(item)
                box.room.wake()
                return item
            if box.end is not None:
                raise box.end
            self._watchdog.arm()
            try:
                await box.arrival.wait()
            finally:
                self._watchdog.disarm()

    async def aclose(self) -> None:
        """Close the source; returns when it has closed, or without it after ``CLOSING_S``."""
        self._box.stop()
        if not self._box.closed.is_set():
            with anyio.move_on_after(CLOSING_S, shield=True):
                await self._box.closed.wait()

    def __del__(self) -> None:
        # From the garbage collector, so in any thread and at any point of the loop's own work,
        # where neither loop can be told to cancel something: it is told to do so later.
        box, task = self._box, self._task
        if task is not None and not box.stopping:
            if box.forget_abort is not None:  # needs no loop, and there may be none any more
                box.forget_abort()
            task.call_soon(box.stop)
