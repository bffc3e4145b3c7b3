"""Compressed bodies: at every split the same bytes, and a cut or damage never passes as whole."""

from __future__ import annotations

import gzip
import sys
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
import zstandard

from adapter_sdk._content_coding import PIECE_BYTES, ContentCoding, DamagedBody, content_coding
from adapter_sdk.testing import Split, at, byte_by_byte, seeded, whole

TEXT = b"".join(b'data: {"n":%d}\n\n' % n for n in range(200))
MIB = 1024 * 1024


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


BODIES = [
    pytest.param("identity", TEXT, id="identity"),
    pytest.param("gzip", gzipped(TEXT), id="gzip"),
    pytest.param("x-gzip", gzipped(TEXT), id="x-gzip"),
    pytest.param("gzip", gzipped(TEXT[:700]) + gzipped(TEXT[700:]), id="gzip-of-two-members"),
    pytest.param("deflate", zlib.compress(TEXT), id="deflate"),
    pytest.param("zstd", zstd(TEXT), id="zstd"),
    pytest.param("zstd", zstd(TEXT[:700]) + zstd(TEXT[700:]), id="zstd-of-two-frames"),
]
COMPRESSED = [row for row in BODIES if row.id != "identity"]
SPLITS = [
    pytest.param(whole, id="whole"),
    pytest.param(byte_by_byte, id="byte-by-byte"),
    *(pytest.param(seeded(seed), id=f"seed-{seed}") for seed in range(5)),
]


def coding_of(*values: str) -> ContentCoding:
    coding = content_coding(values)
    assert coding is not None
    return coding


def decoded(coding: ContentCoding, body: bytes, split: Split = whole) -> bytes:
    return b"".join(piece for read in split(body) for piece in coding.decode(read))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(("name", "body"), BODIES)
def test_a_body_is_decoded_at_every_split(name: str, body: bytes, split: Split) -> None:
    coding = coding_of(name)
    assert decoded(coding, body, split) == TEXT
    assert coding.complete


@pytest.mark.parametrize(("name", "body"), COMPRESSED)
def test_what_has_arrived_is_handed_out_at_once(name: str, body: bytes) -> None:
    coding = coding_of(name)
    begun = decoded(coding, body[: len(body) - 1])
    assert TEXT.startswith(begun)
    assert not coding.complete


@pytest.mark.parametrize(
    ("name", "body"), [row for row in COMPRESSED if "-of-two-" not in str(row.id)]
)
def test_a_body_that_is_cut_anywhere_is_not_complete(name: str, body: bytes) -> None:
    for cut in range(1, len(body)):
        coding = coding_of(name)
        assert TEXT.startswith(decoded(coding, body[:cut]))
        assert not coding.complete, f"cut after {cut} bytes"


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        pytest.param("gzip", gzipped(TEXT[:700]), gzipped(TEXT[700:]), id="gzip"),
        pytest.param("zstd", zstd(TEXT[:700]), zstd(TEXT[700:]), id="zstd"),
    ],
)
def test_a_second_member_that_is_cut_is_not_complete(
    name: str, first: bytes, second: bytes
) -> None:
    for cut in range(1, len(second)):
        coding = coding_of(name)
        assert decoded(coding, first + second[:cut], at(len(first))).startswith(TEXT[:700])
        assert not coding.complete, f"cut {cut} bytes into the second member"


def flipped(body: bytes, position: int) -> bytes:
    changed = bytearray(body)
    changed[position] ^= 0xFF
    return bytes(changed)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        pytest.param("gzip", TEXT, id="plain-bytes-that-claim-gzip"),
        pytest.param("deflate", TEXT, id="plain-bytes-that-claim-deflate"),
        pytest.param("zstd", TEXT, id="plain-bytes-that-claim-zstd"),
        pytest.param("gzip", flipped(gzipped(TEXT), -6), id="gzip-with-a-false-checksum"),
        pytest.param("gzip", flipped(gzipped(TEXT), -1), id="gzip-with-a-false-length"),
        pytest.param(
            "deflate", flipped(zlib.compress(TEXT), -1), id="deflate-with-a-false-checksum"
        ),
        pytest.param(
            "gzip", gzipped(TEXT) + b"garbage behind it", id="gzip-and-something-behind-it"
        ),
        pytest.param("zstd", zstd(TEXT) + b"garbage behind it", id="zstd-and-something-behind-it"),
    ],
)
@pytest.mark.parametrize("split", SPLITS[:3])
def test_damage_is_told(name: str, body: bytes, split: Split) -> None:
    with pytest.raises(DamagedBody):
        decoded(coding_of(name), body, split)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param((), "Identity", id="no-header"),
        pytest.param(("",), "Identity", id="empty-header"),
        pytest.param(("identity",), "Identity", id="identity"),
        pytest.param((" GZip ",), "_Zlib", id="any-case-and-spaces"),
        pytest.param(("identity, gzip",), "_Zlib", id="identity-beside-another"),
        pytest.param(("identity", "zstd"), "_Zstd", id="two-lines"),
        pytest.param(("br",), "NoneType", id="brotli"),
        pytest.param(("rot13",), "NoneType", id="unknown"),
        pytest.param(("gzip, gzip",), "NoneType", id="two-layers"),
        pytest.param(("gzip", "deflate"), "NoneType", id="two-layers-in-two-lines"),
    ],
)
def test_the_header_chooses_the_decoder(values: tuple[str, ...], expected: str) -> None:
    assert type(content_coding(values)).__name__ == expected


def test_without_its_package_zstd_is_not_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert content_coding(["zstd"]) is None


@pytest.mark.parametrize("name", ["identity", "gzip", "deflate", "zstd"])
def test_no_bytes_are_complete(name: str) -> None:
    coding = coding_of(name)
    assert (list(coding.decode(b"")) in ([], [b""]), coding.complete) == (True, True)


@pytest.mark.parametrize(
    ("name", "compress", "size", "bound"),
    [
        pytest.param("gzip", gzipped, 16 * MIB, PIECE_BYTES, id="gzip"),
        pytest.param("deflate", zlib.compress, 16 * MIB, PIECE_BYTES, id="deflate"),
        pytest.param("zstd", zstd, 128 * MIB, 32 * MIB, id="zstd"),
    ],
)
def test_a_bomb_comes_out_in_bounded_pieces(
    name: str, compress: Callable[[bytes], bytes], size: int, bound: int
) -> None:
    body = compress(bytes(size))
    assert len(body) <= 65536  # one read of a socket
    coding = coding_of(name)
    tracemalloc.start()
    try:
        sizes = [len(piece) for piece, _ in zip(coding.decode(body), range(3), strict=False)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(sizes), max(sizes) <= bound) == (3, True)
    assert peak < 4 * bound


def test_a_full_piece_loses_nothing_of_what_comes_behind_it() -> None:
    for size in (PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES):
        coding = coding_of("gzip")
        assert decoded(coding, gzipped(b"x" * size)) == b"x" * size
        assert coding.complete
