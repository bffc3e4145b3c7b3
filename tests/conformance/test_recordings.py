"""Recordings: what is in the files, how one is read, refused, derived and made playable."""

from __future__ import annotations

import http.client
import io
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, cast

import pytest

from adapter_sdk.testing import Exchange, Interim, Pause, Send
from conformance._recording import (
    RECORDINGS,
    RecordingError,
    derive,
    exchange_of,
    load_recording,
    read_recording,
    recording_names,
    recording_text,
)
from conformance._recording_values import (
    Derivation,
    Fault,
    Read,
    RecordedEnding,
    RecordedRequest,
    Recording,
    sha256_of,
)
from conformance._recording_wire import Answer, Head, WireError, read_answer

NAMES: Final = recording_names()

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


# ---- the files ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_what_the_writer_writes(name: str) -> None:
    text = RECORDINGS.joinpath(f"{name}.json").read_text(encoding="utf-8")

    assert recording_text(read_recording(text, name=name)) == text


@pytest.mark.parametrize("name", NAMES)
def test_the_standard_library_reads_the_same_answer(name: str) -> None:
    it = load_recording(name)
    raw = b"".join(read.data for read in it.reads)
    if not raw:
        assert (it.status, it.headers, it.body) == (None, (), b"")
        return

    status, headers, body, is_whole = _by_the_standard_library(raw, it.request.method)

    assert (it.status, list(it.headers), it.body) == (status, headers, body)
    assert it.is_whole == is_whole


def _by_the_standard_library(
    raw: bytes, method: str
) -> tuple[int, list[tuple[str, str]], bytes, bool]:
    class Socket:
        def makefile(self, mode: str) -> io.BytesIO:
            assert mode == "rb"
            return io.BytesIO(raw)

    response = http.client.HTTPResponse(cast("Any", Socket()), method=method)
    response.begin()
    try:
        body, is_whole = response.read(), True
    except http.client.IncompleteRead as error:
        body, is_whole = error.partial, False
    return response.status, response.getheaders(), body, is_whole


@pytest.mark.parametrize(
    "name", [name for name in NAMES if load_recording(name).origin == "derived"]
)
def test_a_derived_file_is_its_source_cut_where_it_says(name: str) -> None:
    it = load_recording(name)
    assert it.derivation is not None
    source = load_recording(it.derivation.source)

    again = derive(
        source,
        name=name,
        cut_at=it.derivation.cut_at,
        end=it.derivation.end,
        note=it.note,
        date=it.date,
    )

    assert again == it
    assert it.body == source.body[: it.derivation.cut_at]
    assert f"byte {it.derivation.cut_at} of {len(source.body)}" in it.note


@pytest.mark.parametrize("name", NAMES)
def test_the_folder_tells_the_origin(name: str) -> None:
    folder = name.split("/")[0]
    it = load_recording(name)

    told = folder if folder in ("derived", "synthetic") else "recorded"
    assert it.origin == told
    assert it.origin != "recorded" or it.server == folder


_SECRETS: Final = {
    "a key": r"\bsk-[\w-]{8,}|\bgh[pousr]_\w{20,}|\bAKIA[A-Z0-9]{12,}|-----BEGIN",
    "a credential in a header": (
        r"(?i)(?:bearer|basic|x-api-key)[\"':, ]+(?!\*\*\*|realm=)[\w.+/-]{6,}"
    ),
    "a path of a machine": r"(?:^|[\s\"'(])/(?:home|root|tmp|work|usr|opt|var|etc|Users)/",
    "an address": r"\b(?!127\.0\.0\.1\b)(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b",
    "a host": r"https?://(?!127\.0\.0\.1[:/]|docs\.litellm\.ai/)[\w.-]+",
    "a mail address": r"\w@[\w-]{1,63}\.[a-z]{2,}",
}


@pytest.mark.parametrize("name", NAMES)
def test_no_recording_holds_a_secret_or_a_place(name: str) -> None:
    it = load_recording(name)
    texts = [it.version, it.note, *(read.text or "" for read in it.reads)]
    texts += [f"{key}: {value}" for key, value in it.request.headers]
    texts += [it.request.body or "", it.request.path.replace("/v1/", " ")]

    found = {
        what: match[0]
        for what, pattern in _SECRETS.items()
        for text in texts
        if (match := re.search(pattern, text))
    }

    assert found == {}


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a key", 'x "sk-abcdefgh1234"'),
        ("a credential in a header", "Authorization: Bearer abcdefgh"),
        ("a credential in a header", "x-api-key: abcdefgh"),
        ("a path of a machine", 'File "/home/me/x.py"'),
        ("an address", "connect to 10.0.0.7"),
        ("a host", "see https://example.com/x"),
        ("a mail address", "write to me@example.com"),
    ],
)
def test_the_patterns_for_secrets_find_them(what: str, text: str) -> None:
    assert re.search(_SECRETS[what], text)


