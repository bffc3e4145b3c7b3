"""Kill -9 between any two writes: what was acknowledged is there, what is half written is cut."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import pytest

from adapter_sdk.session import derive_messages, load_events, open_log, progress_of, recover

from .talking import TALKED

PROGRAM: Final = Path(__file__).with_name("appending.py")
KILLS: Final = 100  # of each backend; the two make 200 points
KILLS_OF_ONE_LOG: Final = 10
# A process is killed after so many acknowledged events at most: more shows nothing new.
MOST_EVENTS: Final = 30


@pytest.fixture
def program() -> Iterator[tuple[IO[str], IO[str]]]:
    """Start the program; yield its input and its output."""
    with subprocess.Popen(
        [sys.executable, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdin, process.stdout


def killed_after(program: tuple[IO[str], IO[str]], path: Path, events: int) -> tuple[int, int]:
    """Let a process append, kill it once it has acknowledged so many events.

    Returns:
        How many events the log held when the process had opened it, and how many it acknowledged.
    """
    commands, said = program
    print(path, file=commands, flush=True)
    pid, stood = map(int, said.readline().split())
    for _ in range(events):
        said.readline()
    os.kill(pid, signal.SIGKILL)
    acknowledged = events
    # It went on until the signal came: what stands in the pipe was acknowledged too.
    while (line := said.readline()) != "dead\n":
        assert line, "the program has ended by itself"
        acknowledged += 1
    return stood, acknowledged


def kill_again_and_again(
    program: tuple[IO[str], IO[str]], path: Path, randomly: random.Random
) -> None:
    known: list[str] = []
    for _ in range(KILLS_OF_ONE_LOG):
        stood, acknowledged = killed_after(program, path, randomly.randrange(MOST_EVENTS))
        lines = [event.line() for event in load_events(path)]
        # The process had recovered the log, and may have stored one that it could not report.
        assert stood >= len(known)
        assert len(lines) - stood - acknowledged in (0, 1)
        assert lines[: len(known)] == known
        with open_log(path) as log:
            assert [event.line() for event in log.events] == lines
            recover(log)
            assert not progress_of(log.events).turn_open
            known = [event.line() for event in log.events]
    assert len(known) > 5 * KILLS_OF_ONE_LOG
    assert derive_messages(load_events(path))[0] == TALKED[0]


@pytest.mark.parametrize("name", ["log.jsonl", "log.db"])
def test_what_was_acknowledged_is_there_after_kill_9(
    program: tuple[IO[str], IO[str]], name: str, tmp_path: Path
) -> None:
    randomly = random.Random(name)
    for point in range(0, KILLS, KILLS_OF_ONE_LOG):
        kill_again_and_again(program, tmp_path / f"{point}-{name}", randomly)
