"""A small parser for HTTP/1.1 requests: bytes in, whole requests out.

Own, not h11, because a witness reports what it saw: the spelling of header names,
their order, and requests that a strict parser would refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# A head without an end is a broken client. Real heads with long tokens stay far below.
LONGEST_HEAD_BYTES: Final = 1 << 20
_LENGTH_DIGITS: Final = 18  # an exabyte; int() itself raises beyond 4,300
_HEX_DIGITS: Final = frozenset(b"0123456789abcdefABCDEF")


class BadRequestError(ValueError):
    """The bytes are no HTTP/1.1 request; the message says where."""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """One request; header names and values as they came, in order, as Latin-1."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    keeps_alive: bool


@dataclass(frozen=True, slots=True)
class _Head:
    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]

    def value(self, name: str) -> str:
        return next((value.lower() for own, value in self.headers if own.lower() == name), "")


class RequestParser:
    """Feed it what arrives; ``next_request`` gives each request once it is whole."""

    def __init__(self) -> None:
        self._unread = bytearray()
        self._body = bytearray()
        self._head: _Head | None = None
        self._told_to_continue = False

    def feed(self, data: bytes) -> None:
        """Take bytes of any number, from part of a request to several."""
        self._unread += data

    def next_request(self) -> ParsedRequest | None:
        """Return the next whole request, or None until more bytes have come.

        Raises:
            BadRequestError: What came is no request; the parser is of no further use.

        """
        if self._head is None:
            self._head = self._take_head()
        head = self._head
        if head is None or not self._take_body(head):
            return None
        request = ParsedRequest(
            head.method, head.target, head.headers, bytes(self._body), _keeps_alive(head)
        )
        self._head, self._told_to_continue = None, False
        self._body.clear()
        return request

    def wants_continue(self) -> bool:
        """Whether the peer waits for ``100 Continue`` now; true once a request.

        Ask after ``next_request`` gave None.
        """
        head = self._head
        if head is None or self._told_to_continue or head.value("expect") != "100-continue":
            return False
        self._told_to_continue = True
        return not self._unread and not self._body

    def _take_head(self) -> _Head | None:
        while self._unread.startswith(b"\r\n"):  # RFC 9112, 2.2: ignore blank lines before one
            del self._unread[:2]
        end = self._unread.find(b"\r\n\r\n")
        if end < 0:
            if len(self._unread) > LONGEST_HEAD_BYTES:
                msg = f"no end of the head in {len(self._unread)} bytes"
                raise BadRequestError(msg)
            return None
        request_line, *lines = self._unread[:end].decode("latin-1").split("\r\n")
        del self._unread[: end + 4]
        match request_line.split(" "):
            case [method, target, version] if version.startswith("HTTP/1."):
                return _Head(method, target, version, tuple(_header(line) for line in lines))
            case _:
                msg = f"no request line: {request_line[:80]!r}"
                raise BadRequestError(msg)

    def _take_body(self, head: _Head) -> bool:
        if "chunked" in head.value("transfer-encoding"):
            return self._take_chunks()
        length = head.value("content-length") or "0"
        if not (length.isascii() and length.isdigit() and len(length) <= _LENGTH_DIGITS):
            msg = f"no content-length: {length[:80]!r}"
            raise BadRequestError(msg)
        missing = int(length) - len(self._body)
        self._body += self._unread[:missing]
        del self._unread[:missing]
        return len(self._body) == int(length)

    def _take_chunks(self) -> bool:
        while (line_end := self._unread.find(b"\r\n")) >= 0:
            size = _chunk_size(bytes(self._unread[:line_end]))
            if size == 0:
                return self._take_trailers(line_end)
            end = line_end + 2 + size
            if len(self._unread) < end + 2:
                return False
            if self._unread[end : end + 2] != b"\r\n":
                raise BadRequestError("a chunk without a line break behind it")
            self._body += self._unread[line_end + 2 : end]
            del self._unread[: end + 2]
        return False

    def _take_trailers(self, line_end: int) -> bool:
        # The last chunk's own line break is the first half of the blank line that
        # ends the trailers, whether there are any or none.
        end = self._unread.find(b"\r\n\r\n", line_end)
        if end < 0:
            return False
        del self._unread[: end + 4]
        return True


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        msg = f"no header: {line[:80]!r}"
        raise BadRequestError(msg)
    return name, value.strip(" \t")


def _chunk_size(line: bytes) -> int:
    digits = line.split(b";")[0].strip()
    if not digits or not set(digits) <= _HEX_DIGITS:
        msg = f"no chunk size: {line[:80]!r}"
        raise BadRequestError(msg)
    return int(digits, 16)


def _keeps_alive(head: _Head) -> bool:
    connection = head.value("connection")
    if head.version == "HTTP/1.0":
        return "keep-alive" in connection
    return "close" not in connection
