"""Recordings of bytes that a test writes, and the heads that they begin with."""

from __future__ import annotations

from typing import Final

from conformance._recording._values import (
    Read,
    RecordedEnding,
    RecordedRequest,
    Recording,
    sha256_of,
)

HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n"
CHUNKED: Final = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LENGTH_4: Final = HEAD + b"Content-Length: 4\r\n\r\n"
UNTIL_CLOSE: Final = HEAD + b"\r\n"


def recording(
    *reads: bytes, ending: RecordedEnding = "fin", note: str = "", end_at_ms: float | None = None
) -> Recording:
    """A recording of ``reads``, 10 ms apart."""
    kept = tuple(Read.of(10.0 * number, data) for number, data in enumerate(reads))
    return Recording(
        name="server/name",
        origin="recorded",
        server="server",
        version="1",
        date="2026-11-30",
        note=note,
        request=RecordedRequest(method="POST", path="/v1/chat/completions", headers=(), body="{}"),
        reads=kept,
        ending=ending,
        end_at_ms=10.0 * len(reads) if end_at_ms is None else end_at_ms,
        sha256=sha256_of(kept),
    )
