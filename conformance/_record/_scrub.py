"""Take out of an answer what must not be kept. Each byte becomes an asterisk: no length changes.

So framing, read boundaries and offsets stay those that were seen. All other words of an answer
stay too, whatever they say about somebody. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .._secrets import is_sensitive, secrets_in


def scrubbed(
    reads: Sequence[bytes], *, head_bytes: int, credentials: Sequence[str] = ()
) -> tuple[bytes, ...]:
    """Return ``reads`` without cookies, account ids, credentials and what looks like one.

    Args:
        reads: The whole answer, as it was read.
        head_bytes: Size of its heads.
        credentials: What the client sent, in case the server repeats it.
    """
    data = bytearray(b"".join(reads))
    for start, end in _spans(bytes(data), head_bytes, credentials):
        data[start:end] = b"*" * (end - start)
    pieces, at = [], 0
    for read in reads:
        pieces.append(bytes(data[at : at + len(read)]))
        at += len(read)
    return tuple(pieces)


def _spans(data: bytes, head_bytes: int, credentials: Sequence[str]) -> Iterator[tuple[int, int]]:
    yield from _header_values(data[:head_bytes])
    for credential in credentials:
        needle = credential.encode("latin-1")
        at = data.find(needle)
        while at >= 0:
            yield at, at + len(needle)
            at = data.find(needle, at + len(needle))
    for found in secrets_in(data):
        yield found.start, found.end


def _header_values(heads: bytes) -> Iterator[tuple[int, int]]:
    at = 0
    for line in heads.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon and is_sensitive(name.decode("latin-1")):
            kept = len(value) - len(value.lstrip(b" \t"))
            start = at + len(name) + len(colon) + kept
            yield start, start + len(value.strip(b" \t"))
        at += len(line) + 2
