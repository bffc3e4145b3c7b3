"""Make text whole that was cut inside a surrogate pair.

JSON escapes a character beyond the BMP as two halves, and a server that cuts by UTF-16
units sends them in two payloads.
"""

from __future__ import annotations

from typing import Final

_HIGH_FIRST: Final = "\ud800"
_HIGH_LAST: Final = "\udbff"


class SurrogateJoiner:
    """Joins the halves over the texts of one block; a lone half becomes U+FFFD.

    What it returns can always be encoded as UTF-8.

    Attributes:
        held: A first half that waits for the next text; else empty, and ASCII need not be fed.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held = ""

    def feed(self, text: str) -> str:
        """Return ``text`` repaired; a first half at its end waits for the next text."""
        if text.isascii() and not self.held:
            return text
        try:
            text.encode()
            if not self.held:
                return text
        except UnicodeEncodeError:  # it holds a surrogate
            pass
        text = self.held + text
        self.held = ""
        if _HIGH_FIRST <= text[-1] <= _HIGH_LAST:
            self.held = text[-1]
            text = text[:-1]
        return _repaired(text)

    def flush(self) -> str:
        """Return what stands for a half that never got its other half; the block is over."""
        held, self.held = self.held, ""
        return _repaired(held)


def _repaired(text: str) -> str:
    # In UTF-16 a pair is one character, whichever escapes it came from.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
