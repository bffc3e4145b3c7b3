"""How an exchange is framed: the bytes of its head, and what ends its body.

Pure. The rules, in order:

1. Headers that name a ``content-length`` or ``transfer-encoding`` decide, even if wrong.
2. ``body`` gets its Content-Length; ``steps`` are chunked, or end with the
   connection under ``connection: close``.
3. Neither gets ``Content-Length: 0``, and nothing at all for 204 and 304.
4. An ending that breaks the body must have something to break. So a length made
   here promises one byte more than is sent, and an exchange without any body is
   chunked (``short`` alone keeps a length, which is its meaning).
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Literal

from ._script import Exchange, Headers, Interim, steps_size

LAST_CHUNK: Final = b"0\r\n\r\n"
# RFC 9110, 6.4.1: these have no content, and no length either.
_WITHOUT_CONTENT: Final = frozenset({204, 304})
_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}


@dataclass(frozen=True, slots=True)
class Framing:
    """What goes before the body and how its end is told.

    Args:
        kind: ``chunked``, ``length`` or ``until-close``.
        head: Status line and headers, complete.
        promised: The Content-Length, in bytes; None without one that can be read.
        closes: The headers announce the end of the connection.

    """

    kind: Literal["chunked", "length", "until-close"]
    head: bytes
    promised: int | None = None
    closes: bool = False

    def wrap(self, data: bytes) -> bytes:
        """Return what goes on the wire for ``data``, which must not be empty."""
        if self.kind != "chunked":
            return data
        return b"%x\r\n%b\r\n" % (len(data), data)

    def is_complete(self, body_bytes: int) -> bool:
        """Whether a reader knows the body is whole once it has ``body_bytes`` of it.

        Without a length only the last chunk or the end of the connection can tell.
        """
        return self.kind == "length" and body_bytes == self.promised


def framing_of(exchange: Exchange) -> Framing:
    """Frame ``exchange``, which has a status."""
    if exchange.status is None:
        raise ValueError("an exchange without a status has no head")
    closes = "close" in exchange.value("connection")
    if exchange.names("content-length"):
        promised = _length(exchange.value("content-length"))
        return Framing("length", _head_of(exchange), promised, closes)
    if exchange.names("transfer-encoding"):
        chunked = "chunked" in exchange.value("transfer-encoding")
        kind: Literal["chunked", "until-close"] = "chunked" if chunked else "until-close"
        return Framing(kind, _head_of(exchange), closes=closes)
    return _framing_made_here(exchange, closes=closes)


def _framing_made_here(exchange: Exchange, *, closes: bool) -> Framing:
    if exchange.ending == "short":
        missing = 1
        length = len(exchange.body) if exchange.body is not None else steps_size(exchange.steps)
        return _with_length(exchange, length + missing, closes=closes)
    breaks = exchange.ending != "eof"
    if exchange.body is not None:
        return _with_length(exchange, len(exchange.body) + breaks, closes=closes)
    if not exchange.steps and exchange.status in _WITHOUT_CONTENT:
        return Framing("length", _head_of(exchange), 0, closes)
    if not exchange.steps and not breaks:
        return _with_length(exchange, 0, closes=closes)
    if closes:
        return Framing("until-close", _head_of(exchange), closes=True)
    return Framing("chunked", _head_of(exchange, (("transfer-encoding", "chunked"),)))


def _length(text: str) -> int | None:
    # 18 digits are an exabyte; int() itself raises beyond 4,300.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _with_length(exchange: Exchange, length: int, *, closes: bool) -> Framing:
    head = _head_of(exchange, (("content-length", str(length)),))
    return Framing("length", head, length, closes)


def _head_of(exchange: Exchange, framed_by: Headers = ()) -> bytes:
    return head_bytes(exchange.status or 0, exchange.headers + framed_by)


def interim_bytes(interim: Interim) -> bytes:
    """Return an informational response, complete."""
    return head_bytes(interim.status, interim.headers)


def head_bytes(status: int, headers: Headers) -> bytes:
    """Return status line, headers in order and the blank line."""
    lines = [f"HTTP/1.1 {status} {_PHRASES.get(status, '')}".encode("ascii")]
    for name, value in headers:
        raw = value if isinstance(value, bytes) else value.encode()
        lines.append(name.encode() + b": " + raw)
    return b"\r\n".join([*lines, b"", b""])
