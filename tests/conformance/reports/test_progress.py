"""The bar is for the person at the terminal: it shows there, and nowhere else."""

from __future__ import annotations

import itertools
import os
import pty
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from conformance._progress import progress_bar
from conformance._result import Run


def everything(reader: int) -> bytes:
    read = b""
    try:
        while part := os.read(reader, 4096):
            read += part
    except BlockingIOError:  # a pseudo terminal that stays open has no end
        pass
    return read


@contextmanager
def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Put both streams on a pseudo terminal, and read at the end what it was sent."""
    reader, writer = pty.openpty()
    sent: list[str] = []
    with os.fdopen(writer, "w", encoding="utf-8", buffering=1) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        monkeypatch.setattr(sys, "stderr", stream)
        yield sent
        stream.flush()
        os.set_blocking(reader, False)
        sent.append(everything(reader).decode())
    monkeypatch.undo()
    os.close(reader)


@pytest.mark.parametrize(
    ("terminal", "seconds_between", "shown"),
    [
        pytest.param("xterm-256color", 1.0, True, id="long-run"),
        pytest.param("xterm-256color", 0.0, False, id="short-run"),
        pytest.param("dumb", 1.0, False, id="terminal-that-cannot"),
    ],
)
def test_on_a_terminal_a_long_run_has_a_bar(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    terminal: str,
    seconds_between: float,
    shown: bool,
) -> None:
    monkeypatch.setenv("TERM", terminal)
    with a_terminal(monkeypatch) as sent:
        moments = itertools.count(0.0, seconds_between)
        monkeypatch.setattr(time, "monotonic", lambda: next(moments))
        with progress_bar(len(run.results)) as advance:
            for result in run.results:
                advance(result)
                print(f"judged {result.check.id}")

    told = "".join(sent)
    for result in run.results:
        assert f"judged {result.check.id}" in told
    assert ("8/8" in told) is shown
    assert ("checks, 4 bad" in told) is shown
    assert ("\x1b[?25l" in told) is shown
    # The cursor that was hidden comes back.
    assert told.count("\x1b[?25l") == told.count("\x1b[?25h")


@pytest.mark.parametrize("piped", ["stdout", "stderr"])
def test_where_a_stream_is_piped_nothing_is_drawn_and_rich_is_not_loaded(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], piped: str
) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(getattr(sys, name), "isatty", lambda name=name: name != piped)
    monkeypatch.setitem(sys.modules, "rich.console", None)

    with progress_bar(len(run.results)) as advance:
        for result in run.results:
            advance(result)

    assert capsys.readouterr() == ("", "")
