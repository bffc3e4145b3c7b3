"""Serve one case to any client, again and again: every round plays its script from the start.

A round is over with its script, or once nobody has used it for an idle limit. A connection that
is kept goes on with the script that it began with, which then begins anew.
"""

from __future__ import annotations

import contextlib
import secrets
import select
import shlex
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Final, Self

from adapter_sdk.testing import Exchange, FaultServer

from ._case import Case
from ._loopback_port import bound_port, url_of
from ._play import Setting, exchanges, request_id_names_needed

# What many servers call it, for cases that need a name: a client declares none here.
REQUEST_ID_HEADERS: Final = ("x-request-id", "request-id", "x-trace-id", "x-correlation-id")

# So often a kept connection gets the script; a new connection gets a new round anyway.
_ROUNDS_OF_A_CONNECTION: Final = 1000

# How long news may wait until it is told, in milliseconds.
_TICK_MS: Final = 20

_PATHS: Final = {"anthropic-messages": "/v1/messages", "openai-responses": "/responses"}
_PATH: Final = "/chat/completions"
_QUESTION: Final = '{"model":"any","stream":true,"messages":[{"role":"user","content":"Say hi."}]}'


class ServeError(Exception):
    """What cannot be served as it was asked for."""


def curl_line(case: Case, base_url: str) -> str:
    """Return a command that asks ``case`` once, as a shell takes it."""
    url = base_url + _PATHS.get(case.dialect, _PATH)
    question = (
        _QUESTION.replace('"messages"', '"input"') if url.endswith("responses") else _QUESTION
    )
    words = ["curl", "-iN", url, "-H", "content-type: application/json", "-d", question]
    return shlex.join(words)


class _Round(FaultServer):
    """A fault server that is handed its connections, for the port outlives the round."""

    def __init__(self, script: tuple[Exchange, ...], size: int) -> None:
        super().__init__(script)
        self._size = size
        self._clients: list[int] = []
        self._told: dict[int, int] = {}

    def take(self, sock: socket.socket, client: int) -> None:
        """Serve ``sock``, the connection of client number ``client``."""
        self._clients.append(client)
        self._accepted(sock)

    @property
    def is_in_use(self) -> bool:
        """Whether an answer is under way, or held, or its end not yet seen by the client."""
        return bool(self.wait_until_released(0.0))

    @property
    def is_spent(self) -> bool:
        """Whether the next request begins the script anew."""
        return bool(self.requests) and len(self.requests) % self._size == 0

    @property
    def played(self) -> int:
        """How often the script was begun."""
        return -(-len(self.requests) // self._size)

    def news(self) -> Iterator[str]:
        """Yield a line for every event since the last call."""
        for seen in self.connections:
            for number in range(self._told.get(seen.number, 0), len(seen.events)):
                event = seen.events[number]
                at_ms = (event.at_s - seen.events[0].at_s) * 1000
                yield f"client {self._clients[seen.number - 1]:<3} {at_ms:9.1f} ms  {event}"
                self._told[seen.number] = number + 1  # an interrupt before it: told once more


class CaseServer:
    """Serves ``case`` at one port. A context manager: leaving it closes every connection.

    Args:
        case: What is played.
        port: 0 takes a free one.
        idle_s: The client's idle limit in seconds, the unit of the case's pauses.
        tell: Hears one line for each thing that happens.

    Raises:
        PortError: On entering: the port cannot be had.
    """

    def __init__(
        self, case: Case, *, port: int, idle_s: float, tell: Callable[[str], None]
    ) -> None:
        self._case, self._port, self._idle_s, self._tell = case, port, idle_s, tell
        self._refuses = case.exchange[0].end == "refuse"
        self._rounds: list[_Round] = []
        self._over_rounds = 0
        self._over_requests = 0
        self._news_at = time.monotonic()
        self.clients = 0

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opened:
            listening = bound_port(self._port, listens=not self._refuses)
            self._socket = opened.enter_context(listening)
            self._elsewhere = opened.enter_context(FaultServer(()))
            opened.callback(self._close_rounds)
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()

    @property
    def base_url(self) -> str:
        """Where the case is served."""
        return url_of(self._socket)

    @property
    def requests(self) -> int:
        """How many requests came, over all connections."""
        return self._over_requests + sum(len(served.requests) for served in self._rounds)

    @property
    def requests_elsewhere(self) -> int:
        """How many requests followed the case to another origin."""
        return len(self._elsewhere.requests)

    def serve(self, times: int | None = None) -> None:
        """Play the case to whoever comes: ``times`` rounds, or until Ctrl-C.

        Raises:
            ServeError: ``times`` of a case that refuses connections: nobody can count them.
        """
        if self._refuses and times is not None:
            raise ServeError("nobody sees a refused connection to count it: leave --times out")
        poller = select.poll()
        if not self._refuses:
            poller.register(self._socket, select.POLLIN)
        while times is None or not self._has_played(times):
            if poller.poll(_TICK_MS):
                with contextlib.suppress(BlockingIOError, ConnectionAbortedError):  # left again
                    self._take(self._socket.accept()[0])
            self._tell_news()

    def _take(self, sock: socket.socket) -> None:
        current = self._rounds[-1] if self._rounds else None
        if current is None or current.is_spent or (current.requests and self._is_quiet()):
            current = _Round(self._script(), len(self._case.exchange))
            current.__enter__()
            self._rounds.append(current)
        self.clients += 1
        current.take(sock, self.clients)

    def _script(self) -> tuple[Exchange, ...]:
        setting = Setting(
            idle_s=self._idle_s,
            now=datetime.now(UTC),
            request_id_headers=REQUEST_ID_HEADERS[: max(1, request_id_names_needed(self._case))],
            other_origin=self._elsewhere.base_url,
            nonce=secrets.token_hex(6),
        )
        return exchanges(self._case, setting) * _ROUNDS_OF_A_CONNECTION

    def _is_quiet(self) -> bool:
        in_use = any(served.is_in_use for served in self._rounds)
        return not in_use and time.monotonic() - self._news_at >= self._idle_s

    def _has_played(self, times: int) -> bool:
        if self._over_rounds + sum(served.played for served in self._rounds) < times:
            return False
        closed = not any(served.wait_until_closed(0.0) for served in self._rounds)
        return self._is_quiet() or (closed and self._rounds[-1].is_spent)

    def _tell_news(self) -> None:
        for served in self._rounds:
            for line in served.news():
                self._news_at = time.monotonic()
                self._tell(line)
        for served in self._rounds[:-1]:
            if not served.wait_until_closed(0.0):
                self._close(served)

    def _close(self, served: _Round) -> None:
        self._over_rounds += served.played
        self._over_requests += len(served.requests)
        self._rounds.remove(served)
        served.__exit__(None, None, None)

    def _close_rounds(self) -> None:
        self._tell_news()
        for served in list(self._rounds):
            self._close(served)
