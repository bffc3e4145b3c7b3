"""What a variant is. Pure values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .._case_file import ANY_DIALECT

Edit: TypeAlias = Callable[[bytes], bytes | None]


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to say the same.

    Attributes:
        name: In words, for a report.
        requirement: Id of what it shows.
        edits: By dialect, or for any: from the body's bytes to other ones; None where it does
            not fit.
        headers: Lines that go with it.
    """

    name: str
    requirement: str
    edits: Mapping[str, Edit]
    headers: tuple[tuple[str, str], ...] = ()

    def fits(self, dialects: Collection[str]) -> bool:
        """Whether it has a form in one of ``dialects``."""
        return not self.edits.keys().isdisjoint({ANY_DIALECT, *dialects})

    def apply(self, body: bytes, *, dialect: str) -> bytes | None:
        """Return other bytes that mean the same; None where there are none."""
        edit = self.edits.get(dialect) or self.edits.get(ANY_DIALECT)
        return None if edit is None else edit(body)
