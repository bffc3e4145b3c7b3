"""One connection's socket, without a call that can block for ever.

Every wait watches three things at once: the peer, the time, and the server's stop
signal. So a pause ends when the peer leaves, and a write to a peer that has stopped
reading ends when the server stops.

A peer that sends FIN has left: no HTTP client of this kind half-closes.
"""

from __future__ import annotations

import math
import os
import select
import socket
import struct
from time import monotonic
from typing import Final, Literal, NoReturn

from ._peer_queue import bytes_not_acknowledged, peer_queue

_READ_BYTES: Final = 1 << 16
# l_onoff 1, l_linger 0: close sends RST at once (socket(7), SO_LINGER).
_RESET_ON_CLOSE: Final = struct.pack("ii", 1, 0)
# RST drops what is not yet sent, and some clients drop what they have not yet read.
# So a reset waits for the bytes before it: long for arrival, short for reading, for a
# consumer that thinks must not postpone the fault. Polled, there is nothing to wait on.
_ARRIVAL_LIMIT_S: Final = 2.0
_READING_LIMIT_S: Final = 0.05
_POLL_S: Final = 0.001


class PeerLeftError(Exception):
    """The peer ended the connection."""

    def __init__(self, how: Literal["peer-closed", "peer-reset"]) -> None:
        super().__init__(how)
        self.words = f"the {how.replace('-', ' ')}"
        self.how: Literal["peer-closed", "peer-reset"] = how


class ServerStoppedError(Exception):
    """The server was told to stop."""


class Signal:
    """A flag that threads can wait for together with a socket; never lowered."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()

    def fileno(self) -> int:
        """Readable from ``raise_`` on."""
        return self._read_end

    def raise_(self) -> None:
        """Wake everybody who waits, and whoever comes later."""
        os.write(self._write_end, b"!")

    def close(self) -> None:
        """Free both ends, once nobody waits any more."""
        os.close(self._read_end)
        os.close(self._write_end)


class Wire:
    """Owns ``sock``; used by one thread. ``close`` is the owner's last call."""

    def __init__(self, sock: socket.socket, stop: Signal) -> None:
        self.sent_bytes = 0
        self.inbox = bytearray()
        self._sock = sock
        self._stop_fd = stop.fileno()
        self._readable = select.poll()
        self._readable.register(sock, select.POLLIN)
        self._readable.register(self._stop_fd, select.POLLIN)
        self._either = select.poll()
        self._either.register(sock, select.POLLIN | select.POLLOUT)
        self._either.register(self._stop_fd, select.POLLIN)
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def receive(self) -> bytes:
        """Return what has come, at least one byte, waiting as long as it takes."""
        while not self.inbox:
            if self._watch(self._readable, None):
                self._read()
        data = bytes(self.inbox)
        self.inbox.clear()
        return data

    def write(self, data: bytes) -> None:
        """Write all of ``data``, in one call where the kernel takes it."""
        rest = memoryview(data)
        while rest:
            ready = self._watch(self._either, None)
            if ready & ~select.POLLOUT:
                self._read()
            if ready & select.POLLOUT:
                sent = self._send(rest)
                self.sent_bytes += sent
                rest = rest[sent:]

    def hold(self) -> NoReturn:
        """Send nothing until the peer leaves."""
        while True:
            if self._watch(self._readable, None):
                self._read()

    def pause(self, seconds: float) -> None:
        """Send nothing for ``seconds``."""
        end = monotonic() + seconds
        while (left := end - monotonic()) > 0:
            if self._watch(self._readable, math.ceil(left * 1000)):
                self._read()

    def finish(self) -> None:
        """Send FIN and keep reading possible, so that the peer's end is seen.

        ``close`` with unread bytes would send RST in place of FIN.
        """
        try:
            self._sock.shutdown(socket.SHUT_WR)
        except OSError as error:  # ENOTCONN: the peer's RST came first
            raise PeerLeftError("peer-reset") from error

    def reset(self) -> None:
        """Let the bytes before arrive, then send RST. The socket is closed after it."""
        self._let_arrive()
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._sock.close()

    def close(self) -> None:
        """Free the socket; again is nothing."""
        self._sock.close()

    def _let_arrive(self) -> None:
        start = monotonic()
        while monotonic() - start < _ARRIVAL_LIMIT_S:
            queue = peer_queue(self._sock, self.sent_bytes)
            if queue is None:
                break
            if queue.arrived and (not queue.waiting or monotonic() - start > _READING_LIMIT_S):
                return
            self.pause(_POLL_S)
        while monotonic() - start < _ARRIVAL_LIMIT_S and bytes_not_acknowledged(self._sock):
            self.pause(_POLL_S)
        self.pause(_POLL_S)

    def _watch(self, poller: select.poll, timeout_ms: int | None) -> int:
        ready = 0
        for fd, events in poller.poll(timeout_ms):
            if fd == self._stop_fd:
                raise ServerStoppedError
            ready = events
        return ready

    def _read(self) -> None:
        try:
            data = self._sock.recv(_READ_BYTES)
        except BlockingIOError:  # the bytes that woke us failed their checksum
            return
        except OSError as error:  # ECONNRESET; ETIMEDOUT and EPIPE where RST got lost
            raise PeerLeftError("peer-reset") from error
        if not data:
            raise PeerLeftError("peer-closed")
        self.inbox += data

    def _send(self, data: memoryview) -> int:
        try:
            return self._sock.send(data)
        except BlockingIOError:  # another process emptied the machine's buffers meanwhile
            return 0
        except OSError as error:  # ECONNRESET, EPIPE: RST came between the poll and here
            raise PeerLeftError("peer-reset") from error
