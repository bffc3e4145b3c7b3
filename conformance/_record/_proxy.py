"""A recording reverse proxy on loopback: what passes is forwarded first and kept beside.

A thread for each client. Each client has a connection of its own to the upstream, so that what
ends one ends the other, in the same way.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable
from threading import Lock, Thread
from types import TracebackType
from typing import Final, Self

from .._loopback_port import bound_port, url_of
from ._conversation import Conversation
from ._exchange import Watched, kept_of
from ._socket import Side, Stop
from ._store import Store, StoreError
from ._upstream import Upstream

# Whoever waits watches the stop signal; only a connection that is being opened does not.
_STOP_LIMIT_S: Final = 5.0
# How soon a number of exchanges is seen to be reached.
_TICK_MS: Final = 20


class Recorder:
    """Records what passes between clients and ``upstream``.

    A context manager: it listens from ``__enter__`` on; ``__exit__`` ends every connection and
    keeps what came of every exchange until then.

    Args:
        upstream: Where requests go.
        store: Where recordings go.
        port: 0 takes a free one.
        tell: Hears a line for each exchange, from any thread.

    Raises:
        PortError: On entering: the port cannot be had.
    """

    def __init__(
        self, upstream: Upstream, store: Store, *, port: int, tell: Callable[[str], None]
    ) -> None:
        self._upstream, self._store, self._port, self._tell = upstream, store, port, tell
        self._lock = Lock()
        self._threads: list[Thread] = []
        self.recorded = 0
        self.damaged = 0
        self.lost = 0

    def __enter__(self) -> Self:
        self._socket = bound_port(self._port)
        self._stop = Stop()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._socket.close()
        deadline = time.monotonic() + _STOP_LIMIT_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if not any(thread.is_alive() for thread in self._threads):
            self._stop.close()

    @property
    def base_url(self) -> str:
        """Where clients go."""
        return url_of(self._socket)

    def serve(self, times: int | None = None) -> None:
        """Accept clients until ``times`` exchanges are kept, or until ``stop``, or Ctrl-C."""
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        poller.register(self._stop, select.POLLIN)
        while times is None or self.recorded + self.damaged < times:
            ready = {fd for fd, _ in poller.poll(_TICK_MS)}
            if self._stop.fileno() in ready:
                return
            if ready:
                with contextlib.suppress(BlockingIOError, ConnectionAbortedError):  # left again
                    self._begin(self._socket.accept()[0])

    def stop(self) -> None:
        """End every connection; what came of each exchange is kept."""
        self._stop.raise_()

    def _begin(self, sock: socket.socket) -> None:
        conversation = Conversation(
            Side(sock, self._stop), self._upstream, self._stop, keep=self._keep, tell=self._tell
        )
        thread = Thread(target=conversation.run, name="recorder-client", daemon=True)
        self._threads = [running for running in self._threads if running.is_alive()]
        self._threads.append(thread)
        thread.start()

    def _keep(self, seen: Watched) -> None:
        kept = kept_of(seen, self._upstream, self._store.server)
        try:
            name = self._store.write(kept, seen.answer.status)
        except StoreError as error:
            with self._lock:
                self.lost += 1
            self._tell(f"lost: {error}")
            return
        with self._lock:
            self.recorded += not kept.damage
            self.damaged += bool(kept.damage)
        size = sum(len(data) for _, data in seen.reads)
        end_s = seen.ended_at - seen.sent_at
        told = f"{len(seen.reads)} reads, {size:,} bytes, {seen.ending} after {end_s:.2f} s"
        aside = f"; no recording can hold it: {kept.damage}" if kept.damage else ""
        self._tell(f"{name}  {told}{aside}")
