"""Variants of the framing, for any dialect, and of the bytes around it."""

from __future__ import annotations

import zlib
from typing import Final

from .._case_file import ANY_DIALECT
from ._variant import Edit, Variant

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def only_line_feeds(body: bytes) -> bool:
    """Whether ``body`` is whole events with the usual line ends."""
    return b"\r" not in body and body.endswith(b"\n\n")


def _with_line_ends(end: bytes) -> Edit:
    return lambda body: body.replace(b"\n", end) if only_line_feeds(body) else None


def _between_events(filling: bytes) -> Edit:
    def apply(body: bytes) -> bytes | None:
        if not only_line_feeds(body) or body.startswith(_BYTE_ORDER_MARK):
            return None
        return filling + body.replace(b"\n\n", b"\n\n" + filling)

    return apply


def _without_spaces(body: bytes) -> bytes | None:
    if not only_line_feeds(body):
        return None
    return (b"\n" + body).replace(b"\ndata: ", b"\ndata:")[1:]


def _with_byte_order_mark(body: bytes) -> bytes | None:
    return None if body.startswith(_BYTE_ORDER_MARK) else _BYTE_ORDER_MARK + body


def _gzipped(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return packer.compress(body) + packer.flush()


def _with_an_unknown_key(body: bytes) -> bytes | None:
    return body.replace(b'data: {"', b'data: {"x_unknown":{"list":[1,null,"x"]},"')


def _framing(name: str, edit: Edit) -> Variant:
    return Variant(name, "sse-framing", {ANY_DIALECT: edit})


FRAMING_VARIANTS: Final = (
    _framing("CRLF line ends", _with_line_ends(b"\r\n")),
    _framing("CR line ends", _with_line_ends(b"\r")),
    _framing("comments between the events", _between_events(b": ping\n\n")),
    _framing("bare colons between the events", _between_events(b":\n\n")),
    _framing("empty events between the events", _between_events(b"data\n\n\n\n")),
    _framing("ids and retries between the events", _between_events(b"id: 1\nretry: 9\n\n")),
    _framing("no space after data:", _without_spaces),
    _framing("a byte order mark", _with_byte_order_mark),
    Variant(
        "gzip",
        "content-encoding",
        {ANY_DIALECT: _gzipped},
        headers=(("content-encoding", "gzip"),),
    ),
    Variant("an unknown key first", "unknown-fields", {ANY_DIALECT: _with_an_unknown_key}),
)
