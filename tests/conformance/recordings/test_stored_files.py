"""The recordings in the package: each is whole, says where it is from and holds no secret."""

from __future__ import annotations

import http.client
import io
import re
from collections.abc import Callable
from typing import Any, Final, cast

import pytest

from conformance._recording._file import (
    RECORDINGS,
    RecordingError,
    derive,
    load_recording,
    read_recording,
    recording_names,
    recording_text,
)

NAMES: Final = recording_names()


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
