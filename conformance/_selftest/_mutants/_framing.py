"""Bytes misread: line ends, comments, characters, sizes, compression."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import zlib
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Final

from typing_extensions import override

from adapter_sdk import BlockEnd, Chunk, LlmRequest, ProtocolFault, TextBlock, TextDelta, codes

from .._altering import Altered, BytesEdit, failing, items_of, receiving, translating
from .._good import Good
from .._mutant import Mutant

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def _rewritten(pattern: bytes, replacement: bytes) -> type[Good]:
    """Return an adapter that reads ``pattern`` as ``replacement`` in every good answer."""
    compiled = re.compile(pattern)
    return receiving(lambda: lambda data: compiled.sub(replacement, data), status=200)


def _new_line_at_lf_behind_cr() -> BytesEdit:
    last = b""

    def edit(data: bytes) -> bytes:
        nonlocal last
        doubled = last.endswith(b"\r") and data.startswith(b"\n")
        last = data
        return b"\n" + data if doubled else data

    return edit


def _only_whole_events() -> BytesEdit:
    def edit(data: bytes) -> bytes:
        starts = (b"data", b":", b"event", b"id", b"retry", b"\n", b"\r", _BYTE_ORDER_MARK)
        return data if data.startswith(starts) or data[:1] in b"{[<\x1f" else b"\n\n" + data

    return edit


class _ByCharset(Good):
    """Decodes by the charset that the header names."""

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        charset = ""
        async with contextlib.aclosing(items_of(super().exchange(request))) as source:
            async for item in source:
                if hasattr(item, "status"):
                    kinds = " ".join(item.values("content-type"))
                    charset = "latin-1" if "8859-1" in kinds else ""
                if isinstance(item, bytes) and charset:
                    yield item.decode(charset).encode()
                else:
                    yield item


class _HalvesStay(Altered):
    """Hands out the half of a surrogate pair that stays alone."""

    half = False

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        self.half = self.half or b"\\ud83d" in data
        for chunk in self.inner.event(name, data):
            match chunk:
                case TextDelta(index, text) if self.half:
                    yield TextDelta(index, text.replace("\ufffd", "\ud83d"))
                case BlockEnd(index, TextBlock(text)) if self.half:
                    yield BlockEnd(index, TextBlock(text.replace("\ufffd", "\ud83d")))
                case _:
                    yield chunk


class _BrokenPayloadsAreSkipped(Altered):
    """Goes on behind a payload that is no JSON."""

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        try:
            return self.inner.event(name, data)
        except ProtocolFault as fault:
            if "is no JSON" not in fault.message:
                raise
            return ()


class _OtherShapesAreSkipped(Altered):
    """Goes on behind a payload that is JSON and no object."""

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        try:
            return self.inner.event(name, data)
        except ProtocolFault as fault:
            if "not an object" not in fault.message:
                raise
            return ()


class _NullIsMalformed(Altered):
    """Fails for a payload of null."""

    @override
    def event(self, name: str, data: bytes) -> Iterable[Chunk]:
        if data.strip() == b"null":
            raise ProtocolFault(codes.MALFORMED_RESPONSE, "a payload is null")
        return self.inner.event(name, data)


class _SmallEvents(Good):
    """Allows events of a mebibyte at most."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "event_limit_bytes": 1 << 20})


class _Compressed(Good):
    """Decodes gzip itself; ``decode`` says how."""

    @staticmethod
    def decode() -> Callable[[bytes], bytes]:
        """Return a function for one body."""
        return lambda data: data

    @override
    async def exchange(self, request: LlmRequest) -> AsyncGenerator[Any, None]:
        decode: Callable[[bytes], bytes] | None = None
        async with contextlib.aclosing(items_of(super().exchange(request))) as source:
            async for item in source:
                if hasattr(item, "status"):
                    zipped = item.status == 200 and item.values("content-encoding") == ["gzip"]
                    decode = self.decode() if zipped else None
                    yield _without_coding(item) if zipped else item
                elif isinstance(item, bytes) and decode is not None:
                    yield decode(item)
                else:
                    yield item


def _without_coding(head: Any) -> Any:
    lines = [(n, v) for n, v in head.headers if n.lower() != "content-encoding"]
    return dataclasses.replace(head, headers=lines)


class _GzipUnread(_Compressed):
    """Does not know gzip."""


class _FirstMemberOnly(_Compressed):
    """Stops behind the first gzip member."""

    @staticmethod
    @override
    def decode() -> Callable[[bytes], bytes]:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress


class _TrailerUnchecked(_Compressed):
    """Decodes gzip without its checksum, and what is damaged as nothing."""

    @staticmethod
    @override
    def decode() -> Callable[[bytes], bytes]:
        inflating = zlib.decompressobj(-zlib.MAX_WBITS)
        head = b""

        def decode(data: bytes) -> bytes:
            nonlocal head
            if len(head) < 10:
                head, data = (head + data)[:10], (head + data)[10:]
            try:
                return inflating.decompress(data)
            except zlib.error:
                return b""

        return decode


