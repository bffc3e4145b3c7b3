"""A subject: another program that is judged over its standard streams, one JSON object a line."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import anyio

from .._judge import shown
from ._guard import Guard

# A program starts in a tenth of a second, on a busy machine in some.
HELLO_LIMIT_S: Final = 20.0

# A call's request is a few kilobytes: a subject that leaves so much unread for so long is stuck.
WRITING_LIMIT_S: Final = 5.0

# What a program may take to end once its standard input has ended.
ENDING_LIMIT_S: Final = 1.0

# The longest line: an event of the adapter's own limit, escaped.
LONGEST_LINE_BYTES: Final = 128 << 20

_READ_BYTES: Final = 1 << 16
_SHOWN_ERROR_BYTES: Final = 2000

# A key or an address of this machine's owner is none of the subject's business, and a proxy
# would come between the two.
_HIDDEN: Final = re.compile(r".*_(?:API_KEY|BASE_URL|PROXY)", re.IGNORECASE)


class SubjectError(Exception):
    """What is wrong with a subject, in one line, the most telling words first."""

    # Reports show an exception's name and text on one line, which has room for a short name.
    __module__, __qualname__ = "subject", "Error"


class SubjectProcess:
    """One running subject. Of one event loop at a time; nothing here is bound to a loop.

    Args:
        command: Program and arguments.

    Raises:
        SubjectError: It cannot be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.zone = os.environ.get("TZ")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - why: closed in `end`
        self._errors_read = 0
        self._buffer = bytearray()
        self._lines: deque[bytes] = deque()
        self._is_over = False
        environment = {k: v for k, v in os.environ.items() if not _HIDDEN.fullmatch(k)}
        try:
            self._popen = subprocess.Popen(  # noqa: S603 - why: the person at the keyboard named it
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=environment,
                start_new_session=True,  # so that the programs that it starts end with it
            )
        except OSError as error:
            self._errors.close()
            raise SubjectError(f"{command[0]} cannot be started: {error.strerror}") from error
        self._guard = Guard(self._popen.pid)
        assert self._popen.stdin is not None  # noqa: S101 - why: both are pipes, see above
        assert self._popen.stdout is not None  # noqa: S101 - why: the same
        self._stdin, self._stdout = self._popen.stdin.fileno(), self._popen.stdout.fileno()
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)

    # ---- talking -------------------------------------------------------------------------

    def send(self, message: dict[str, Any]) -> None:
        """Write one line.

        Raises:
            SubjectError: It has ended, or does not read.
        """
        line = memoryview(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")
        until = time.monotonic() + WRITING_LIMIT_S
        while line:
            try:
                line = line[os.write(self._stdin, line) :]
            except BlockingIOError:
                if not _ready(self._stdin, selectors.EVENT_WRITE, until - time.monotonic()):
                    raise SubjectError("does not read its standard input") from None
            except OSError as error:  # its end of the pipe is closed
                raise SubjectError(self.how_it_ended()) from error

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield what has come, without waiting.

        Raises:
            SubjectError: Its output has ended, or holds a line that is no answer.
        """
        ended = self._read()
        while self._lines:
            yield _answer(self._lines.popleft())
        if ended:
            raise SubjectError(self.how_it_ended())

    async def wait(self) -> None:
        """Wait until there may be an answer; cancelled as its loop does it."""
        if not self._lines:
            await anyio.wait_readable(self._stdout)

    def answer_within(self, limit_s: float) -> dict[str, Any]:
        """Return the next answer, waiting outside any event loop.

        Raises:
            SubjectError: None came in time, or see ``answers``.
        """
        until = time.monotonic() + limit_s
        while True:
            for answer in self.answers():
                return answer
            if not _ready(self._stdout, selectors.EVENT_READ, until - time.monotonic()):
                raise SubjectError(f"no answer within {limit_s:g} s")

    def _read(self) -> bool:
        """Take what is in the pipe; return whether it has ended."""
        while True:
            try:
                data = os.read(self._stdout, _READ_BYTES)
            except BlockingIOError:
                return False
            if not data:
                return True
            self._buffer += data
            if b"\n" in data:
                *lines, rest = bytes(self._buffer).split(b"\n")
                self._lines += lines
                self._buffer = bytearray(rest)
            elif len(self._buffer) > LONGEST_LINE_BYTES:
                raise SubjectError(f"printed a line of more than {LONGEST_LINE_BYTES >> 20} MiB")

    # ---- ending --------------------------------------------------------------------------

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended by itself."""
        return self._popen.poll() is not None

    def how_it_ended(self) -> str:
        """Return how the program ended, with the last line of its standard error."""
        try:
            code = self._popen.wait(ENDING_LIMIT_S)
        except subprocess.TimeoutExpired:
            return f"closed its standard output and still runs{self._last_words()}"
        if code < 0:
            how = f"ended by the signal {signal.Signals(-code).name}"
        else:
            how = f"ended with exit code {code}"
        return how + self._last_words()

    def new_error_lines(self) -> list[str]:
        """Return the lines on standard error since the last look."""
        self._errors.seek(self._errors_read)
        data = self._errors.read()
        self._errors_read += len(data)
        return data.decode("utf-8", "replace").splitlines()

    def _last_words(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _SHOWN_ERROR_BYTES))
        lines = self._errors.read().decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        # The line with the error stands before its stack in some languages, behind it in others.
        telling = [line for line in said if re.match(r"[\w.]*(?:Error|Exception)\b", line)]
        last = (telling or said)[-1:]
        return f": {shown(last[0])}" if last else ""

    def hang_up(self) -> None:
        """End its standard streams, whereupon it should exit."""
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # the program is gone
                    pipe.close()

    def end(self, *, within_s: float) -> bool:
        """End the program and all that it started, and wait until it is gone.

        Args:
            within_s: What it may take to end by itself, in seconds.

        Returns:
            Whether it has ended by itself.
        """
        if self._is_over:
            return True
        self._is_over = True
        self.hang_up()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(max(0.0, within_s))
        by_itself = self._popen.poll() is not None
        self._guard.dismiss()
        # Also where it has ended: what it started may still run in its group.
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        self._errors.close()
        return by_itself


def _answer(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or nested without an end
        answer = None
    if not isinstance(answer, dict):
        said = shown(line.decode("utf-8", "replace"))
        raise SubjectError(f"printed a line that is no JSON object: {said}")
    return answer


def _ready(fd: int, event: int, within_s: float) -> bool:
    register: Callable[..., object]
    with selectors.DefaultSelector() as selector:
        register = selector.register
        register(fd, event)
        return bool(selector.select(max(0.0, within_s)))
