"""SQLite: durable settings, one writer, and nobody else's database."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapter_sdk.session import (
    LogClosedError,
    LogConflictError,
    LogDamagedError,
    LogVersionError,
    LogWriteError,
    SqliteLog,
    load_events,
)

from .talking import Talk, lines_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.db"


@pytest.fixture
def log(path: Path) -> Iterator[SqliteLog]:
    with SqliteLog(path) as opened:
        Talk(opened).whole_turn()
        yield opened


def alter(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def test_the_settings_are_those_that_survive_a_power_cut(log: SqliteLog) -> None:
    settings = {
        name: log._database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "synchronous", "busy_timeout", "user_version")
    }
    assert settings == {
        "journal_mode": b"wal",
        "synchronous": 2,
        "busy_timeout": 5000,
        "user_version": 1,
    }


def test_an_append_is_one_immediate_transaction_that_checks_the_tail(log: SqliteLog) -> None:
    seen: list[str] = []
    log._database.set_trace_callback(seen.append)
    log.append("a/b", {})
    log._database.set_trace_callback(None)
    assert [statement.split()[0] for statement in seen] == ["BEGIN", "SELECT", "INSERT", "COMMIT"]
    assert seen[0] == "BEGIN IMMEDIATE"
    assert "max(seq)" in seen[1]


def test_each_row_is_the_line_of_its_event(log: SqliteLog, path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT seq, line FROM event ORDER BY seq").fetchall()
    assert rows == [(event.seq, event.line()) for event in log.events]


def test_of_two_writers_the_second_to_write_is_refused(log: SqliteLog, path: Path) -> None:
    with SqliteLog(path) as second:
        second.append("product/note", {"of": 2})
        with pytest.raises(LogConflictError) as caught:
            log.append("product/note", {"of": 1})
        assert str(caught.value) == (
            f"{path}: somebody else has written: the log ends with event 26, not with 25"
        )
        with pytest.raises(LogClosedError):
            log.append("product/note", {"of": 1})
        second.append("product/note", {"of": 2})
    assert [event.data for event in load_events(path)][-2:] == [{"of": 2}] * 2


def test_two_processes_that_write_at_once_leave_one_log(path: Path) -> None:
    code = (
        "import sys; from adapter_sdk.session import SqliteLog, SessionLogError\n"
        "log = SqliteLog(sys.argv[1])\n"
        "print('open', flush=True); sys.stdin.readline()\n"
        "try:\n"
        "    for n in range(200): log.append('product/note', {'of': sys.argv[2], 'n': n})\n"
        "except SessionLogError as error: print(type(error).__name__)\n"
        "print(len(log.events))\n"
    )
    SqliteLog(path).close()
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "ab"
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "open\n"
    said = [racer.communicate("go\n", timeout=60)[0].split() for racer in racers]
    assert sorted(len(words) for words in said) == [1, 2]  # one was refused, by its proper name
    assert {words[0] for words in said if len(words) == 2} == {"LogConflictError"}
    events = load_events(path)
    assert [event.seq for event in events] == list(range(len(events)))
    for name, words in zip("ab", said, strict=True):
        # Who was refused holds only what was acknowledged to it, or nothing of its own.
        own = [event.data["n"] for event in events if event.data["of"] == name]
        assert own == list(range(len(own)))
        assert len(own) <= int(words[-1])


def test_another_programs_lock_is_waited_for_and_then_named(log: SqliteLog, path: Path) -> None:
    log._database.execute("PRAGMA busy_timeout = 20")  # of 5,000 ms
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LogWriteError, match="database is locked"):
            log.append("a/b", {})
        other.execute("ROLLBACK")
    with SqliteLog(path) as again:
        assert len(again.events) == 26


# ---- foreign, damaged, full --------------------------------------------------------------


@pytest.mark.parametrize(
    ("statements", "error", "message"),
    [
        (["PRAGMA user_version = 2"], LogVersionError, ": version 2; this program reads 1"),
        (["PRAGMA application_id = 7"], LogVersionError, ": a database of another program"),
        (
            ["DELETE FROM event WHERE seq = 5"],
            LogDamagedError,
            ", row 6: event 6 comes after a gap, 5 is due",
        ),
        (
            ["DELETE FROM event WHERE seq = 0"],
            LogDamagedError,
            ", row 1: event 1 comes after a gap, 0 is due",
        ),
        (
            ["UPDATE event SET line = replace(line, '\"seq\":5', '\"seq\":4') WHERE seq = 5"],
            LogDamagedError,
            ", row 5: it holds event 4",
        ),
        (
            ["UPDATE event SET line = substr(line, 1, 20) WHERE seq = 5"],
            LogDamagedError,
            ", row 5: no JSON",
        ),
        (
            ["UPDATE event SET line = 7 WHERE seq = 5"],
            LogDamagedError,
            ", row 5: no JSON object",
        ),
        (
            ["UPDATE event SET line = cast(x'ff22' AS TEXT) WHERE seq = 5"],
            LogDamagedError,
            ", row 5: no JSON",
        ),
        (
            ["UPDATE event SET line = replace(line, 'request/header', 'step/end') WHERE seq = 3"],
            LogDamagedError,
            ", row 4: assistant/chunk outside a step",
        ),
        (["DROP TABLE event"], LogWriteError, ": no such table: event"),
    ],
)
def test_a_damaged_or_foreign_database_is_refused_by_its_row(
    path: Path, statements: list[str], error: type[Exception], message: str
) -> None:
    with SqliteLog(path) as log:
        Talk(log).whole_turn()
    alter(path, *statements)
    for opening in (SqliteLog, load_events):
        with pytest.raises(error) as caught:
            opening(path)
        assert str(caught.value) == f"{path}{message}"


def test_a_database_of_another_program_is_not_touched(path: Path) -> None:
    alter(path, "CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (1)")
    before = path.read_bytes()
    with pytest.raises(LogVersionError, match="a database of another program"):
        SqliteLog(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["log.db"]


def test_a_file_that_is_no_database_is_not_touched(path: Path) -> None:
    path.write_bytes(b"notes of somebody" * 100)
    for opening in (SqliteLog, load_events):
        with pytest.raises(LogDamagedError, match="file is not a database"):
            opening(path)
    assert path.read_bytes() == b"notes of somebody" * 100


def test_an_empty_file_becomes_a_log(path: Path) -> None:
    path.touch()
    assert list(load_events(path)) == []
    with SqliteLog(path) as log:
        assert log.append("a/b", {}).seq == 0


def test_a_full_disk_acknowledges_nothing_and_ends_the_log(path: Path, log: SqliteLog) -> None:
    stood = lines_of(log)
    (pages,) = log._database.execute("PRAGMA page_count").fetchone()
    log._database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LogWriteError) as caught:
        log.append("product/note", {"text": "x" * 100_000})
    assert str(caught.value) == f"{path}: database or disk is full"
    assert lines_of(log) == stood
    with pytest.raises(LogClosedError, match="open it again"):
        log.append("product/note", {})
    with SqliteLog(path) as again:
        assert lines_of(again) == stood
        again.append("product/note", {})


def test_a_read_only_database_acknowledges_nothing(path: Path, log: SqliteLog) -> None:
    log._database.execute("PRAGMA query_only = 1")
    with pytest.raises(LogWriteError, match="attempt to write a readonly database"):
        log.append("product/note", {})
    with SqliteLog(path) as again:
        assert len(again.events) == 26


def test_a_limit_of_the_operating_system_is_a_full_disk(path: Path) -> None:
    code = (
        "import resource, sys; from adapter_sdk.session import SqliteLog, LogWriteError\n"
        "log = SqliteLog(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "try:\n"
        "    while True: log.append('product/note', {'text': 'x' * 500})\n"
        "except LogWriteError: print(len(log.events))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    acknowledged = int(done.stdout)
    with SqliteLog(path) as log:
        assert len(log.events) == acknowledged > 5


@pytest.mark.parametrize("place", ["missing/log.db", ""])
def test_a_place_where_no_file_can_be_is_named(tmp_path: Path, place: str) -> None:
    with pytest.raises(LogWriteError, match="unable to open database file"):
        SqliteLog(tmp_path / place)


def test_a_file_system_without_a_write_ahead_log_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(
        "sqlite3.connect", lambda *_, **options: connect(":memory:", isolation_level=None)
    )
    with pytest.raises(LogWriteError, match="no write-ahead log is possible here"):
        SqliteLog(path)
