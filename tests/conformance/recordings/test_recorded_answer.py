"""The HTTP answer in the reads of a recording: its framing, its body, and whether it is whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from conformance._recording._values import RecordedEnding
from conformance._recording._wire import Answer, Head, WireError, read_answer

from .made_recordings import CHUNKED, HEAD, LENGTH_4, UNTIL_CLOSE, recording


def answer(data: bytes) -> dict[str, Any]:
    """The parts of an answer that do not depend on how it was read."""
    whole = asdict(read_answer([data]))
    bytewise = asdict(read_answer([data[i : i + 1] for i in range(len(data))]))
    for parts in (whole, bytewise):
        parts["pieces"] = b"".join(parts["pieces"])
        del parts["head_read"]
    assert bytewise == whole
    return whole


@pytest.mark.parametrize(
    ("data", "framed_by", "body", "is_whole"),
    [
        pytest.param(
            CHUNKED + b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "chunked", b"abc", True, id="chunks"
        ),
        pytest.param(CHUNKED + b"0\r\n\r\n", "chunked", b"", True, id="no chunk"),
        pytest.param(
            CHUNKED + b"A;x=1\r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
            "chunked",
            b"0123456789",
            True,
            id="extension and trailer",
        ),
        pytest.param(CHUNKED + b"4\r\nab", "chunked", b"ab", False, id="inside a chunk"),
        pytest.param(CHUNKED + b"2\r\nab\r\n", "chunked", b"ab", False, id="between chunks"),
        pytest.param(
            CHUNKED + b"2\r\nab\r\n0\r\n", "chunked", b"ab", False, id="before the last line"
        ),
        pytest.param(LENGTH_4 + b"abcd", "length", b"abcd", True, id="a length"),
        pytest.param(LENGTH_4 + b"abc", "length", b"abc", False, id="short of its length"),
        pytest.param(HEAD + b"content-length: 0\r\n\r\n", "length", b"", True, id="a length of 0"),
        pytest.param(UNTIL_CLOSE + b"ab", "until-close", b"ab", False, id="until it closes"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", "length", b"", True, id="204"),
        pytest.param(
            b"HTTP/1.0 529\r\nContent-Length: 1\r\n\r\nx", "length", b"x", True, id="no phrase"
        ),
    ],
)
def test_the_framing_is_taken_off(
    data: bytes, framed_by: str, body: bytes, *, is_whole: bool
) -> None:
    parts = answer(data)

    assert (parts["framed_by"], parts["pieces"], parts["is_whole"]) == (framed_by, body, is_whole)


def test_each_read_keeps_its_own_piece_of_the_body() -> None:
    reads = [
        b"HTTP/1.1 100 Continue\r\n\r\n",
        CHUNKED + b"2\r\na",
        b"b\r\n3\r\ncde\r\n",
        b"0\r\n\r\n",
    ]
    headers = (
        ("Content-Type", "Text/Event-Stream; charset=utf-8"),
        ("Transfer-Encoding", "chunked"),
    )

    assert read_answer(reads) == Answer(
        interim=(Head(100, ()),),
        head=Head(200, headers),
        head_bytes=len(reads[0] + CHUNKED),
        head_read=1,
        framed_by="chunked",
        pieces=(b"", b"a", b"bcde", b""),
        is_whole=True,
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nA: b\r\n", "the reads end inside the head", id="no end"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", "the reads end inside", id="only a 100"),
        pytest.param(b"SSH-2.0\r\n\r\n", "no status line", id="no HTTP"),
        pytest.param(b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "no header line", id="no colon"),
        pytest.param(b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "no header line", id="a spaced name"),
        pytest.param(HEAD + b"Content-Length: four\r\n\r\n", "content-length is", id="no length"),
        pytest.param(CHUNKED + b"xy\r\n", "a chunk has no size", id="no chunk size"),
        pytest.param(CHUNKED + b"1\r\nab\r\n", "a chunk is longer", id="a longer chunk"),
        pytest.param(CHUNKED + b"0\r\n\r\nmore", "4 bytes behind the end", id="chunks and more"),
        pytest.param(LENGTH_4 + b"abcde", "1 bytes behind the end", id="a length and more"),
    ],
)
def test_what_is_no_http_answer_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(WireError, match=f"^{message}"):
        read_answer([data])

    with pytest.raises(ValueError, match=f"reads: {message}"):
        recording(data)


# ---- what a recording says ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("reads", "ending", "is_whole"),
    [
        pytest.param([LENGTH_4 + b"abcd"], "open", True, id="a whole body, still open"),
        pytest.param([LENGTH_4 + b"abcd"], "rst", True, id="a whole body, then RST"),
        pytest.param([LENGTH_4 + b"ab"], "fin", False, id="a short body"),
        pytest.param([UNTIL_CLOSE + b"ab"], "fin", True, id="FIN is the end"),
        pytest.param([UNTIL_CLOSE + b"ab"], "rst", False, id="RST is no end"),
        pytest.param([], "fin", False, id="no byte"),
    ],
)
def test_a_body_is_whole_by_its_framing(
    reads: list[bytes], ending: RecordedEnding, *, is_whole: bool
) -> None:
    assert recording(*reads, ending=ending, note="why").is_whole == is_whole


def test_the_media_type_is_lower_case_without_parameters() -> None:
    assert recording(LENGTH_4 + b"abcd").media_type == "text/event-stream"
    assert recording(b"HTTP/1.1 204 No Content\r\n\r\n").media_type == ""
    assert recording(note="nothing came").media_type == ""
