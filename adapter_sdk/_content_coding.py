"""Content codings: a compressed body that is cut or damaged never passes as complete.

Requests ask for ``identity``, yet gateways compress all the same. Decoders commonly drop a
missing trailer and a second member without a word; this one tells.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from typing_extensions import override

# A decompressor hands out at most this much at a time, so that a bomb meets the event limit.
PIECE_BYTES: Final = 1 << 20

# zstd has no such limit, and one of its blocks makes 128 KiB of four bytes: input in portions
# of this size bounds a bomb to 32 MiB at a time.
_ZSTD_PORTION_BYTES: Final = 1024


class DamagedBody(ValueError):
    """The bytes are not what the content coding says."""


class ContentCoding(Protocol):
    """Decodes one body."""

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded bytes of the next read; raises ``DamagedBody``."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the body could end here."""
        ...


class Identity:
    """No coding at all."""

    complete = True

    def decode(self, data: bytes) -> Iterator[bytes]:
        """See ``ContentCoding``."""
        yield data


class _Members:
    """A body of one or more compressed members, one after the other."""

    def __init__(self, new_member: Callable[[], Any], errors: tuple[type[Exception], ...]) -> None:
        self._new_member = new_member
        self._errors = errors
        self._member: Any = None

    @property
    def complete(self) -> bool:
        return self._member is None or bool(self._member.eof)

    def decode(self, data: bytes) -> Iterator[bytes]:
        piece = b""
        # A full piece may have left output behind although all the input is taken.
        while data or len(piece) == PIECE_BYTES:
            if self._member is None or (self._member.eof and data):
                self._member = self._new_member()
            try:
                piece, data = self._step(data)
            except self._errors as error:
                raise DamagedBody(str(error)) from error
            if piece:
                yield piece

    def _step(self, data: bytes) -> tuple[bytes, bytes]:
        raise NotImplementedError


class _Zlib(_Members):
    @override
    def _step(self, data: bytes) -> tuple[bytes, bytes]:
        member = self._member
        piece = member.decompress(data, PIECE_BYTES)
        return piece, member.unused_data if member.eof else member.unconsumed_tail


class _Zstd(_Members):
    @override
    def _step(self, data: bytes) -> tuple[bytes, bytes]:
        member, rest = self._member, data[_ZSTD_PORTION_BYTES:]
        piece = member.decompress(data[:_ZSTD_PORTION_BYTES])
        return piece, member.unused_data + rest if member.eof else rest


def _zstd_coding() -> ContentCoding | None:
    try:
        import zstandard
    except ModuleNotFoundError:  # the extra `zstd` is not installed
        return None
    return _Zstd(lambda: zstandard.ZstdDecompressor().decompressobj(), (zstandard.ZstdError,))


_CODINGS: Final[dict[str, Callable[[], ContentCoding | None]]] = {
    "": Identity,
    "identity": Identity,
    "gzip": lambda: _Zlib(lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), (zlib.error,)),
    "x-gzip": lambda: _Zlib(lambda: zlib.decompressobj(zlib.MAX_WBITS | 16), (zlib.error,)),
    "deflate": lambda: _Zlib(zlib.decompressobj, (zlib.error,)),
    "zstd": _zstd_coding,
}


def content_coding(values: Sequence[str]) -> ContentCoding | None:
    """Return the decoder for the ``content-encoding`` lines, or None for one not understood."""
    names = [name.strip().lower() for value in values for name in value.split(",")]
    names = [name for name in names if name not in ("", "identity")]
    if len(names) > 1:
        return None
    return _CODINGS.get(names[0] if names else "", lambda: None)()
