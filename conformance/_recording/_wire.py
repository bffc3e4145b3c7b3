"""Read one recorded HTTP answer, read by read: heads, what frames the body, the body itself.

Pure. It is for answers that are at hand as a whole, so what does not fit is damage.
Source: RFC 9112 sections 4, 6 and 7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values in order, as spelt; bytes are Latin-1, so that none is lost."""

FramedBy: TypeAlias = Literal["chunked", "length", "until-close"]

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: [^\r\n]*)?")
# RFC 9112, 7.1: extensions may follow the size. Fifteen digits are more than any file holds.
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")

# RFC 9110, 6.4.1: these have no content, whatever their headers say.
_WITHOUT_CONTENT: Final = frozenset({204, 304})


class WireError(ValueError):
    """The bytes are no HTTP/1.x answer; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Head:
    """A status line and its headers."""

    status: int
    headers: Headers

    def value(self, name: str) -> str:
        """Return the first value of ``name`` (lower case), or nothing where it is absent."""
        return next((value for own, value in self.headers if own.lower() == name), "")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer.

    Attributes:
        interim: Informational heads before the final one.
        head: The final one, or None where no byte came.
        head_bytes: Size of all heads on the wire.
        head_read: Number of the read, from 0, in which the head ended.
        framed_by: What tells the end of the body.
        pieces: The body bytes of each read, without the framing; as many as there were reads.
        is_whole: Whether the framing is complete; ``until-close`` never tells.
    """

    interim: tuple[Head, ...]
    head: Head | None
    head_bytes: int
    head_read: int
    framed_by: FramedBy
    pieces: tuple[bytes, ...]
    is_whole: bool


def read_answer(reads: Iterable[bytes]) -> Answer:
    """Return the answer in ``reads``.

    Raises:
        WireError: No HTTP, an end inside the head, or bytes behind the end.
    """
    reader = _Reader()
    pieces, head_read = [], 0
    for number, data in enumerate(reads):
        before = reader.head
        pieces.append(reader.feed(data))
        if before is None and reader.head is not None:
            head_read = number
    if pieces and reader.head is None:
        raise WireError("the reads end inside the head")
    return Answer(
        interim=tuple(reader.interim),
        head=reader.head,
        head_bytes=reader.head_bytes,
        head_read=head_read,
        framed_by=reader.framed_by,
        pieces=tuple(pieces),
        is_whole=reader.is_whole,
    )


class _Reader:
    def __init__(self) -> None:
        self.interim: list[Head] = []
        self.head: Head | None = None
        self.head_bytes = 0
        self.framed_by: FramedBy = "until-close"
        self.is_whole = False
        self._buffer = bytearray()
        self._body = bytearray()
        self._left = 0
        # Takes what it can from the buffer; False where it needs more.
        self._step: Callable[[], bool] = self._take_head

    def feed(self, data: bytes) -> bytes:
        """Take the next read and return the body bytes in it."""
        self._buffer += data
        self._body.clear()
        while self._buffer and not self.is_whole:
            if not self._step():
                break
        if self.is_whole and self._buffer:
            raise WireError(f"{len(self._buffer)} bytes behind the end of the answer")
        return bytes(self._body)

    def _take_line(self) -> bytes | None:
        line, end, rest = self._buffer.partition(b"\r\n")
        if not end:
            return None
        self._buffer = rest
        return bytes(line)

    def _take_head(self) -> bool:
        block, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return False
        self._buffer = rest
        self.head_bytes += len(block) + len(end)
        head = _parsed_head(bytes(block))
        if head.status < 200:
            self.interim.append(head)
        else:
            self.head = head
            self._frame(head)
        return True

    def _frame(self, head: Head) -> None:
        length = head.value("content-length")
        if head.status in _WITHOUT_CONTENT:
            self.framed_by, self.is_whole = "length", True
        elif "chunked" in head.value("transfer-encoding").lower():
            self.framed_by, self._step = "chunked", self._take_chunk_size
        elif length:
            if not (length.isascii() and length.isdigit() and len(length) <= 15):
                raise WireError(f"content-length is no number: {length[:40]!r}")
            self.framed_by, self._step = "length", self._take_content
            self._left = int(length)
            self.is_whole = self._left == 0
        else:
            self._left, self._step = -1, self._take_content

    def _take_content(self) -> bool:
        size = len(self._buffer) if self._left < 0 else min(self._left, len(self._buffer))
        self._body += self._buffer[:size]
        del self._buffer[:size]
        if self._left >= 0:
            self._left -= size
            self.is_whole = self._left == 0
        return True

    def _take_chunk_size(self) -> bool:
        line = self._take_line()
        if line is None:
            return False
        size = _CHUNK_SIZE.fullmatch(line)
        if size is None:
            raise WireError(f"a chunk has no size: {line[:40]!r}")
        self._left = int(size[1], 16)
        self._step = self._take_chunk if self._left else self._take_trailer
        return True

    def _take_chunk(self) -> bool:
        size = min(self._left, len(self._buffer))
        self._body += self._buffer[:size]
        del self._buffer[:size]
        self._left -= size
        if self._left == 0:
            self._step = self._take_chunk_end
        return True

    def _take_chunk_end(self) -> bool:
        line = self._take_line()
        if line is None:
            return False
        if line:
            raise WireError(f"a chunk is longer than its size: {line[:40]!r}")
        self._step = self._take_chunk_size
        return True

    def _take_trailer(self) -> bool:
        line = self._take_line()
        self.is_whole = line == b""
        return line is not None


def _parsed_head(block: bytes) -> Head:
    first, *lines = block.split(b"\r\n")
    status = _STATUS_LINE.fullmatch(first)
    if status is None:
        raise WireError(f"no status line: {first[:40]!r}")
    headers = []
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not name or name != name.strip():
            raise WireError(f"no header line: {line[:40]!r}")
        headers.append((name, value.strip(" \t")))
    return Head(int(status[1]), tuple(headers))
