"""Payloads that are alike but for one string: of the next one only that string is read.

A provider sends the same object around every piece of text. To parse it each time is two fifths
of all that an event costs.
"""

from __future__ import annotations

from collections.abc import Callable
from json import JSONDecoder
from typing import Final, Generic, NamedTuple, TypeVar

from .._dialect import Json
from .._wire_json import parse_json

M = TypeVar("M")

# Larger ones are images and documents, of which there is one; it need not be kept for the next.
_LARGEST_EXAMPLE_BYTES: Final = 4096
# Of one answer. Some servers send what is alike only by chance; each try parses a payload more.
_MOST_TRIES: Final = 64
# Stands in for the text, to see whether that is what is read: no payload says it.
_TRIAL: Final = "\ue000a text in place of the text\ue000"

# Documented, and in C but for one frame: a value and where it ends.
_value_at: Final = JSONDecoder().raw_decode


class _Example(NamedTuple):
    name: str
    data: bytes
    meaning: object
    text: str


class RepeatedPayload(Generic[M]):
    """Knows the bytes around the text, once two payloads in a row had the same ones.

    Its answer is the parser's own: between the same bytes, one JSON string in place of another
    leaves every other value as it was. That the string is what ``read`` returns was tried.

    Args:
        read: Returns what a payload means and its text, or None for one that says more; a
            function of the payload alone.
        passing_over: So many of the first ones are no examples: they come in one read with the
            first text, which learning would hold up.

    Attributes:
        meaning: What ``read`` said of the last payload whose text was found.
    """

    __slots__ = (
        "_before",
        "_behind",
        "_closing",
        "_example",
        "_name",
        "_passing_over",
        "_read",
        "_text_at",
        "_tries",
        "meaning",
    )

    meaning: M

    def __init__(
        self, read: Callable[[Json], tuple[M, str] | None], *, passing_over: int = 3
    ) -> None:
        self._read = read
        self._passing_over = passing_over
        self._name: str | None = None  # of the events; None while nothing is known
        self._before = b""  # up to the quotation mark that opens the text
        self._text_at = 0  # where the text begins, quotation mark included
        self._behind = ""  # from behind the one that closes it
        # That without spaces, where it is brackets and nothing else.
        self._closing: str | None = None
        self._example: _Example | None = None
        self._tries = _MOST_TRIES

    def text_of(self, name: str, data: bytes) -> str | None:
        """Return the text of an event's data, or None where it must be parsed."""
        if name != self._name or not data.startswith(self._before):
            return None
        try:
            rest = data[self._text_at :].decode()
            text: str
            text, end = _value_at(rest)
        except ValueError:  # no UTF-8, no JSON
            return None
        behind = rest[end:]
        # Anthropic pads its payloads with spaces, so that their lengths tell nothing.
        if behind != self._behind and behind.replace(" ", "") != self._closing:
            self._name = None  # what varies behind the text does so in each of them
            return None
        return text

    def learn(self, name: str, data: bytes, meaning: M, text: str) -> None:
        """Take what ``read`` returned of a payload that was parsed."""
        if self._passing_over:
            self._passing_over -= 1
            return
        example, self._example = self._example, None
        if len(data) <= _LARGEST_EXAMPLE_BYTES:
            self._example = _Example(name, data, meaning, text)
        if example is None or (example.name, example.meaning) != (name, meaning):
            return
        if self._tries == 0 or example.text == _TRIAL:
            return
        # Looked for as it is: a text that JSON escapes is not found, and the next one will be.
        quoted = b'"%b"' % example.text.encode("utf-8", "surrogatepass")
        before, found, behind = example.data.rpartition(quoted)
        closing = None if behind.strip(b" }]") else behind.replace(b" ", b"").decode()
        if found and data.startswith(before) and (closing or data.endswith(behind)):
            self._tries -= 1
            self._name, self._before, self._text_at = name, before + b'"', len(before)
            self._behind, self._closing = behind.decode("utf-8", "replace"), closing
            if self.text_of(name, data) != text or not self._is_read(behind, meaning):
                self._name = None

    def _is_read(self, behind: bytes, meaning: M) -> bool:
        """Whether what stands between the two is the text that ``read`` returns."""
        try:
            found = self._read(parse_json(b'%b%b"%b' % (self._before, _TRIAL.encode(), behind)))
        except ValueError:  # the same characters, elsewhere
            return False
        self.meaning = meaning
        return found == (meaning, _TRIAL)
