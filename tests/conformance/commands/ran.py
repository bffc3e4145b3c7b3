"""Run the command: in this process for what it prints, in one of its own for how it ends."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import IO, Final

import click
import pytest

from conformance.cli import main

_PATIENCE_S: Final = 30.0
_COMMAND: Final = (sys.executable, "-c", "from conformance.cli import main; main()")


class Ran:
    """What one run of the command printed, and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        with pytest.raises(SystemExit) as leaving:
            main(list(arguments))
        self.exit_code = leaving.value.code
        captured = capsys.readouterr()
        self.out, self.err = click.unstyle(captured.out), click.unstyle(captured.err)

    @property
    def is_one_line(self) -> bool:
        """Whether a mistake was told as it should be."""
        return len(self.err.splitlines()) == 1 and self.err.startswith("dsh-conformance: ")


class Running:
    """The command in a process of its own, which is told to stop."""

    def __init__(self, process: subprocess.Popen[str], errors: IO[str]) -> None:
        self._process = process
        self._errors = errors
        self._lines: list[str] = []

    def wait_for(self, beginning: str) -> str:
        """Return the rest of the first line that begins so."""
        for line in self._read():
            if line.strip().startswith(beginning):
                return line.strip().removeprefix(beginning).strip()
        raise AssertionError(f"ended before {beginning!r}: {self._lines}")

    def end(self, signal_number: int | None) -> tuple[int, str, str]:
        """Stop it, or wait for its own end; return its exit code and all that it printed."""
        if signal_number is not None:
            self._process.send_signal(signal_number)
        for _ in self._read():
            pass
        code = self._process.wait(_PATIENCE_S)
        self._errors.seek(0)
        return code, "".join(self._lines), self._errors.read()

    def _read(self) -> Iterator[str]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.append(line)
            yield line


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Running]:
    """Start the command in ``folder``; it is gone behind the block."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [*_COMMAND, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        # Reading has no limit of its own; a command that never ends is ended here.
        guard = Timer(_PATIENCE_S, process.kill)
        guard.start()
        try:
            yield Running(process, errors)
        finally:
            guard.cancel()
            process.kill()
