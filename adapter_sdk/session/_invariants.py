"""What must hold of a log, on every append and on every load."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ._event import Event
from .vocabulary import ASSISTANT_CHUNK


class Invariant(Protocol):
    """A rule that looks at one event after the other, so that a log stays linear in them."""

    def problems(self, event: Event) -> Iterable[str]:
        """Return what ``event`` would break as the next one. Changes nothing."""
        ...

    def take(self, event: Event) -> None:
        """Take the event, which is in the log now."""
        ...


WholeLogCheck: TypeAlias = Callable[[Sequence[Event]], Iterable[str]]
"""A rule that looks at all events at once and returns what is broken."""


@dataclass(frozen=True, slots=True)
class WholeLog:
    """A check of the whole log: run once on load, and whenever an event of ``types`` comes.

    Attributes:
        check: See ``WholeLogCheck``.
        types: Types that can break it; None: every type but ``assistant/chunk``. Each run costs
            the length of the log, so name the types where they are known.
    """

    check: WholeLogCheck
    types: frozenset[str] | None = None

    def concerns(self, event: Event) -> bool:
        """Whether ``event`` can break it."""
        if self.types is None:
            return event.type != ASSISTANT_CHUNK
        return event.type in self.types


AnyInvariant: TypeAlias = Invariant | WholeLog | WholeLogCheck
