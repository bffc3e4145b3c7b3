"""The socket that listens, and the thread that accepts."""

from __future__ import annotations

import select
import socket
from threading import Thread
from typing import TYPE_CHECKING, Final

from ._wire import Signal

if TYPE_CHECKING:
    from collections.abc import Callable

_BACKLOG: Final = 128


class Listener:
    """Listens at a free port of ``host`` and hands accepted sockets to ``accepted``.

    Args:
        host: A loopback address, IPv4 or IPv6.
        accepted: Called on the accepting thread; it owns the socket.
        holds_port: Keep the port bound once ``close`` has ended listening, so that a
            connection is refused and no other process can take the port.
        listens: False binds the port and never listens.

    Raises:
        OSError: The address cannot be bound.

    """

    def __init__(
        self,
        host: str,
        accepted: Callable[[socket.socket], None],
        *,
        holds_port: bool,
        listens: bool,
    ) -> None:
        self._accepted = accepted
        self._closing = Signal()
        self._thread: Thread | None = None
        self._socket = _bound(host, 0)
        self.port: int = self._socket.getsockname()[1]
        self._placeholder = _bound(host, self.port) if holds_port and listens else None
        if listens:
            self._socket.listen(_BACKLOG)
            self._thread = Thread(target=self._accept, name="fault-server-accept", daemon=True)
            self._thread.start()

    def stop_listening(self) -> None:
        """Refuse connections from here on; connections that were accepted go on."""
        if self._thread is not None:
            self._closing.raise_()
            self._thread.join()
            self._thread = None

    def close(self) -> None:
        """Stop listening and free the port."""
        self.stop_listening()
        self._closing.close()
        self._socket.close()
        if self._placeholder is not None:
            self._placeholder.close()

    def _accept(self) -> None:
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        poller.register(self._closing, select.POLLIN)
        with self._socket:
            while True:
                if any(fd == self._closing.fileno() for fd, _ in poller.poll()):
                    return
                try:
                    sock, _ = self._socket.accept()
                except (BlockingIOError, ConnectionAbortedError):  # the peer has left again
                    continue
                self._accepted(sock)


def _bound(host: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        # Two sockets may share a port while neither listens, if both say so.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError:  # no such address, or no free port
        sock.close()
        raise
    sock.setblocking(False)
    return sock