MUTANTS: Final = (
    Mutant(
        name="cr-is-no-line-end",
        broken="Does not know a lone CR as a line end.",
        factory=_rewritten(rb"\r(?!\n)", b" "),
        trips={"sse-framing": "outcome: expected success, got failure STREAM_CLOSED"},
    ),
    Mutant(
        name="crlf-is-no-line-end",
        broken="Knows LF alone as a line end.",
        factory=_rewritten(rb"\r\n", b" \n"),
        trips={"sse-framing": "outcome: expected success, got failure STREAM_CLOSED"},
    ),
    Mutant(
        name="crlf-over-two-reads-is-two-line-ends",
        broken="Takes a CRLF that is cut in two for two line ends.",
        factory=receiving(_new_line_at_lf_behind_cr, status=200),
        trips={"sse-framing": "got failure"},
    ),
    Mutant(
        name="each-read-is-an-event",
        broken="Takes the end of a read for the end of an event.",
        factory=receiving(_only_whole_events, status=200),
        trips={"sse-framing": "got failure"},
    ),
    Mutant(
        name="byte-order-mark-belongs-to-the-first-field",
        broken="Does not cut off a byte order mark.",
        factory=_rewritten(rb"^\xef\xbb\xbf", _BYTE_ORDER_MARK * 2),
        trips={"sse-framing": "outcome: expected success, got failure EMPTY_RESPONSE"},
    ),
    Mutant(
        name="comments-are-data",
        broken="Takes a comment for a line of data.",
        factory=_rewritten(rb"(?m)^:(?= [A-Z]|\n)", b"data:"),
        trips={"sse-framing": "got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="data-needs-a-space",
        broken="Reads data only where a space follows the colon.",
        factory=_rewritten(rb"(?m)^data:(?! )", b"date:"),
        trips={"sse-framing": "outcome: expected success, got failure STREAM_CLOSED"},
    ),
    Mutant(
        name="only-the-last-data-line",
        broken="Keeps only the last of several data lines.",
        factory=_rewritten(rb"data: [^\n]*\n(?=data: )", b""),
        trips={"sse-framing": "got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="fields-without-data-are-an-event",
        broken="Dispatches an event that has an id and no data.",
        factory=_rewritten(rb"(?m)^retry: ?[0-9]+$", b"data: ?"),
        trips={"sse-framing": "got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="empty-data-is-json",
        broken="Parses the empty data of an event.",
        factory=_rewritten(rb"(?m)^data: ?$", b"data: ?"),
        trips={"sse-framing": "got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="separators-of-unicode-end-a-line",
        broken="Ends lines where str.splitlines does.",
        factory=_rewritten(rb"\xe2\x80[\xa8\xa9]|\xc2\x85", b"\n"),
        trips={"sse-framing": "got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="each-read-is-decoded-alone",
        broken="Decodes each read as UTF-8 by itself.",
        factory=receiving(
            lambda: (
                lambda data: (
                    data if data[:1] == b"\x1f" else data.decode("utf-8", "replace").encode()
                )
            ),
            status=200,
        ),
        trips={"sse-utf8": "text: expected '你', got"},
    ),
    Mutant(
        name="decodes-by-the-charset-of-the-header",
        broken="Decodes by the charset that the header names.",
        factory=_ByCharset,
        trips={"sse-utf8": "text: expected '你é', got"},
    ),
    Mutant(
        name="invalid-bytes-are-dropped",
        broken="Leaves out bytes that are no UTF-8.",
        factory=_rewritten(rb"\xff", b""),
        trips={"sse-utf8": "text: expected 'a�b', got 'ab'"},
    ),
    Mutant(
        name="lone-surrogates-stay",
        broken="Hands out lone surrogates.",
        factory=translating(_HalvesStay),
        trips={"sse-utf8": "ud83d"},
    ),
    Mutant(
        name="broken-payload-is-skipped",
        broken="Goes on behind a payload that is no JSON.",
        factory=translating(_BrokenPayloadsAreSkipped),
        trips={"sse-malformed": "outcome: expected failure, got success"},
    ),
    Mutant(
        name="payload-of-another-shape-is-skipped",
        broken="Goes on behind a payload that is no object.",
        factory=translating(_OtherShapesAreSkipped),
        trips={"sse-malformed": "outcome: expected failure, got success"},
    ),
    Mutant(
        name="null-payload-fails",
        broken="Fails for a payload of null.",
        factory=translating(_NullIsMalformed),
        trips={"sse-malformed": "outcome: expected success, got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="broken-payload-is-unknown",
        broken="Reports a payload that is no JSON as UNKNOWN.",
        factory=failing(
            lambda f, _: (
                dataclasses.replace(f, code=codes.UNKNOWN) if "is no JSON" in f.message else f
            )
        ),
        trips={"sse-malformed": "expected MALFORMED_RESPONSE, got UNKNOWN"},
    ),
    Mutant(
        name="endless-event-is-unknown",
        broken="Reports an event over its limit as UNKNOWN.",
        factory=failing(
            lambda f, _: (
                dataclasses.replace(f, code=codes.UNKNOWN)
                if "exceeds the limit" in f.message
                else f
            )
        ),
        trips={"sse-bounded": "expected MALFORMED_RESPONSE, got UNKNOWN"},
    ),
    Mutant(
        name="large-events-are-refused",
        broken="Allows events of a mebibyte at most.",
        factory=_SmallEvents,
        trips={"sse-bounded": "outcome: expected success, got failure MALFORMED_RESPONSE"},
    ),
    Mutant(
        name="gzip-is-unread",
        broken="Does not look at content-encoding.",
        factory=_GzipUnread,
        trips={"content-encoding": "outcome: expected success, got failure STREAM_CLOSED"},
    ),
    Mutant(
        name="only-the-first-gzip-member",
        broken="Stops behind the first member of a gzip body.",
        factory=_FirstMemberOnly,
        trips={"content-encoding": "outcome: expected success, got failure"},
    ),
    Mutant(
        name="gzip-without-its-checksum",
        broken="Decodes gzip without its checksum, and damaged bytes as nothing.",
        factory=_TrailerUnchecked,
        trips={"content-encoding": "expected TRANSPORT, got STREAM_CLOSED"},
    ),
)
