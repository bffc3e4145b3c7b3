"""``fixtures lint``: what it refuses, and that the kit's own recordings pass."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance._recording._file import RECORDINGS, derive, load_recording, recording_text
from conformance._recording._values import Read, sha256_of

from .ran import Ran

GOOD = load_recording("llamacpp/chat_stream_text")
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


def good() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(recording_text(GOOD))
    return data


def answered(data: dict[str, Any], text: str) -> dict[str, Any]:
    reads = (Read(at_ms=1.0, text=text),)
    return {
        **data,
        "reads": [{"at_ms": 1.0, "text": text}],
        "ending": "fin",
        "end_at_ms": 2.0,
        "sha256": sha256_of(reads),
    }


def asked(data: dict[str, Any], **request: Any) -> dict[str, Any]:
    return {**data, "request": {**data["request"], **request}}


PROBLEMS: dict[str, tuple[Callable[[], object], str]] = {
    "an-empty-file": (lambda: "", "the file is empty"),
    "no-json": (lambda: "{", "no JSON: Expecting property name"),
    "no-object": (lambda: "[]", "no JSON object"),
    "an-unknown-origin": (lambda: {**good(), "origin": "found"}, "origin: Input should be"),
    "no-origin": (
        lambda: {key: value for key, value in good().items() if key != "origin"},
        "origin: Field required",
    ),
    "another-hash": (lambda: {**good(), "sha256": "0" * 64}, "sha256: the bytes are not those"),
    "a-time-that-runs-back": (
        lambda: {**good(), "reads": [*good()["reads"][:-1], {"at_ms": 1e6, "text": "x"}]},
        "reads: a time is earlier than the one before it",
    ),
    "a-read-left-out": (
        lambda: {**good(), "reads": good()["reads"][:-1]},
        "sha256: the bytes are not those that were recorded",
    ),
    "no-body-and-no-reason": (
        lambda: answered(good(), HEAD + "Content-Length: 0\r\n\r\n"),
        "an empty body, and no note that says why",
    ),
    "a-body-that-never-came": (
        lambda: answered(good(), HEAD.replace("200", "500") + "Content-Length: 9\r\n\r\n"),
        "an empty body, and no note that says why",
    ),
    "a-credential-in-a-header": (
        lambda: asked(good(), headers=[["Authorization", "Bearer hello"]]),
        "the request: the header authorization is not masked",
    ),
    "a-cookie-in-the-answer": (
        lambda: answered(good(), HEAD + "Set-Cookie: a=1\r\nContent-Length: 1\r\n\r\nx"),
        "the answer: the header set-cookie is not masked",
    ),
    "a-key-in-a-prompt": (
        lambda: asked(good(), body="sk-0123456789abcdef0123"),
        "the request: an API key in it",
    ),
    "a-token-in-a-prompt": (
        lambda: asked(good(), body="say Bearer abcdef123456"),
        "the request: a bearer token in it",
    ),
    "an-address-in-the-answer": (
        lambda: answered(good(), HEAD + "\r\ndata: ann@acme.dev\n\n"),
        "the answer: an e-mail address in it",
    ),
    "a-key-in-a-damaged-file": (lambda: "{sk-0123456789abcdef0123", "an API key in it"),
    "a-source-that-is-not-there": (
        lambda: json.loads(recording_text(derive(GOOD, name="x/y", cut_at=3, end="cut"))),
        "derived from llamacpp/chat_stream_text, which is not here",
    ),
}


@pytest.mark.parametrize(("content", "says"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_a_recording_that_nobody_should_keep_is_a_line_and_exit_1(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    content: Callable[[], object],
    says: str,
) -> None:
    file = tmp_path / "acme" / "one.json"
    file.parent.mkdir()
    made = content()
    file.write_text(made if isinstance(made, str) else json.dumps(made))

    ran = Ran(capsys, "fixtures", "lint", str(tmp_path))
    *lines, last = ran.out.splitlines()

    assert (ran.exit_code, ran.err) == (1, "")
    assert any(line.startswith(f"{file}: {says}") for line in lines)
    assert all(line.startswith(f"{file}: ") for line in lines)
    assert last.endswith("in 1 recording")
    for secret in ("sk-0123", "abcdef123456", "ann@acme.dev", "hello"):
        assert secret not in ran.out


def test_a_secret_under_gzip_is_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    body = gzip.compress(b"write to ann@acme.dev")
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    reads = (Read.of(1.0, head + body),)
    read = {"at_ms": 1.0, "base64": base64.b64encode(head + body).decode()}
    data = {**answered(good(), "x"), "reads": [read], "sha256": sha256_of(reads)}
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "one.json").write_text(json.dumps(data))

    ran = Ran(capsys, "fixtures", "lint", str(tmp_path))

    assert ran.exit_code == 1
    assert "the answer, unpacked: an e-mail address in it" in ran.out


def test_the_same_recording_twice_is_refused_unless_a_note_says_why(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "acme").mkdir()
    for name, note in (("a", ""), ("b", ""), ("c", "again, on a slow machine")):
        data = {**good(), "note": note}
        (tmp_path / "acme" / f"{name}.json").write_text(json.dumps(data))

    ran = Ran(capsys, "fixtures", "lint", str(tmp_path))

    assert ran.exit_code == 1
    assert ran.out.splitlines() == [
        f"{tmp_path / 'acme' / 'b.json'}: the same as acme/a, and no note that says why",
        "1 problem in 3 recordings",
    ]


def test_the_kits_own_recordings_pass(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "fixtures", "lint", str(RECORDINGS))

    assert (ran.exit_code, ran.err) == (0, ""), ran.out
    assert ran.out.endswith(" recordings, no problem\n")


def test_a_folder_without_recordings_is_exit_5(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = Ran(capsys, "fixtures", "lint", str(tmp_path))

    assert (ran.exit_code, ran.out) == (5, "")
    assert ran.err == f"dsh-conformance: {tmp_path}: holds no recording\n"


@pytest.mark.parametrize("arguments", [["nosuch"], []], ids=["named", "default"])
def test_a_folder_that_is_not_there_is_exit_4(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = Ran(capsys, "fixtures", "lint", *arguments)

    assert ran.exit_code == 4
    assert ran.is_one_line
    assert "there is no such folder" in ran.err
