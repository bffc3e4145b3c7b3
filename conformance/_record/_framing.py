"""Find the end of one HTTP/1.x message in bytes that are still coming. Pure.

It serves a recorder, which forwards whatever comes: what cannot be understood goes on until the
connection ends, and ``trouble`` says why. Source: RFC 9112 sections 2, 6 and 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["request", "response"]
Lines: TypeAlias = tuple[tuple[str, str], ...]

# Real heads with long tokens stay far below; more is no head.
LONGEST_HEAD_BYTES: Final = 1 << 20
_CHUNK_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")
_STATUS_LINE: Final = re.compile(r"HTTP/1\.[01] ([1-9][0-9]{2})(?: .*)?")
_REQUEST_LINE: Final = re.compile(r"[!-~]+ [!-~\x80-\xff]+ HTTP/1\.[01]")
# RFC 9110, 6.4.1 and 9.3.2: no content, whatever the headers say.
_WITHOUT_CONTENT: Final = frozenset({204, 304})
_SWITCHING: Final = 101


class MessageEnd:
    """Takes a message as it comes and knows when it is whole.

    Args:
        kind: Which of the two it is.
        of_head_request: Of a response: it answers HEAD, so it ends with its head.

    Attributes:
        start_line: Of the last head, or empty before it.
        headers: Of the last head: names and values in order, Latin-1.
        head_bytes: Size of all heads, or 0 before the final one is whole.
        status: Of a response's final head, or None.
        is_whole: Everything came that the head promised.
        ends_with_connection: Only the end of the connection tells the end of the message.
        is_chunked: Its chunks tell the end, so that it can come without more content.
        trouble: What could not be understood, or empty.
        content: Of a request: its body so far, without the framing.
        content_bytes: Size of the body so far, without the framing; not counted where only the
            end of the connection ends it.
    """

    def __init__(self, kind: Kind, *, of_head_request: bool = False) -> None:
        self._kind = kind
        self._of_head_request = of_head_request
        self._line = bytearray()
        self._left = 0
        self._heads = 0
        # Takes what it can of some bytes and says how many those were; always at least one.
        self._step: Callable[[bytes], int] = self._take_head
        self.start_line = ""
        self.headers: Lines = ()
        self.head_bytes = 0
        self.status: int | None = None
        self.is_whole = False
        self.ends_with_connection = False
        self.trouble = ""
        self.content = bytearray()
        self.content_bytes = 0
        self.is_chunked = False

    def feed(self, data: bytes) -> int:
        """Take ``data``; return how many of its bytes belong to this message."""
        taken = 0
        while taken < len(data) and not self.is_whole:
            taken += self._step(data[taken:])
        return taken

    def value(self, name: str) -> str:
        """Return the first value of ``name`` (lower case), or nothing where it is absent."""
        return next((value for own, value in self.headers if own.lower() == name), "")

    def _take_head(self, data: bytes) -> int:
        before = len(self._line)
        self._line += data
        end = self._line.find(b"\r\n\r\n", max(0, before - 3))
        if end < 0:
            if len(self._line) > LONGEST_HEAD_BYTES:
                self._give_up("a head without an end")
            return len(data)
        head = bytes(self._line[:end])
        self._line.clear()
        self._heads += end + 4
        self._understand(head)
        return end + 4 - before

    def _understand(self, head: bytes) -> None:
        self.start_line, *lines = head.decode("latin-1").split("\r\n")
        self.headers = tuple(_header(line) for line in lines)
        if self._kind == "request":
            if _REQUEST_LINE.fullmatch(self.start_line) is None:
                self._give_up(f"no request line: {self.start_line[:40]!r}")
            else:
                self._frame_request()
            return
        status = _STATUS_LINE.fullmatch(self.start_line)
        if status is None:
            self._give_up(f"no status line: {self.start_line[:40]!r}")
        elif int(status[1]) >= 200 or int(status[1]) == _SWITCHING:
            self.status = int(status[1])
            self._frame_response(self.status)

    def _frame_request(self) -> None:
        self.head_bytes = self._heads
        if not self._frame_by_headers():
            self.is_whole = True

    def _frame_response(self, status: int) -> None:
        self.head_bytes = self._heads
        if self._of_head_request or status in _WITHOUT_CONTENT:
            self.is_whole = True
        elif status == _SWITCHING or not self._frame_by_headers():
            self._until_the_end()

    def _frame_by_headers(self) -> bool:
        length = self.value("content-length")
        if "chunked" in self.value("transfer-encoding").lower():
            self.is_chunked, self._step = True, self._take_chunk_size
        elif length.isascii() and length.isdigit() and len(length) <= 15:
            self._left, self._step = int(length), self._take_content
            self.is_whole = self._left == 0
        elif length:
            self._give_up(f"content-length is no number: {length[:40]!r}")
        else:
            return False
        return True

    def _give_up(self, why: str) -> None:
        self.trouble, self.is_chunked = why, False
        self._until_the_end()

    def _until_the_end(self) -> None:
        self.ends_with_connection = True
        self._step = len

    def _take_content(self, data: bytes) -> int:
        size = self._taken(data)
        self.is_whole = self._left == 0
        return size

    def _taken(self, data: bytes) -> int:
        size = min(self._left, len(data))
        self._left -= size
        self.content_bytes += size
        if self._kind == "request":
            self.content += data[:size]
        return size

    def _take_line(self, data: bytes, then: Callable[[bytes], None]) -> int:
        end = data.find(b"\n")
        if end < 0:
            self._line += data
            if len(self._line) > LONGEST_HEAD_BYTES:
                self._give_up("a line of a chunked body without an end")
            return len(data)
        line = bytes(self._line) + data[: end + 1]
        self._line.clear()
        then(line.rstrip(b"\r\n"))
        return end + 1

    def _take_chunk_size(self, data: bytes) -> int:
        return self._take_line(data, self._begin_chunk)

    def _begin_chunk(self, line: bytes) -> None:
        size = _CHUNK_SIZE.fullmatch(line)
        if size is None:
            self._give_up(f"a chunk has no size: {line[:40]!r}")
            return
        self._left = int(size[1], 16)
        self._step = self._take_chunk if self._left else self._take_trailer

    def _take_chunk(self, data: bytes) -> int:
        size = self._taken(data)
        if self._left == 0:
            self._step = self._take_chunk_end
        return size

    def _take_chunk_end(self, data: bytes) -> int:
        return self._take_line(data, self._end_chunk)

    def _end_chunk(self, line: bytes) -> None:
        self._step = self._take_chunk_size
        if line:
            self._give_up(f"a chunk is longer than its size: {line[:40]!r}")

    def _take_trailer(self, data: bytes) -> int:
        return self._take_line(data, self._end_trailer)

    def _end_trailer(self, line: bytes) -> None:
        self.is_whole = not line


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip(), value.strip(" \t")
