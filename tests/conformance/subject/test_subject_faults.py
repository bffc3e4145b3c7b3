"""A subject that breaks the protocol: a clear line, the right exit code, nothing left behind."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Final

import click
import pytest

import conformance._lanes as lanes
import conformance._subject._adapter as subject_adapter
from conformance.cli import main

BROKEN: Final = Path(__file__).with_name("broken_subject.py")
CHECK: Final = "code_auth/bare_401"
# Processes end within a second; a machine that is busy with other things takes longer.
LIMIT_S: Final = 60


def broken(way: str, *more: str) -> str:
    return " ".join(["exec:" + sys.executable, str(BROKEN), way, *more])


@pytest.fixture(autouse=True)
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "PATIENCE_S", 0.2)
    monkeypatch.setattr(subject_adapter, "CLOSING_LIMIT_S", 0.5)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as leaving:
        main(list(arguments))
    captured = capsys.readouterr()
    return leaving.value.code, " ".join(click.unstyle(captured.out).split()), captured.err


@pytest.mark.parametrize(
    ("command", "says"),
    [
        pytest.param("exec:", "write the command behind exec:", id="no-command"),
        pytest.param("exec:'", "the command cannot be read", id="an-open-quotation"),
        pytest.param(
            "exec:/no/such/program", "/no/such/program cannot be started: No such", id="no-program"
        ),
        pytest.param(broken("ends-at-once"), "hello: ended with exit code 7", id="ends-at-once"),
        pytest.param(
            broken("greets-in-prose"),
            "hello: printed a line that is no JSON object: 'ready'",
            id="prose",
        ),
        pytest.param(
            broken("speaks-another-protocol"), "speaks protocol 2, not 1", id="another-protocol"
        ),
        pytest.param(
            broken("declares-what-nobody-knows"), "no capability telepathy", id="a-capability"
        ),
        pytest.param(
            broken("declares-nothing"), "declaration: an object, got 'None'", id="no-declaration"
        ),
    ],
)
def test_a_subject_that_cannot_be_judged_is_one_line_and_exit_4(
    capsys: pytest.CaptureFixture[str], command: str, says: str
) -> None:
    code, out, err = run(capsys, command, CHECK)

    assert (code, out) == (4, "")
    assert says in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("way", "says"),
    [
        pytest.param("hangs", "no end within", id="hangs"),
        pytest.param(
            "crashes",
            "subject.Error: ended with exit code 1: 'RuntimeError: the engine is on fire'",
            id="crashes",
        ),
        pytest.param(
            "prints-garbage",
            "subject.Error: printed a line that is no JSON object: 'debug: go",
            id="garbage",
        ),
        pytest.param(
            "prints-an-array", "printed a line that is no JSON object: '[1]'", id="an-array"
        ),
        pytest.param(
            "answers-another-call", "subject.Error: answered what was not asked", id="another-call"
        ),
        pytest.param(
            "sends-no-chunk-that-is-known", "chunk: there is no type 'telegram'", id="chunk-type"
        ),
        pytest.param(
            "sends-a-number-for-a-text",
            "chunk text-delta: text: a string, got int 5",
            id="a-number-for-a-text",
        ),
        pytest.param("raises", "the adapter raised \"KeyError: 'choices'\"", id="raises"),
        pytest.param(
            "answers-nothing-of-use", "answered without chunk, end or raised", id="no-answer"
        ),
        pytest.param("never-closes", "subject.Error: close: no answer", id="never-closes"),
    ],
)
def test_a_subject_that_breaks_the_protocol_fails_its_check_with_exit_1(
    capsys: pytest.CaptureFixture[str], way: str, says: str
) -> None:
    code, out, err = run(capsys, broken(way), CHECK)

    assert (code, err) == (1, "")
    assert says in out
    assert "NOT CONFORMANT" in out


def test_a_second_answer_to_one_question_fails_the_check(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, broken("answers-twice"), CHECK)

    assert code == 1
    # Seen at once, or taken for the answer to the question that has just gone out.
    assert "answered what was not asked" in out or "terminal finishes: expected 1, got 2" in out


def test_a_crash_costs_its_own_check_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = run(capsys, broken("crashes-once", str(tmp_path / "mark")), "code_auth", "-v")

    assert code == 1
    # The other statuses of these checks are what it answers always.
    assert out.count("PASS code_auth/") == 3
    assert out.count("FAIL code_auth/") == 2  # in the list, and in its report


def test_a_subject_that_does_not_start_again_is_its_own_failure(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    way = broken("ends-at-its-second-start", str(tmp_path / "mark"))
    code, out, _ = run(capsys, way, "code_auth")

    assert code == 1
    assert "hello: ended with exit code 5" in out


@pytest.mark.parametrize("way", ["stays-after-the-end", "starts-a-child"])
def test_no_process_is_left_behind(way: str, tmp_path: Path) -> None:
    note = tmp_path / "processes"
    kit = "from conformance.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", kit, broken(way, str(note)), CHECK],
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )

    assert done.stderr == ""
    assert done.returncode == 0
    left = [int(process) for process in note.read_text(encoding="utf-8").split()]
    assert len(left) == 2
    assert [process for process in left if is_running(process)] == []


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("raises", "✓ the subject ends with its standard input"),
        ("stays-after-the-end", "! the subject stays when its standard input has ended exit when"),
    ],
)
def test_the_doctor_tells_whether_a_subject_ends_with_its_input(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, way: str, says: str
) -> None:
    _, out, _ = run(capsys, "doctor", broken(way, str(tmp_path / "processes")))

    assert says in out


def test_a_subject_that_hangs_ends_with_a_kit_that_is_killed(tmp_path: Path) -> None:
    pipe = tmp_path / "held-by-the-subject-and-its-child"
    os.mkfifo(pipe)
    kit = "from conformance.cli import main; main()"
    command = broken("outlives-the-kit", str(pipe))
    with (
        os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as held,
        subprocess.Popen(
            [sys.executable, "-c", kit, command, CHECK],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running,
    ):
        said = next_of(held)
        running.kill()

        assert (said, next_of(held)) == (b"begun", b"")


def next_of(held: io.FileIO) -> bytes | None:
    """Return what comes next of a pipe, nothing at its end; None where it is held too long."""
    return held.read(100) if select.select([held], [], [], LIMIT_S)[0] else None


def is_running(process: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        os.kill(process, 0)
        status = Path(f"/proc/{process}/stat")
        return not status.exists() or status.read_text(encoding="utf-8").split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
