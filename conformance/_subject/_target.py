"""``exec:COMMAND``: judge an adapter in any language. The protocol is in ``SUBJECT.md``."""

from __future__ import annotations

import atexit
import os
import shlex
import time
import weakref
from collections.abc import Mapping, Sequence
from threading import RLock
from typing import Any, Final

from .._target import COMMAND_PREFIX
from ._adapter import SubjectAdapter
from ._process import ENDING_LIMIT_S, HELLO_LIMIT_S, SubjectError, SubjectProcess
from ._values import declaration_of

PROTOCOL: Final = 1

# What no line on a pipe can show, by requirement.
UNASKED: Final[Mapping[str, str]] = {
    "native-cancellation": "cancels a Python task, which a subject behind a pipe does not run in",
    "attribution": "asks for the name of this SDK, which a subject is not made with",
}


class _Pool:
    """Subjects that wait for their next adapter: a program starts slower than a call ends."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        # A finalizer that gives a subject back may run wherever this thread is.
        self._lock = RLock()
        self._idle: list[SubjectProcess] = []
        self._running: set[SubjectProcess] = set()
        atexit.register(self.end_all)

    def take(self) -> SubjectProcess:
        """Return a subject that has said hello, in this process's own time zone.

        Raises:
            SubjectError: It cannot be started, or one has ended between two adapters.
        """
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is None:
            return self._start()
        if process.has_ended:
            how = process.how_it_ended()
            self.give_back(process, healthy=False)
            raise SubjectError(f"between two adapters {how}")
        if process.zone != os.environ.get("TZ"):
            self.give_back(process, healthy=False)
            return self._start()
        return process

    def greeting(self) -> dict[str, Any]:
        """Start a first subject and return what it says of itself."""
        process, hello = self._started()
        self.give_back(process, healthy=True)
        return hello

    def give_back(self, process: SubjectProcess, *, healthy: bool) -> None:
        """Keep a subject for the next adapter, or end it."""
        with self._lock:
            if healthy:
                self._idle.append(process)
                return
            self._running.discard(process)
        process.end(within_s=0.0)

    def ends_with_its_input(self) -> bool:
        """Whether a subject exits when its standard input has ended.

        Raises:
            SubjectError: None can be had.
        """
        process = self.take()
        with self._lock:
            self._running.discard(process)
        return process.end(within_s=ENDING_LIMIT_S)

    def end_all(self) -> None:
        """End every subject."""
        with self._lock:
            running, self._running, self._idle = self._running, set(), []
        until = time.monotonic() + ENDING_LIMIT_S
        for process in running:
            process.hang_up()
        for process in running:
            process.end(within_s=until - time.monotonic())

    def _start(self) -> SubjectProcess:
        return self._started()[0]

    def _started(self) -> tuple[SubjectProcess, dict[str, Any]]:
        process = SubjectProcess(self._command)
        with self._lock:
            self._running.add(process)
        try:
            process.send({"do": "hello", "protocol": PROTOCOL})
            hello = process.answer_within(HELLO_LIMIT_S)
            if hello.get("protocol") != PROTOCOL:
                raise SubjectError(f"speaks protocol {hello.get('protocol')!r}, not {PROTOCOL}")
        except SubjectError as error:
            self.give_back(process, healthy=False)
            raise SubjectError(f"hello: {error}") from error
        return process, hello


class SubjectFactory:
    """Makes adapters that are calls of a subject.

    Attributes:
        declaration: What the subject says of itself.
        unasked: Requirements that are not applicable, each with its reason.

    Args:
        name: ``exec:`` and a command, as a shell would read it.

    Raises:
        SubjectError: It cannot be started or greets in another way; one line.
    """

    unasked = UNASKED

    def __init__(self, name: str) -> None:
        try:
            command = shlex.split(name.removeprefix(COMMAND_PREFIX))
        except ValueError as error:  # a quotation that is not closed
            raise SubjectError(f"the command cannot be read: {error}") from error
        if not command:
            raise SubjectError(
                "write the command behind exec:, for example 'exec:node subject.mjs'"
            )
        self._pool = _Pool(command)
        self.declaration = declaration_of(self._pool.greeting().get("declaration"))

    def __call__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        idle_timeout: float,
        progress_timeout: float | None = None,
        profile: str | None = None,
    ) -> SubjectAdapter:
        """Return an adapter; a subject that cannot be had is told by its calls."""
        settings = {
            "baseUrl": base_url,
            "apiKey": api_key,
            "idleTimeoutS": idle_timeout,
            "progressTimeoutS": progress_timeout,
            "profile": profile,
        }
        try:
            process = self._pool.take()
        except SubjectError as error:
            return SubjectAdapter(error, settings)
        adapter = SubjectAdapter(process, settings)
        # One that nobody closes takes its subject with it.
        left = weakref.finalize(adapter, self._pool.give_back, process, healthy=False)

        def give_back(healthy: bool) -> None:
            left.detach()
            self._pool.give_back(process, healthy=healthy)

        adapter.give_back = give_back
        return adapter

    def ends_with_its_input(self) -> bool:
        """See ``_Pool``; it starts a program, or takes one that waits."""
        return self._pool.ends_with_its_input()

    def close(self) -> None:
        """End every subject; the interpreter does so at its end."""
        self._pool.end_all()
