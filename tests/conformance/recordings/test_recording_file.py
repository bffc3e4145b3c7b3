"""The file of a recording: how it is named, what is read from it, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance._recording._file import (
    RecordingError,
    load_recording,
    read_recording,
    recording_names,
    recording_text,
)
from conformance._recording._values import Read

from .made_recordings import CHUNKED, recording

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
