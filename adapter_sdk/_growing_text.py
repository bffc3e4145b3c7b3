"""Text that comes in fragments, until it is asked for as a whole."""

from __future__ import annotations

from io import StringIO
from typing import Final

# From this size a fragment stays the string that it is. Larger ones are images and documents in
# one event: writing them and reading them back are two copies more, into new pages each time.
_LARGE_CHARACTERS: Final = 64 * 1024


class GrowingText:
    """Fragments, one after the other. Small ones are written together.

    A list of them all would take ten times their text.
    """

    __slots__ = ("_parts", "_written")

    def __init__(self) -> None:
        self._parts: list[str] = []  # large fragments, and what was written between them
        self._written = StringIO()  # what came after the last of them

    def __bool__(self) -> bool:
        return bool(self._parts or self._written.tell())

    def add(self, fragment: str) -> None:
        """Take the next fragment."""
        if len(fragment) < _LARGE_CHARACTERS:
            self._written.write(fragment)
            return
        if self._written.tell():
            self._parts.append(self._written.getvalue())
            self._written = StringIO()
        self._parts.append(fragment)

    def whole(self) -> str:
        """Return all fragments as one string; more may follow."""
        if not self._parts:
            return self._written.getvalue()
        if not self._written.tell():
            return "".join(self._parts)  # a single string is returned as it is
        return "".join((*self._parts, self._written.getvalue()))
