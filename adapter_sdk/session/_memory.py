"""A log that lasts as long as the process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from typing_extensions import override

from ._event import Event
from ._invariants import AnyInvariant
from ._log import AppendOnlyLog


class MemoryLog(AppendOnlyLog):
    """A ``SessionLog`` in memory: for tests, and for conversations that nobody keeps."""

    @classmethod
    def of(
        cls,
        events: Iterable[tuple[int, Event]],
        *,
        name: str = "the log",
        unit: str = "event",
        invariants: Iterable[AnyInvariant] = (),
    ) -> Self:
        """Return a log of events, each behind the number of its place, counted in ``unit``.

        Raises:
            LogDamagedError: A number is missing or there twice, or an invariant does not hold.
        """
        log = cls(invariants=invariants)
        where = f"{name}, {unit}"
        for number, event in events:
            log._load(event, where, number)
        log._loaded(name)
        return log

    @override
    def _store(self, event: Event) -> None:
        # What the others would refuse to write is refused here too.
        event.line()

    @override
    def _release(self) -> None:
        """Nothing was opened."""
