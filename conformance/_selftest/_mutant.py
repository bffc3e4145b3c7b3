"""What a mutant is: a name, its one fault, and what must become of it. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_INVARIANT = "in_every_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """An adapter that is broken in exactly one way.

    Attributes:
        name: Unique, in words joined by hyphens.
        broken: The fault in one sentence, with the adapter as its subject.
        factory: As for a target: a class with ``declaration``.
        trips: What must not pass, and the words that a difference of it must hold. A key is
            the id of a requirement (any of its checks) or of one check. Whatever else does
            not pass is an error.
    """

    name: str
    broken: str
    factory: Callable[..., Any]
    trips: Mapping[str, str]

    @property
    def requirements(self) -> frozenset[str]:
        """Ids of the requirements that it must trip."""
        return frozenset(requirement_of(key) for key in self.trips)


def requirement_of(key: str) -> str:
    """Return the requirement of an id of a requirement or of a check."""
    return key.split("/")[0].replace("_", "-")


def in_every_call(requirement: str) -> str:
    """Return the id of the check that holds for every call of a run."""
    return f"{requirement.replace('-', '_')}/{_INVARIANT}"
