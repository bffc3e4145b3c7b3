"""What every log does before and after its backend stores a line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Protocol, Self, overload

from typing_extensions import override

from .._clock import wall_time_ms
from .._dialect import Json
from ._errors import InvariantError, LogClosedError, LogDamagedError
from ._event import Event, new_event
from ._invariants import AnyInvariant, Invariant, WholeLog
from ._progress import Progress
from ._surface import Surface


class SessionLog(Protocol):
    """A log of events. Not thread-safe: one task appends at a time, in one thread."""

    @property
    def events(self) -> Sequence[Event]:
        """Everything so far, oldest first; it grows with the log."""
        ...

    def append(
        self,
        type: str,  # noqa: A002 - why: the event's own word
        data: Mapping[str, Json],
        /,
        *,
        surface_op: str | None = None,
        source_event_seqs: Iterable[int] | None = None,
    ) -> Event:
        """Add an event. Synchronous: when it returns, the event outlives the process.

        Raises:
            ValueError: The data would not come back as they are, or a field breaks its rule.
            InvariantError: The event may not stand here.
            LogConflictError: Somebody else has written.
            LogWriteError: It could not be stored.
            LogClosedError: The log was closed, or an earlier write failed.
        """
        ...

    def close(self) -> None:
        """Let go of the file; a second time does nothing."""
        ...


class Events(Sequence[Event]):
    """A log's events to read, not a copy of them."""

    __slots__ = ("_events",)

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    @override
    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        found = self._events[index]
        return found if isinstance(found, Event) else tuple(found)

    @override
    def __len__(self) -> int:
        return len(self._events)

    @override
    def __iter__(self) -> Iterator[Event]:
        # As long as it was: whoever appends while it iterates does not run for ever.
        return islice(self._events, len(self._events))

    @override
    def __repr__(self) -> str:
        return f"<{len(self._events)} events>"


class AppendOnlyLog(ABC):
    """A ``SessionLog`` over a backend that stores one line after the other.

    Args:
        invariants: More that must hold, on load and on append; see ``Invariant``.
        now_ms: The wall clock, milliseconds since 1970 UTC.
    """

    def __init__(
        self,
        *,
        invariants: Iterable[AnyInvariant] = (),
        now_ms: Callable[[], int] = wall_time_ms,
    ) -> None:
        self._own: list[Event] = []
        self._surface = Surface()
        self._rules: list[Invariant] = [Progress()]
        self._whole: list[WholeLog] = []
        for rule in invariants:
            if isinstance(rule, WholeLog):
                self._whole.append(rule)
            elif callable(rule):
                self._whole.append(WholeLog(rule))
            else:
                self._rules.append(rule)
        self._now_ms = now_ms
        self._ended: str | None = None
        self.events: Sequence[Event] = Events(self._own)

    def append(
        self,
        type: str,  # noqa: A002 - why: the event's own word
        data: Mapping[str, Json],
        /,
        *,
        surface_op: str | None = None,
        source_event_seqs: Iterable[int] | None = None,
    ) -> Event:
        """See ``SessionLog``."""
        if self._ended is not None:
            raise LogClosedError(self._ended)
        event = new_event(
            type,
            data,
            seq=len(self._own),
            time_ms=self._now_ms(),
            surface_op=surface_op,
            source_event_seqs=None if source_event_seqs is None else tuple(source_event_seqs),
        )
        broken = self._problems(event)
        for rule in self._whole:
            if rule.concerns(event):
                broken += rule.check((*self._own, event))
        if broken:
            raise InvariantError(f"event {event.seq}: {'; '.join(broken)}")
        try:
            self._store(event)
        except BaseException:  # why: a full disk, a lost file, Ctrl-C within the write
            # Whether the line is there is unknown now; only opening again can tell.
            self._ended = "an earlier write of this log failed: open it again"
            self._release()
            raise
        self._take(event)
        return event

    def close(self) -> None:
        """See ``SessionLog``."""
        if self._ended is None:
            self._ended = "the log is closed"
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # ---- for backends --------------------------------------------------------------------

    @abstractmethod
    def _store(self, event: Event) -> None:
        """Store the line; it is there for good when this returns."""

    @abstractmethod
    def _release(self) -> None:
        """Let go of what was opened; called once."""

    def _load(self, event: Event, where: str, number: int) -> None:
        """Take an event that was stored before; ``where`` and ``number`` name its place.

        Raises:
            LogDamagedError: It may not stand here.
        """
        due = len(self._own)
        if event.seq != due:
            word = "is there twice" if event.seq < due else "comes after a gap"
            raise LogDamagedError(f"{where} {number}: event {event.seq} {word}, {due} is due")
        broken = self._problems(event)
        if broken:
            raise LogDamagedError(f"{where} {number}: {'; '.join(broken)}")
        self._take(event)

    def _loaded(self, where: str) -> None:
        """Check what was loaded as a whole; ``where`` names the log.

        Raises:
            LogDamagedError: A check of the whole log failed.
        """
        broken = [problem for rule in self._whole for problem in rule.check(self.events)]
        if broken:
            raise LogDamagedError(f"{where}: {'; '.join(broken)}")

    def _problems(self, event: Event) -> list[str]:
        if event.surface_op is not None and (problem := self._surface.problem(event)) is not None:
            return [problem]
        broken: list[str] = []
        for rule in self._rules:
            broken += rule.problems(event)
        return broken

    def _take(self, event: Event) -> None:
        self._own.append(event)
        if event.surface_op is not None:
            self._surface.take(event)
        for rule in self._rules:
            rule.take(event)
