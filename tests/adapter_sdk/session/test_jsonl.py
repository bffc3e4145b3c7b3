"""JSON lines: what a crash tears is cut, what is damaged is refused, and the line is named."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from adapter_sdk.session import (
    JsonlLog,
    LogClosedError,
    LogConflictError,
    LogDamagedError,
    LogVersionError,
    LogWriteError,
    derive_messages,
    load_events,
    recover,
)

from .talking import HALF, TALKED, Talk, lines_of, ticking

HEADER: Final = b'{"format":"dsh-session-log","version":1}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def written(path: Path, *, turns: int = 1, then_open: bool = False) -> list[bytes]:
    """Write a log and return its lines, each with its line feed, the header first."""
    with JsonlLog(path, now_ms=ticking()) as log:
        talk = Talk(log)
        for _ in range(turns):
            talk.whole_turn()
        if then_open:
            talk.begin("And now?")
            talk.begin_step()
    return path.read_bytes().splitlines(keepends=True)


def test_a_file_is_a_header_and_one_event_a_line(path: Path) -> None:
    lines = written(path)
    assert lines[0] == HEADER
    assert [json.loads(line)["seq"] for line in lines[1:]] == list(range(len(lines) - 1))
    assert b"\r" not in b"".join(lines)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_cut_at_every_byte_it_opens_with_every_whole_line_and_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # nobody cuts the power here, 900 times over
    with JsonlLog(path) as log:
        talk = Talk(log)
        talk.begin()
        talk.begin_step()
        talk.chunks(*HALF)
    lines = path.read_bytes().splitlines(keepends=True)
    whole = b"".join(lines)
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        kept = max(end for end in ends if end <= length)
        count = max(0, ends.index(kept) - 1)
        assert len(load_events(path)) == count
        assert path.read_bytes() == whole[:length]  # reading changed nothing
        with JsonlLog(path) as log:
            assert len(log.events) == count
            assert log.trimmed == whole[kept:length]
            recover(log)
            log.append("product/note", {})
        assert path.read_bytes().startswith(whole[:kept] or HEADER)
        with JsonlLog(path) as log:
            assert (log.events[-1].type, log.trimmed) == ("product/note", b"")


@pytest.mark.parametrize(
    "tail",
    [b"\0" * 100, b"\0" * 100 + b"\n", b'{"type":"a/b"', b'{"type":"a/b"}\n', b"\xff\n", b"\n"],
    ids=["zeros", "zeros and a line feed", "half", "half and a line feed", "no UTF-8", "blank"],
)
@pytest.mark.parametrize("then_open", [False, True], ids=["between turns", "in a turn"])
def test_what_cannot_be_read_behind_the_last_turn_is_cut(
    path: Path, tail: bytes, *, then_open: bool
) -> None:
    good = b"".join(written(path, then_open=then_open))
    path.write_bytes(good + tail)
    with JsonlLog(path) as log:
        assert log.trimmed == tail
        assert len(log.events) == good.count(b"\n") - 1
    assert path.read_bytes() == good


def test_damage_in_an_open_turn_cuts_the_turn_there_and_keeps_what_was_cut(path: Path) -> None:
    lines = written(path, then_open=True)
    broken = lines[-3][:-5] + b"\n"
    path.write_bytes(b"".join([*lines[:-3], broken, *lines[-2:]]))
    with JsonlLog(path) as log:
        assert log.trimmed == b"".join([broken, *lines[-2:]])
        recover(log)
        assert log.events[-1].data == {"turn": 2, "reason": "interrupted"}
    assert path.read_bytes().startswith(b"".join(lines[:-3]))


def replaced(lines: list[bytes], number: int, line: bytes) -> list[bytes]:
    return [*lines[: number - 1], line, *lines[number:]]


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        pytest.param(
            lambda lines: replaced(lines, 7, lines[6][:-3] + b"\n"),
            LogDamagedError,
            "line 7: no JSON, and a turn ended after it",
            id="half a line",
        ),
        pytest.param(
            lambda lines: replaced(lines, 7, lines[6].replace(b'"type":', b'"type": ')),
            LogDamagedError,
            "line 7: not written in the form of this log, and a turn ended after it",
            id="foreign form",
        ),
        pytest.param(
            lambda lines: replaced(lines, 7, lines[6][:-1] + b"\r\n"),
            LogDamagedError,
            "line 7: not written in the form of this log, and a turn ended after it",
            id="CRLF",
        ),
        pytest.param(
            lambda lines: replaced(lines, 7, b"\n" + lines[6]),
            LogDamagedError,
            "line 7: no JSON, and a turn ended after it",
            id="blank line",
        ),
        pytest.param(
            lambda lines: replaced(lines, 7, b""),
            LogDamagedError,
            "line 7: event 6 comes after a gap, 5 is due",
            id="gap",
        ),
        pytest.param(
            lambda lines: replaced(lines, 7, lines[6] * 2),
            LogDamagedError,
            "line 8: event 5 is there twice, 6 is due",
            id="twice",
        ),
        pytest.param(
            lambda lines: [*lines, lines[-1]],
            LogDamagedError,
            "line 28: event 25 is there twice, 26 is due",
            id="twice at the end",
        ),
        pytest.param(
            lambda lines: [*lines, lines[-1].replace(b'"seq":25', b'"seq":27')],
            LogDamagedError,
            "line 28: event 27 comes after a gap, 26 is due",
            id="gap at the end",
        ),
        pytest.param(
            lambda lines: replaced(lines, 5, lines[4].replace(b"request/header", b"step/end")),
            LogDamagedError,
            "line 6: assistant/chunk outside a step",
            id="out of order",
        ),
        pytest.param(
            lambda lines: replaced(lines, 1, HEADER.replace(b"1", b"2")),
            LogVersionError,
            "line 1: version 2; this program reads 1",
            id="later version",
        ),
        pytest.param(
            lambda lines: lines[1:],
            LogVersionError,
            "line 1: no log of this format",
            id="no header",
        ),
        pytest.param(
            lambda lines: [b"# notes\n", b"of somebody\n"],
            LogVersionError,
            "line 1: no log of this format",
            id="another file",
        ),
        pytest.param(
            lambda lines: [b"SQLite format 3\0" + b"\xff" * 100],
            LogVersionError,
            "line 1: no log of this format",
            id="a database",
        ),
    ],
)
def test_a_damaged_or_foreign_file_is_refused_by_its_line_and_not_touched(
    path: Path,
    damage: Callable[[list[bytes]], list[bytes]],
    error: type[Exception],
    message: str,
) -> None:
    bad = b"".join(damage(written(path)))
    path.write_bytes(bad)
    for opening in (JsonlLog, load_events):
        with pytest.raises(error) as caught:
            opening(path)
        assert str(caught.value) == f"{path}, {message}"
    assert path.read_bytes() == bad


def test_two_writers_into_one_file_by_force_are_found_when_it_is_opened(path: Path) -> None:
    written(path)
    with JsonlLog(path) as log, path.open("ab") as second:
        stolen = log.append("product/note", {"of": 1}).line().replace('"of":1', '"of":2')
        second.write(stolen.encode() + b"\n")
        second.flush()
        log.append("product/note", {"of": 3})
    with pytest.raises(LogDamagedError, match="line 29: event 26 is there twice, 27 is due"):
        JsonlLog(path)


def test_a_second_writer_is_refused_while_the_first_is_there(path: Path) -> None:
    with JsonlLog(path) as log:
        with pytest.raises(LogConflictError, match="another log has this file open"):
            JsonlLog(path)
        log.append("a/b", {})
    with JsonlLog(path) as log:
        assert len(log.events) == 1


def test_a_second_process_is_refused_too(path: Path) -> None:
    code = (
        "import sys; from adapter_sdk.session import JsonlLog, LogConflictError\n"
        "try: JsonlLog(sys.argv[1])\n"
        "except LogConflictError as error: print(error)\n"
    )
    with JsonlLog(path):
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
        )
    assert done.stdout == f"{path}: another log has this file open\n"


# ---- a disk that fails -------------------------------------------------------------------


def failing(number: int) -> Callable[..., Any]:
    def fail(*_: object) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT])
def test_an_event_that_cannot_be_stored_is_not_acknowledged_and_ends_the_log(
    path: Path, call: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(path)
    log = JsonlLog(path)
    stood = lines_of(log)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing(number))
        with pytest.raises(LogWriteError) as caught:
            log.append("product/note", {})
    assert str(caught.value) == f"{path}: {os.strerror(number)}"
    assert isinstance(caught.value.__cause__, OSError)
    assert lines_of(log) == stood
    with pytest.raises(LogClosedError, match="an earlier write of this log failed: open it again"):
        log.append("product/note", {})
    with JsonlLog(path) as log:
        assert lines_of(log)[: len(stood)] == stood
        log.append("product/note", {})


def test_half_a_line_on_a_full_disk_is_cut_when_the_log_is_opened_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = b"".join(written(path))
    write = os.write
    log = JsonlLog(path)
    with monkeypatch.context() as patch:
        full = iter([lambda file, data: write(file, data[:20]), failing(errno.ENOSPC)])
        patch.setattr(os, "write", lambda file, data: next(full)(file, data))
        with pytest.raises(LogWriteError, match="No space left"):
            log.append("product/note", {"text": "x" * 100})
    assert len(path.read_bytes()) == len(good) + 20
    with JsonlLog(path) as log:
        assert len(log.trimmed) == 20
    assert path.read_bytes() == good


def test_a_write_that_takes_only_a_part_is_finished(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    with JsonlLog(path) as log:
        Talk(log).whole_turn()
        stood = lines_of(log)
    with JsonlLog(path) as log:
        assert lines_of(log) == stood


def test_a_limit_of_the_operating_system_is_a_full_disk(path: Path) -> None:
    code = (
        "import resource, sys; from adapter_sdk.session import JsonlLog, LogWriteError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "log = JsonlLog(sys.argv[1])\n"
        "try:\n"
        "    while True: log.append('product/note', {'text': 'x' * 500})\n"
        "except LogWriteError: print(len(log.events))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    acknowledged = int(done.stdout)
    assert path.stat().st_size == 4096  # so the last line is half there
    with JsonlLog(path) as log:
        assert len(log.events) == acknowledged > 5
        assert log.trimmed


def test_every_append_is_synced_before_it_returns(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    write, fsync = os.write, os.fsync

    def noted_write(file: int, data: Any) -> int:
        calls.append("write")
        return write(file, data)

    def noted_sync(file: int) -> None:
        calls.append("sync")
        fsync(file)

    monkeypatch.setattr(os, "write", noted_write)
    monkeypatch.setattr(os, "fsync", noted_sync)
    with JsonlLog(path) as log:
        assert calls == ["write", "sync", "sync"]  # the header, and the folder that names the file
        for _ in range(3):
            log.append("a/b", {})
            calls.append("returned")
    assert calls[3:] == ["write", "sync", "returned"] * 3


@pytest.mark.parametrize(
    ("place", "message"),
    [("missing/log.jsonl", "No such file or directory"), ("", "Is a directory")],
)
def test_a_place_where_no_file_can_be_is_named(tmp_path: Path, place: str, message: str) -> None:
    with pytest.raises(LogWriteError) as caught:
        JsonlLog(tmp_path / place)
    assert str(caught.value) == f"{tmp_path / place}: {message}"


def test_a_read_only_file_is_refused_on_opening(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", failing(errno.EROFS))
        with pytest.raises(LogWriteError, match="Read-only file system"):
            JsonlLog(path)
    assert len(load_events(path)) == 26


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogWriteError, match=r"none\.jsonl: No such file or directory"):
        load_events(tmp_path / "none.jsonl")


def test_what_comes_back_is_what_was_said(path: Path) -> None:
    written(path)
    with JsonlLog(path) as log:
        assert derive_messages(log.events) == TALKED