# ---- refused files ------------------------------------------------------------------------

GOOD: Final = json.loads(recording_text(recording(CHUNKED, b"2\r\nab\r\n0\r\n\r\n")))


def changed(**changes: Any) -> str:
    data = {**GOOD, **changes}
    return json.dumps({key: value for key, value in data.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "the file is empty", id="empty"),
        pytest.param(" \n", "the file is empty", id="blank"),
        pytest.param(changed()[:-40], "no JSON: Unterminated string", id="cut"),
        pytest.param("[]", "no JSON object", id="an array"),
        pytest.param("null", "no JSON object", id="null"),
        pytest.param(changed(name="a/b"), "name: the path is the name", id="names itself"),
        pytest.param(changed(extra=1), "extra: Extra inputs", id="an unknown key"),
        pytest.param(changed(request=None), "request: Field required", id="no request"),
        pytest.param(changed(server=""), "server: String should have", id="no server"),
        pytest.param(changed(date="yesterday"), "date: String should match", id="no date"),
        pytest.param(changed(origin="guessed"), "origin: Input should be", id="an unknown origin"),
        pytest.param(changed(ending="eof"), "ending: Input should be", id="an unknown ending"),
        pytest.param(
            changed(origin="derived"), "derivation: stands with", id="derived from nothing"
        ),
        pytest.param(changed(reads=[]), "reads: none, and no note", id="no reads"),
        pytest.param(
            changed(reads=[{"at_ms": 0, "text": ""}]), "reads.0: a read without", id="an empty read"
        ),
        pytest.param(
            changed(reads=[{"at_ms": 0, "text": "a", "base64": "YQ=="}]),
            "reads.0: a read has text or base64",
            id="text and base64",
        ),
        pytest.param(
            changed(reads=[{"at_ms": 0, "base64": "!!"}]),
            "reads.0: the bytes cannot be decoded",
            id="no base64",
        ),
        pytest.param(
            changed(reads=[{"at_ms": -1, "text": "a"}]), "reads.0.at_ms: Input", id="negative time"
        ),
        pytest.param(
            changed(reads=GOOD["reads"][::-1]),
            "reads: a time is earlier than the one before it",
            id="reads out of order",
        ),
        pytest.param(changed(end_at_ms=1.0), "reads: a time is earlier", id="ends too early"),
        pytest.param(
            changed(reads=GOOD["reads"][:1]), "sha256: the bytes are not those", id="a read is lost"
        ),
        pytest.param(changed(sha256="00"), "sha256: the bytes are not those", id="another hash"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(RecordingError) as caught:
        read_recording(text, name="server/name")

    assert str(caught.value).startswith(f"server/name: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(None, "server/name: the file cannot be read: No such file", id="missing"),
        pytest.param(b"\xff{}", "server/name: the file is no UTF-8", id="no UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(
    data: bytes | None, message: str, tmp_path: Path
) -> None:
    if data is not None:
        (tmp_path / "server").mkdir()
        (tmp_path / "server" / "name.json").write_bytes(data)

    with pytest.raises(RecordingError) as caught:
        load_recording("server/name", tmp_path)

    assert str(caught.value).startswith(message)


def test_names_are_folder_and_file_in_order(tmp_path: Path) -> None:
    for path in ("b/z.json", "b/a.json", "a/x.json", "a/README.md"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("{}")
    (tmp_path / "stray.json").write_text("{}")

    assert recording_names(tmp_path) == ["a/x", "b/a", "b/z"]


@pytest.mark.parametrize(
    ("data", "read"),
    [
        pytest.param(b"a\r\n", Read(at_ms=1.5, text="a\r\n"), id="ASCII"),
        pytest.param("é\0".encode(), Read(at_ms=1.5, text="é\0"), id="UTF-8"),
        pytest.param(b"\xc3", Read(at_ms=1.5, base64="ww=="), id="half a character"),
    ],
)
def test_a_read_keeps_its_bytes_as_text_where_that_loses_nothing(data: bytes, read: Read) -> None:
    assert Read.of(1.5, data) == read
    assert read.data == data


# ---- the HTTP answer in the reads ---------------------------------------------------------


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


# ---- as an exchange -----------------------------------------------------------------------

TYPE: Final = ("Content-Type", b"Text/Event-Stream; charset=utf-8")


@pytest.mark.parametrize(
    ("it", "exchange"),
    [
        pytest.param(
            recording(CHUNKED + b"1\r\na\r\n", b"1\r\nb\r\n0\r\n\r\n"),
            Exchange(
                200,
                (TYPE, ("Transfer-Encoding", b"chunked")),
                steps=(Send(b"a"), Send(b"b")),
            ),
            id="whole",
        ),
        pytest.param(
            recording(CHUNKED, b"1\r\na\r\n"),
            Exchange(
                200, (TYPE, ("Transfer-Encoding", b"chunked")), steps=(Send(b"a"),), ending="cut"
            ),
            id="cut",
        ),
        pytest.param(
            recording(CHUNKED, b"1\r\na\r\n", ending="rst"),
            Exchange(
                200, (TYPE, ("Transfer-Encoding", b"chunked")), steps=(Send(b"a"),), ending="reset"
            ),
            id="reset",
        ),
        pytest.param(
            recording(CHUNKED, ending="client-close"),
            Exchange(200, (TYPE, ("Transfer-Encoding", b"chunked")), ending="hold"),
            id="the client left",
        ),
        pytest.param(
            recording(LENGTH_4 + b"ab"),
            Exchange(200, (TYPE, ("Content-Length", b"4")), steps=(Send(b"ab"),), ending="short"),
            id="short",
        ),
        pytest.param(
            recording(UNTIL_CLOSE + b"ab"),
            Exchange(200, (TYPE, ("connection", b"close")), steps=(Send(b"ab"),)),
            id="until it closes",
        ),
        pytest.param(
            recording(b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\n" + LENGTH_4 + b"abcd"),
            Exchange(
                200,
                (TYPE, ("Content-Length", b"4")),
                interim=(Interim(100, (("A", "b"),)),),
                steps=(Send(b"abcd"),),
            ),
            id="an interim head",
        ),
        pytest.param(
            recording(b"HTTP/1.1 200 OK\r\nA: \xe9\r\nContent-Length: 0\r\n\r\n"),
            Exchange(200, (("A", b"\xe9"), ("Content-Length", b"0"))),
            id="header bytes",
        ),
        pytest.param(
            recording(ending="fin", note="why"),
            Exchange(None, ending="close-before-headers"),
            id="closed before the head",
        ),
        pytest.param(
            recording(ending="rst", note="why"),
            Exchange(None, ending="reset"),
            id="reset before the head",
        ),
        pytest.param(
            recording(ending="open", note="why"),
            Exchange(None, ending="hold-before-headers"),
            id="silent before the head",
        ),
        pytest.param(
            recording(ending="client-rst", note="why"),
            Exchange(None, ending="hold-before-headers"),
            id="the client left before the head",
        ),
    ],
)
def test_a_recording_becomes_an_exchange(it: Recording, exchange: Exchange) -> None:
    assert exchange_of(it) == exchange


@pytest.mark.parametrize(
    ("it", "steps"),
    [
        pytest.param(
            recording(CHUNKED, b"1\r\na\r\n", b"1\r\nb\r\n", b"0\r\n\r\n", end_at_ms=99.0),
            (Pause(0.01), Send(b"a"), Pause(0.01), Send(b"b")),
            id="silences between reads",
        ),
        pytest.param(
            recording(b"HTTP/1.1 100 Continue\r\n\r\n", CHUNKED + b"1\r\na\r\n", end_at_ms=60.0),
            (Send(b"a"), Pause(0.05)),
            id="none before the head, one before a cut",
        ),
    ],
)
def test_a_timed_exchange_keeps_the_silences(it: Recording, steps: tuple[object, ...]) -> None:
    assert exchange_of(it, timed=True).steps == steps


# ---- derived ------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda text: text.replace("Hello", "Hallo"), id="a letter"),
        pytest.param(lambda text: text.replace(r"\r\n", r"\n", 1), id="a line end"),
    ],
)
def test_a_stored_file_that_was_edited_is_refused(damage: Callable[[str], str]) -> None:
    name = "llamacpp/chat_stream_text"
    text = RECORDINGS.joinpath(f"{name}.json").read_text(encoding="utf-8")

    with pytest.raises(RecordingError, match="sha256: the bytes are not those that were recorded"):
        read_recording(damage(text), name=name)
