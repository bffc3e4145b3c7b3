"""A recording is cut at a byte of its body, and what cannot be cut is refused."""

from __future__ import annotations

from typing import Final

import pytest

from conformance._recording._file import derive, exchange_of
from conformance._recording._values import Derivation, Fault, RecordedEnding, Recording

from .made_recordings import CHUNKED, LENGTH_4, UNTIL_CLOSE, recording

SOURCE: Final = recording(CHUNKED + b"2\r\nab\r\n", b"2\r\ncd\r\n2\r\nef\r\n", b"0\r\n\r\n")


@pytest.mark.parametrize(
    ("cut_at", "end", "reads", "ending"),
    [
        pytest.param(0, "cut", [(0.0, CHUNKED)], "fin", id="right after the head"),
        pytest.param(
            3,
            "reset",
            [(0.0, CHUNKED), (0.0, b"2\r\nab\r\n"), (10.0, b"1\r\nc\r\n")],
            "rst",
            id="inside a chunk",
        ),
        pytest.param(
            6,
            "hold",
            [(0.0, CHUNKED), (0.0, b"2\r\nab\r\n"), (10.0, b"4\r\ncdef\r\n")],
            "open",
            id="all but the last chunk",
        ),
        pytest.param(
            1,
            "eof",
            [(0.0, CHUNKED), (0.0, b"1\r\na\r\n"), (0.0, b"0\r\n\r\n")],
            "fin",
            id="a clean end",
        ),
    ],
)
def test_a_recording_is_cut_at_a_byte_of_its_body(
    cut_at: int, end: Fault, reads: list[tuple[float, bytes]], ending: RecordedEnding
) -> None:
    it = derive(SOURCE, name="derived/x", cut_at=cut_at, end=end)

    assert [(read.at_ms, read.data) for read in it.reads] == reads
    assert (it.origin, it.ending, it.is_whole) == ("derived", ending, end == "eof")
    assert it.derivation == Derivation(source="server/name", cut_at=cut_at, end=end)
    assert it.note == f"cut at byte {cut_at} of 6"
    assert (it.request, it.server, it.version, it.date) == (
        SOURCE.request,
        SOURCE.server,
        SOURCE.version,
        SOURCE.date,
    )


def test_a_body_with_a_length_keeps_its_promise_when_it_is_cut() -> None:
    it = derive(recording(LENGTH_4 + b"abcd"), name="derived/x", cut_at=1, end="cut")

    assert [read.data for read in it.reads] == [LENGTH_4, b"a"]
    assert exchange_of(it).ending == "short"


@pytest.mark.parametrize(
    ("source", "cut_at", "end", "message"),
    [
        pytest.param(SOURCE, -1, "cut", "cut_at: -1 is not in the 6 bytes", id="before the body"),
        pytest.param(SOURCE, 7, "cut", "cut_at: 7 is not in the 6 bytes", id="behind the body"),
        pytest.param(
            recording(note="why"), 0, "cut", "cut_at: 0 is not in the 0 bytes", id="no head"
        ),
        pytest.param(
            recording(LENGTH_4 + b"abcd"),
            1,
            "eof",
            "end: no eof with the length framing",
            id="a length",
        ),
        pytest.param(
            recording(UNTIL_CLOSE + b"ab"), 1, "cut", "end: no cut with the until-", id="no framing"
        ),
    ],
)
def test_what_cannot_be_cut_is_refused(
    source: Recording, cut_at: int, end: Fault, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        derive(source, name="derived/x", cut_at=cut_at, end=end)
